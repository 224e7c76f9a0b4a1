"""Pages: one self-contained HTML file, with one look for all of them."""
