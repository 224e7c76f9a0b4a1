"""`rankwright features`."""
