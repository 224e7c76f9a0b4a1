"""Classifiers' outputs turned into expected gains: how each calibration is fitted."""

from rankwright.calibration.fitting import CALIBRATIONS, CalibrationTask

__all__ = ["CALIBRATIONS", "CalibrationTask"]
