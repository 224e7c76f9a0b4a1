"""What every solver of a margin problem yields."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Solution(NamedTuple):
    """The best weights so far, the objective there, and how far at most the optimum is below it.

    The gap is a share of the objective, and proved: no weights at all can be better by more.
    """

    weights: NDArray[np.float64]
    objective: float
    gap: float
