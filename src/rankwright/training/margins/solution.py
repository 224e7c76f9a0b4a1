"""Solutions of margin problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Solution(NamedTuple):
    """The best weights so far, their objective, and the gap: a proved bound on its distance from the optimum.

    The gap is a fraction of the objective.
    """

    weights: NDArray[np.float64]
    objective: float
    gap: float


def finite(numbers: Any) -> Any:
    """Return the numbers; raise an `InputError` if one of them is not finite."""
    if not np.isfinite(numbers).all():
        raise InputError(
            "The numbers of the margin problem are no longer finite; "
            "use a less extreme C, or features of a smaller scale."
        )
    return numbers
