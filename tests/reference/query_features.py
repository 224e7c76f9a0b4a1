"""Features made within the query, slowly: one value of one query at a time."""

from __future__ import annotations

from math import fsum, isnan, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def zscore(value: float, known: Sequence[float]) -> float:
    mean = fsum(known) / len(known)
    spread = sqrt(fsum((other - mean) ** 2 for other in known) / len(known))
    return (value - mean) / spread if spread > 0 else 0.0


def rank(value: float, known: Sequence[float]) -> float:
    lower, equal = (sum(test) for test in zip(*((x < value, x == value) for x in known), strict=True))
    return (lower + (equal - 1) / 2) / (len(known) - 1) if len(known) > 1 else 0.5


def minmax(value: float, known: Sequence[float]) -> float:
    low, high = min(known), max(known)
    return (value - low) / (high - low) if high > low else 0.0


MAKERS = {"zscore": zscore, "rank": rank, "minmax": minmax}


def with_query_features(
    X: NDArray[np.float32], qid: Sequence[object], kinds: Sequence[str]
) -> NDArray[np.float64]:
    """The features, then one column per feature for each kind."""
    rows_of = {query: [row for row, one in enumerate(qid) if one == query] for query in qid}
    blocks = [X.astype(np.float64)]
    for kind in kinds:
        block = np.full(X.shape, nan)
        for (row, feature), value in np.ndenumerate(X):
            known = [float(X[other, feature]) for other in rows_of[qid[row]] if not isnan(X[other, feature])]
            block[row, feature] = nan if isnan(value) else MAKERS[kind](float(value), known)
        blocks.append(block)
    return np.hstack(blocks)
