"""Binning, slowly: values are counted and shared out one by one."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MISSING = 255


def find_edges(values: Sequence[float], max_bins: int) -> list[float]:
    """Between all distinct values where they are few enough, otherwise after an even share of what is left."""
    counts = sorted(Counter(float(value) + 0.0 for value in values if value == value).items())
    left, bins_left, in_bin = sum(count for _, count in counts), max_bins, 0
    edges = []
    for (low, count), (high, next_count) in pairwise(counts):
        in_bin += count
        share = left / bins_left
        full = (in_bin >= share or next_count >= share) and bins_left > 1
        if full or len(counts) <= max_bins:
            edges.append(_edge_between(low, high))
            left, bins_left, in_bin = left - in_bin, bins_left - 1, 0
    return edges


def _edge_between(low: float, high: float) -> float:
    middle = float(np.float32((low + high) / 2))
    return middle if low <= middle < high else low


def encode(X: NDArray[np.float32], edges: Sequence[Sequence[float]]) -> NDArray[np.uint8]:
    """How many of its feature's edges lie below each value."""
    codes = np.zeros(X.shape, dtype=np.uint8)
    for (row, feature), value in np.ndenumerate(X):
        codes[row, feature] = MISSING if np.isnan(value) else sum(edge < value for edge in edges[feature])
    return codes
