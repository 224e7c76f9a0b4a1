"""Readers of documents, judgements and runs: one file per format."""
