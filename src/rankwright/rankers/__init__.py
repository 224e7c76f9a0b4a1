"""The methods of the papers, one file each; `rankwright/__init__.pyi` lists them."""
