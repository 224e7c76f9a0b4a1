"""Model files of other tools, read as scorers without importing the tool."""
