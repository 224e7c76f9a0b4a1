"""How AutoRanker judges and mixes, slowly: one query at a time."""

from __future__ import annotations

from math import exp, inf, isnan, nan, sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


def by_query(
    query: Sequence[int], values: Sequence[float], judgements: Sequence[bool] | None = None
) -> list[float]:
    """The mean of every judging query's values, in the order of their numbers."""
    chosen = range(len(query)) if judgements is None else [this for this, one in enumerate(judgements) if one]
    numbers = sorted({query[this] for this in chosen})
    return [_plain_mean([values[this] for this in chosen if query[this] == one]) for one in numbers]


def plausible_weights(values: Sequence[Sequence[float]]) -> list[float]:
    """exp(-min(t^2 / 2, 50 d)) for each member's mean difference d from the best and its t, scaled to sum 1."""
    columns = [column for column in zip(*values, strict=True) if not any(map(isnan, column))]
    if not columns:
        return [1 / len(values)] * len(values)
    rows = [list(row) for row in zip(*columns, strict=True)]
    best = max(rows, key=fmean)
    weights = [_plausibility([ahead - own for ahead, own in zip(best, row, strict=True)]) for row in rows]
    return [one / sum(weights) for one in weights]


def _plausibility(differences: Sequence[float]) -> float:
    mean = fmean(differences)
    error = stdev(differences) / sqrt(len(differences)) if len(differences) > 1 else 1.0
    if error == 0.0:
        return exp(-50 * mean)
    return exp(-min((mean / error) ** 2 / 2, 50 * mean))


def interval(values: Sequence[float], quantile: float) -> tuple[float, float]:
    """Student's interval of the mean, for the quantile of Student's distribution, a fifth wider, cut to [0, 1]."""
    known = [one for one in values if not isnan(one)]
    if len(known) < 2:
        return nan, nan
    reach = 1.2 * quantile * stdev(known) / sqrt(len(known))
    return max(0.0, fmean(known) - reach), min(1.0, fmean(known) + reach)


def z_scores(scores: NDArray[np.float64], queries: Sequence[object]) -> NDArray[np.float64]:
    """The deviation of each score from its query's mean in (population) standard deviations."""
    found = np.zeros(len(scores))
    for one in set(queries):
        rows = [row for row, query in enumerate(queries) if query == one]
        own = scores[rows]
        found[rows] = (own - own.mean()) / own.std() if own.std() > 0 else 0.0
    return found


def _plain_mean(values: Sequence[float]) -> float:
    return nan if any(map(isnan, values)) else fmean(values)


def greedy_selection(
    columns: Sequence[Sequence[float]],
    values: Callable[[Sequence[float]], Sequence[float]],
    bags: Sequence[Sequence[int]],
) -> list[float]:
    """The mean over bags of queries of how often each column is added, as long as that helps, 12 at most."""
    shares = [[0.0] * len(columns) for _ in bags]
    for share, bag in zip(shares, bags, strict=True):
        added: list[int] = []
        best = -inf
        while len(added) < 12:
            tried = []
            for member in range(len(columns)):
                team = sorted([*added, member])
                total = [0.0] * len(columns[0])
                for index, column in enumerate(columns):
                    if team.count(index):
                        total = [t + team.count(index) * c for t, c in zip(total, column, strict=True)]
                of_query = values(total)
                tried.append(fmean([of_query[query] for query in bag]))
            if max(tried) <= best:
                break
            best = max(tried)
            added.append(tried.index(best))
        for member in added:
            share[member] += 1 / len(added)
    means = [fmean(column) for column in zip(*shares, strict=True)]
    heaviest = sorted(range(len(means)), key=lambda index: -means[index])
    kept: list[int] = []
    for index in heaviest:
        if sum(means[one] for one in kept) < 0.99 * sum(means):
            kept.append(index)
    return [
        means[index] / sum(means[one] for one in kept) if index in kept else 0.0 for index in range(len(means))
    ]
