"""The one sort, slowly: Python's own stable sort with the rule written out."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def sort_within_queries(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    scores: NDArray[np.float64],
    tie_break: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    def key(row: int) -> tuple[float, float]:
        return -scores[row], 0.0 if tie_break is None else tie_break[row]

    order: list[int] = []
    for first, last in itertools.pairwise(offsets):
        order += sorted(rows[first:last].tolist(), key=key)  # stable: the earlier place wins a full tie
    return np.array(order, dtype=np.int64)
