"""What every solver of a margin problem yields, and refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Solution(NamedTuple):
    """The best weights so far, the objective there, and how far at most the optimum is below it.

    The gap is a share of the objective, and proved: no weights at all can be better by more.
    """

    weights: NDArray[np.float64]
    objective: float
    gap: float


def finite(numbers: Any) -> Any:
    """Return the numbers; refuse a problem in which they have become too large to go on."""
    if not np.isfinite(numbers).all():
        raise InputError(
            "The numbers of the margin problem are no longer finite; C, or the features, must be less extreme."
        )
    return numbers
