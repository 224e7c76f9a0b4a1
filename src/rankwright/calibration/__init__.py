"""Calibration: the scores that a classifier gives each class become one expected gain between 0 and 1.

Each calibration of Busa-Fekete, Kégl, Éltető & Szarvas (2011, section 4) is a small value with a `fit`. It takes
documents that the classifier was not trained on and returns a scorer whose features are the scores of the
classes, or None if these documents are uninformative, for example all of one class.
"""

from collections.abc import Mapping

from rankwright.calibration.regression import REGRESSIONS
from rankwright.calibration.sigmoid import CLASS_PROBABILITY, Standard
from rankwright.calibration.task import Calibration, CalibrationTask

CALIBRATIONS: Mapping[str, Calibration] = {"standard": Standard(), **CLASS_PROBABILITY, **REGRESSIONS}
"""All calibrations by name."""

__all__ = ["CALIBRATIONS", "CLASS_PROBABILITY", "REGRESSIONS", "Calibration", "CalibrationTask", "Standard"]
