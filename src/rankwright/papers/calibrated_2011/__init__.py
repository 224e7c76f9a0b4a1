"""Diverse calibration of AdaBoost (Busa-Fekete, Kegl, Elteto & Szarvas, ECML 2011)."""
