"""Classifiers' outputs turned into expected gains: how each calibration is fitted."""
