"""Calibration: the scores that a classifier gives each class become one expected gain between 0 and 1."""
