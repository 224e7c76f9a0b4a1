"""Readers of click logs, whatever the format; what cannot be used is counted and said."""
