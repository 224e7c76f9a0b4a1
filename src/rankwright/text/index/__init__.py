"""An inverted index with positions: segments, manifest, building and merging."""
