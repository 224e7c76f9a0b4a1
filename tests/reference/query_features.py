"""Features made within the query, slowly: one value of one query at a time."""

from __future__ import annotations

from math import isnan, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


def in_order(values: Sequence[float]) -> float:
    total = 0.0  # not sum(), which newer versions of Python compensate
    for value in values:
        total += value
    return total


def pairwise(values: Sequence[float]) -> float:
    """Eight sums side by side, of at most 128 values at a time."""
    if len(values) > 128:
        half = len(values) // 16 * 8
        return pairwise(values[:half]) + pairwise(values[half:])
    whole = len(values) // 8 * 8
    a, b, c, d, e, f, g, h = (in_order(values[lane:whole:8]) for lane in range(8))
    return in_order([((a + b) + (c + d)) + ((e + f) + (g + h)), *values[whole:]])


def zscore(value: float, known: Sequence[float], add: Callable[[Sequence[float]], float] = in_order) -> float:
    mean = add(sorted(known)) / len(known)
    spread = sqrt(add([(other - mean) * (other - mean) for other in sorted(known)]) / len(known))
    return (value - mean) / spread if spread > 0 else value - mean


def rank(value: float, known: Sequence[float]) -> float:
    lower, equal = (sum(test) for test in zip(*((x < value, x == value) for x in known), strict=True))
    return (lower + (equal - 1) / 2) / (len(known) - 1) if len(known) > 1 else 0.5


def minmax(value: float, known: Sequence[float]) -> float:
    low, high = min(known), max(known)
    return (value - low) / (high - low) + 0.0 if high > low else 0.0


MAKERS = {"zscore": zscore, "rank": rank, "minmax": minmax}


def with_query_features(
    X: NDArray[np.float32], qid: Sequence[object], kinds: Sequence[str]
) -> NDArray[np.float32]:
    """The features, then one column per feature for each kind."""
    rows_of = {query: [row for row, one in enumerate(qid) if one == query] for query in qid}
    blocks = [X]
    for kind in kinds:
        block = np.full(X.shape, nan)
        for (row, feature), value in np.ndenumerate(X):
            known = [float(X[other, feature]) for other in rows_of[qid[row]] if not isnan(X[other, feature])]
            block[row, feature] = nan if isnan(value) else MAKERS[kind](float(value), known)
        blocks.append(block.astype(np.float32))
    return np.hstack(blocks)


def standardised(scores: NDArray[np.float64], qid: Sequence[object]) -> NDArray[np.float64]:
    """The z-score within its query of each score, scaled to [0, 1]."""
    values = np.empty(len(scores))
    for query in set(qid):
        rows = [row for row, one in enumerate(qid) if one == query]
        own = [float(scores[row]) for row in rows]
        scaled = [minmax(one, own) for one in own]
        values[rows] = [zscore(one, scaled, pairwise) for one in scaled]
    return values
