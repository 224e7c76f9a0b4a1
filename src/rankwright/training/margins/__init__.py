"""Solvers for margin problems of linear models: they minimise 1/2 |w|^2 + C risk(w)."""
