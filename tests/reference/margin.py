"""Margin losses, slowly: every pair of a query's documents in turn."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]


def ordered_pairs(y: Sequence[float], qid: Sequence[object]) -> Iterator[tuple[int, int]]:
    """Every two rows of a query with different labels, the better one first."""
    for i, j in combinations(range(len(y)), 2):
        if qid[i] == qid[j] and y[i] != y[j]:
            yield (i, j) if y[i] > y[j] else (j, i)


def margin_sums(
    scores: Doubles, y: Doubles, qid: Sequence[object], weights: Doubles, values: Doubles
) -> tuple[Doubles, Doubles, Doubles]:
    """What each row has within the margin: the weight of worse rows, of better ones, and of both times their values."""
    worse, better, sums = np.zeros((3, len(y)))
    for i, j in ordered_pairs(y, qid):
        if scores[i] - scores[j] < 1.0:
            worse[i] += weights[j]
            better[j] += weights[i]
            sums[i] += weights[j] * values[j]
            sums[j] += weights[i] * values[i]
    return worse, better, sums


def pair_loss(w: Doubles, X: Doubles, y: Doubles, qid: Sequence[object], factors: Doubles, power: int) -> float:
    """The sum over pairs of max(0, 1 - (s_i - s_j)), to a power, times the factors of both rows."""
    s = X @ w
    return sum(factors[i] * factors[j] * max(0.0, 1.0 - s[i] + s[j]) ** power for i, j in ordered_pairs(y, qid))


def joint_features(order: Sequence[int], X: Doubles) -> Doubles:
    """Phi of equation 2 (Xu et al. 2010): the differences of all pairs, as the order has them."""
    n, rank = len(order), np.argsort(order)
    total = np.zeros(X.shape[1])
    for k, l in combinations(range(n), 2):
        total += (1 if rank[k] < rank[l] else -1) * (X[k] - X[l])
    return total / (n * (n - 1))


def mixed_features(order: Sequence[int], X: Doubles, relevant: NDArray[np.bool_]) -> Doubles:
    """Phi of Yue et al. (2007): the differences of relevant and irrelevant documents."""
    rank = np.argsort(order)
    pairs = [(i, j) for i in np.flatnonzero(relevant) for j in np.flatnonzero(~relevant)]
    return sum((1 if rank[i] < rank[j] else -1) * (X[i] - X[j]) for i, j in pairs) / len(pairs)


def orders(n: int) -> list[tuple[int, ...]]:
    """All permutations."""
    return list(permutations(range(n)))
