"""What a swap of two documents changes, and the mean over orders of ties, slowly: one ranking after another."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.metrics import Metric

    Doubles = NDArray[np.float64]


def swap_deltas(metric: Metric, labels: Doubles) -> Doubles:
    """Every swap of every two ranks."""
    n = len(labels)
    before, deltas = metric.of_ranking(labels), np.zeros((n, n))
    if np.isnan(before):
        return deltas
    for i in range(n):
        for j in range(i + 1, n):
            swapped = labels.copy()
            swapped[[i, j]] = swapped[[j, i]]
            deltas[i, j] = deltas[j, i] = abs(metric.of_ranking(swapped) - before)
    return deltas


def expected_value(metric: Metric, labels: Doubles, scores: Doubles) -> float:
    """Every order of tied documents, for a ranking by these scores."""
    runs = np.split(labels, np.flatnonzero(scores[1:] != scores[:-1]) + 1)
    orders = product(*(permutations(run) for run in runs))
    return float(np.mean([metric.of_ranking(np.concatenate(order)) for order in orders]))
