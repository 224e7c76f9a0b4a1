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
    """What a row has within the margin: the weights of worse rows, of better ones, and weight x value of both."""
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


def joint_score(order: Sequence[int], scores: Sequence[float]) -> float:
    """F with Phi of equation 2 (Xu et al. 2010): the differences of all pairs, as the order has them."""
    n = len(order)
    return sum(scores[upper] - scores[lower] for upper, lower in combinations(order, 2)) / (n * (n - 1))


def mixed_score(order: Sequence[int], scores: Sequence[float], labels: Sequence[float]) -> float:
    """F with Phi of Yue et al. (2007): the differences of documents of different labels only."""
    mixed = [(upper, lower) for upper, lower in combinations(order, 2) if labels[upper] != labels[lower]]
    return sum(scores[upper] - scores[lower] for upper, lower in mixed) / len(mixed)


def orders(n: int) -> list[tuple[int, ...]]:
    """All permutations."""
    return list(permutations(range(n)))


def moves(labels: Sequence[float], scores: Sequence[float]) -> list[tuple[int, int]]:
    """Return every move of a document to another rank that changes the labels, the least fall first."""
    falls = {}
    for start, end in permutations(range(len(labels)), 2):
        if len({*labels[min(start, end) : max(start, end) + 1]}) > 1:
            passed = scores[start + 1 : end + 1] if start < end else scores[end:start]
            falls[start, end] = sum(abs(scores[start] - score) for score in passed)
    return sorted(falls, key=lambda move: (falls[move], move))


def most_violated_precision(scores: Doubles, relevant: Sequence[bool]) -> tuple[list[int] | None, float]:
    """The crossings of each document in the ranking that violates SVMmap's margin most, and by how much it does.

    Tries every place of every irrelevant document among the relevant ones. The first is None where another place
    is as good, but for rounding.
    """
    good, bad = (
        sorted((row for row in range(len(scores)) if relevant[row] == kind), key=lambda row: -scores[row])
        for kind in (True, False)
    )
    crossings, total, unique = [0] * len(scores), 0.0, True
    for j, row in enumerate(bad, start=1):
        gains = [0.0]  # of passing the last relevant documents: none, one, two, ...
        for i in range(len(good), 0, -1):
            lost = i / ((i + j - 1) * (i + j)) / len(good)
            gains.append(gains[-1] + lost - 2 * (scores[good[i - 1]] - scores[row]) / (len(good) * len(bad)))
        most = max(gains)
        unique = unique and sum(gain > most - 1e-12 for gain in gains) == 1
        passed, total = gains.index(most), total + most
        crossings[row] = passed
        for other in good[len(good) - passed :]:
            crossings[other] += 1
    return (crossings if unique else None), total
