"""How papers are reproduced: experiments, sources of data, claims, the runner and its results."""
