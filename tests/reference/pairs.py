"""Pairs, RankBoost and MPBoost by their definitions: every pair, every feature, every threshold."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

CLOSE = 1e-9


@dataclass(frozen=True)
class Pair:
    """Document i is better than document j; what the pair weighs, and how strongly it should be kept apart."""

    i: int
    j: int
    weight: float
    strength: float


def pairs_of(
    y: Sequence[float],
    qid: Sequence[object],
    strength: Callable[[float, float], float],
    *,
    weights: Sequence[float] | None = None,
    by_query: bool = False,
) -> list[Pair]:
    """D_1: all pairs, their weights summing to one."""
    weights = [1.0] * len(y) if weights is None else weights
    found = [
        (i, j, sqrt(weights[i] * weights[j]))
        for i, j in permutations(range(len(y)), 2)
        if qid[i] == qid[j] and y[i] > y[j]
    ]
    if by_query:
        counts = {query: sum(qid[i] == query for i, *_ in found) for query in set(qid)}
        found = [(i, j, w / counts[qid[i]]) for i, j, w in found]
    total = sum(w for _, _, w in found)
    return [Pair(i, j, w / total, float(strength(y[i], y[j]))) for i, j, w in found]


def loss(pairs: list[Pair], F: Sequence[float]) -> float:
    """J(F) / J(0), the product of all Z."""
    return sum(one.weight * exp(-one.strength * (F[one.i] - F[one.j])) for one in pairs)


def reweighted(pairs: list[Pair], F: Sequence[float]) -> list[Pair]:
    """The pairs weighed by how wrongly F orders them; in logarithms, so that nothing overflows."""
    powers = [log(one.weight) - one.strength * (F[one.i] - F[one.j]) if one.weight else -inf for one in pairs]
    sizes = [exp(power - max(powers)) for power in powers]
    return [Pair(one.i, one.j, w / sum(sizes), one.strength) for one, w in zip(pairs, sizes, strict=True)]


def gradients(pairs: list[Pair], n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What pairs of these weights ask of every document, and the second derivative."""
    gradient, hessian = np.zeros(n), np.zeros(n)
    for one in pairs:
        gradient[one.i] += one.weight * one.strength
        gradient[one.j] -= one.weight * one.strength
        hessian[[one.i, one.j]] += one.weight * one.strength**2
    return gradient, hessian


def misordered(pairs: list[Pair], F: Sequence[float]) -> float:
    """The share of pairs that F does not order."""
    return sum(one.weight for one in pairs if F[one.i] <= F[one.j])


def thresholds(column: NDArray[np.float32]) -> list[float]:
    """Minus infinity and every value there is."""
    return [-inf, *sorted(set(column[~np.isnan(column)].tolist()))]


def candidates(X: NDArray[np.float32]) -> Iterator[tuple[int, float, NDArray[np.bool_]]]:
    """Every feature and threshold, and which documents lie above it."""
    for feature, column in enumerate(X.T):
        for threshold in thresholds(column):
            yield feature, threshold, column > threshold


def best_a(pairs: list[Pair], high: NDArray[np.bool_], *, newton: bool) -> float:
    """The best a of the paper's appendix."""
    up = [one for one in pairs if high[one.i] and not high[one.j]]
    down = [one for one in pairs if high[one.j] and not high[one.i]]
    above = sum(one.weight * one.strength for one in up) - sum(one.weight * one.strength for one in down)
    below = sum(one.weight * (one.strength**2 if newton else 1.0) for one in up + down)
    return above / below if below > CLOSE else 0.0


def squared_error(pairs: list[Pair], f: Sequence[float], *, newton: bool) -> float:
    """J_wse of equation 12; with the second derivative kept, the Taylor polynomial that it then comes from."""
    if not newton:
        return sum(one.weight * (one.strength - (f[one.i] - f[one.j])) ** 2 for one in pairs)
    steps = [one.strength * (f[one.i] - f[one.j]) for one in pairs]
    return sum(one.weight * (1 - step) ** 2 for one, step in zip(pairs, steps, strict=True))


def least_error(pairs: list[Pair], X: NDArray[np.float32], *, newton: bool) -> float:
    """The least error of any stump."""
    return min(
        squared_error(pairs, best_a(pairs, high, newton=newton) * high, newton=newton)
        for _, _, high in candidates(X)
    )


def votes(column: NDArray[np.float32], threshold: float) -> NDArray[np.float64]:
    """RankBoost's weak ranker: half up, half down, nothing where the value is missing."""
    return np.where(np.isnan(column), 0.0, np.where(column > threshold, 0.5, -0.5))


def agreement(pairs: list[Pair], h: Sequence[float]) -> float:
    """r = sum of D(x0, x1) (h(x1) - h(x0))."""
    return sum(one.weight * (h[one.i] - h[one.j]) for one in pairs)


def largest_agreement(pairs: list[Pair], X: NDArray[np.float32], directions: Sequence[int]) -> float:
    """The largest r of any vote; a threshold at the highest value has no documents above it."""
    return max(
        direction * agreement(pairs, votes(column, threshold))
        for column in X.T
        for threshold in thresholds(column)[:-1] or [-inf]
        for direction in directions
    )
