"""A metric of s + alpha t over every interval between crossings, slowly: each is ranked and measured by itself."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from rankwright.data.groups import Ranking
from rankwright.metrics import mean_over_queries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.data.groups import QueryGroups
    from rankwright.metrics import Metric

    Doubles = NDArray[np.float64]


def crossings(s: Doubles, t: Doubles, groups: QueryGroups, low: float, high: float) -> list[Fraction]:
    """Every alpha strictly between the two at which documents of one query change places, exactly."""
    found = set()
    for rows in groups:
        for i, j in combinations(rows.tolist(), 2):
            if t[i] != t[j]:
                found.add((_exact(s[j]) - _exact(s[i])) / (_exact(t[i]) - _exact(t[j])))
    return sorted(alpha for alpha in found if low < alpha < high)


def sweep(
    metric: Metric, labels: Doubles, groups: QueryGroups, s: Doubles, t: Doubles, low: float, high: float
) -> list[tuple[Fraction, float]]:
    """An alpha within each interval, and the mean over queries there, scores compared exactly.

    Intervals whose ends are one double are left out.
    """
    edges = [low, *crossings(s, t, groups, low, high), high]
    alphas = [_between(lower, upper) for lower, upper in pairwise(edges) if float(lower) < float(upper)]
    return [(alpha, measure(metric, labels, groups, s, t, alpha)) for alpha in alphas]


def measure(
    metric: Metric, labels: Doubles, groups: QueryGroups, s: Doubles, t: Doubles, alpha: Fraction
) -> float:
    """The mean over queries at one alpha, no score rounded."""
    exact = [_exact(one) + alpha * _exact(other) for one, other in zip(s, t, strict=True)]
    place = {score: float(number) for number, score in enumerate(sorted(set(exact)))}
    ranking = Ranking.of(np.array([place[score] for score in exact]), groups)
    return mean_over_queries(metric.per_query(labels, ranking))


def _between(lower: float | Fraction, upper: float | Fraction) -> Fraction:
    if lower == -np.inf and upper == np.inf:
        return Fraction(0)
    if upper == np.inf:
        return Fraction(lower) + 1
    if lower == -np.inf:
        return Fraction(upper) - 1
    return (Fraction(lower) + Fraction(upper)) / 2


def _exact(value: float) -> Fraction:
    return Fraction(float(value))
