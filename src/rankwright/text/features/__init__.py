"""Features of documents for queries."""
