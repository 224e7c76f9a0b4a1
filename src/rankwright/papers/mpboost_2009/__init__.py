"""Magnitude-preserving boosting (Zhu et al., CIKM 2009)."""
