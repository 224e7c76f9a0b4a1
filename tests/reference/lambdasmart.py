"""Algorithm 1 of Wu et al. (2010), read literally: every pair, every swap, every split, in plain Python."""

from __future__ import annotations

from itertools import pairwise, permutations
from math import exp, log2
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]


def dcg(labels: Sequence[float], cut: int) -> float:
    return sum((2**label - 1) / log2(1 + rank) for rank, label in enumerate(labels[:cut], start=1))


def lambdas_of_query(labels: Sequence[float], scores: Sequence[float], cut: int) -> list[tuple[float, float]]:
    """lambda_i of equations 2 to 5 and its derivative, of documents with distinct scores."""
    best = dcg(sorted(labels, reverse=True), cut)
    ranked = sorted(range(len(labels)), key=lambda i: -scores[i])
    found = [(0.0, 0.0)] * len(labels)
    for i, j in permutations(range(len(labels)), 2):
        if labels[i] == labels[j] or best == 0:
            continue
        swapped = [j if d == i else i if d == j else d for d in ranked]
        delta = (dcg([labels[d] for d in swapped], cut) - dcg([labels[d] for d in ranked], cut)) / best
        sign = 1.0 if labels[i] > labels[j] else -1.0
        o = sign * (scores[i] - scores[j])  # of the more relevant document of the pair
        slope = -1.0 / (1.0 + exp(o))  # equation 4
        curvature = exp(o) / (1.0 + exp(o)) ** 2  # its derivative
        found[i] = (found[i][0] + sign * abs(delta * slope), found[i][1] + abs(delta) * curvature)
    return found


def squared_error(y: Doubles) -> float:
    return float(((y - y.mean()) ** 2).sum())


def best_split(X: Doubles, y: Doubles, rows: Doubles) -> tuple[float, Doubles, Doubles] | None:
    """The split of these rows that lowers the squared error most."""
    best = None
    for feature in range(X.shape[1]):
        values = sorted(set(X[rows, feature]))
        for low, _ in pairwise(values):
            left, right = rows[X[rows, feature] <= low], rows[X[rows, feature] > low]
            gain = squared_error(y[rows]) - squared_error(y[left]) - squared_error(y[right])
            if best is None or gain > best[0] + 1e-12:
                best = (gain, left, right)
    return best


def tree_leaves(X: Doubles, y: Doubles, n_leaves: int) -> list[Doubles]:
    """Step 9: the rows of each leaf of a tree that is grown best split first."""
    leaves = [np.arange(len(y))]
    while len(leaves) < n_leaves:
        splits = [best_split(X, y, rows) for rows in leaves]
        gains = [-1.0 if split is None else split[0] for split in splits]
        place = int(np.argmax(gains))
        if gains[place] <= 1e-12:
            break
        leaves[place : place + 1] = splits[place][1:]
    return leaves


def lambda_smart(
    X: Doubles,
    labels: Doubles,
    queries: Sequence[Doubles],
    start: Doubles,
    *,
    rounds: int,
    n_leaves: int,
    shrinkage: float,
    cut: int,
) -> list[Doubles]:
    """The scores of the training documents after every round."""
    scores, after = start.copy(), []
    for _ in range(rounds):
        y, w = np.zeros(len(X)), np.zeros(len(X))
        for rows in queries:
            y[rows], w[rows] = zip(*lambdas_of_query(labels[rows], scores[rows], cut), strict=True)
        for rows in tree_leaves(X, y, n_leaves):
            if w[rows].any():  # otherwise no pair pushes these documents
                scores[rows] += shrinkage * y[rows].sum() / w[rows].sum()
        after.append(scores.copy())
    return after
