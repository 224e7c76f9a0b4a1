"""All calibrations by name.

Each calibration of Busa-Fekete, Kégl, Éltető & Szarvas (2011, section 4) is a small value with a `fit`. It takes
documents that the classifier was not trained on and returns a scorer whose features are the scores of the
classes, or None if these documents are uninformative, for example all of one class.
"""

from collections.abc import Mapping, Sequence

from rankwright.training.calibration.regression import REGRESSIONS, regressions
from rankwright.training.calibration.sigmoid import CLASS_PROBABILITY, Standard, class_probabilities
from rankwright.training.calibration.task import Calibration

CALIBRATIONS: Mapping[str, Calibration] = {"standard": Standard(), **CLASS_PROBABILITY, **REGRESSIONS}
"""All calibrations by name."""

USED_BY: Mapping[str, tuple[str, ...]] = {
    "entropy_power": ("ewls",),
    "smoothness": ("sn",),
    "clip": tuple(name for name in REGRESSIONS if name != "logistic"),
}
"""The calibrations that use an option of `named_calibrations`."""


def named_calibrations(
    names: Sequence[str], *, entropy_power: float, smoothness: float, clip: bool
) -> list[tuple[str, Calibration]]:
    """Return the calibrations of these names, given C of EWLS, sigma of SN and whether regressions clip."""
    known: dict[str, Calibration] = {
        "standard": Standard(),
        **class_probabilities(power=entropy_power, sigma=smoothness),
        **regressions(clip=clip),
    }
    return [(name, known[name]) for name in names]
