"""A local page to judge documents with; needs the extra `serve`, and is imported when it is used."""
