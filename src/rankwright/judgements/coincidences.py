"""Agreement measures from counts of pairs of grades, which add up over queries.

Krippendorff's alpha is that of Krippendorff (2004), "Content Analysis", section 11.3; weighted kappa that of Cohen
(1968), "Weighted kappa", Psychological Bulletin 70. Both depend on the data by one matrix of counts per query, so
that a bootstrap sample of queries is a weighted sum of these matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.reports.blocks import Interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankwright.base.arrays import Doubles, Integers

LEVELS = ("nominal", "ordinal", "interval")
KAPPA_POWERS = {"kappa": 0, "linear kappa": 1, "quadratic kappa": 2}
SAMPLES = 2_000
BLOCK = 1_000_000  # numbers of bootstrap samples that are computed together


def coincidence_counts(codes: Integers, n_grades: int, query_of_row: Integers, n_queries: int) -> Doubles:
    """Return for each query how often grades c and k were given to the same document by different judges.

    A document with m grades has m (m - 1) ordered pairs, each counted 1 / (m - 1) times, so that a matrix sums to
    the number of grades that can be compared.

    Parameters
    ----------
    codes
        The number of each grade, one row per document and one column per judge; -1 where there is none.
    """
    n_judges = codes.shape[1]
    n_given = (codes >= 0).sum(axis=1)
    weights = 1.0 / np.maximum(n_given - 1, 1)
    counts = np.zeros((n_queries, n_grades, n_grades))
    for first in range(n_judges):
        for second in range(n_judges):
            if first != second:
                rows = np.flatnonzero((codes[:, first] >= 0) & (codes[:, second] >= 0))
                cells = (query_of_row[rows], codes[rows, first], codes[rows, second])
                np.add.at(counts, cells, weights[rows])
    return counts


def confusion_counts(
    first: Integers, second: Integers, n_grades: int, query_of_row: Integers, n_queries: int
) -> Doubles:
    """Return for each query how many documents have grade c by the first and grade k by the second judge."""
    rows = np.flatnonzero((first >= 0) & (second >= 0))
    counts = np.zeros((n_queries, n_grades, n_grades))
    np.add.at(counts, (query_of_row[rows], first[rows], second[rows]), 1.0)
    return counts


def alpha(coincidences: Doubles, scale: Doubles, level: str) -> Doubles:
    """Return Krippendorff's alpha of matrices of coincidences; NaN if only one grade occurs.

    Parameters
    ----------
    coincidences
        One matrix, or many along the first axes.
    scale
        The grades, ascending.
    level
        How grades differ: `nominal` (or not at all), `ordinal` (by the number of grades between them) or
        `interval` (by the square of their difference).
    """
    observed, expected = disagreements(coincidences, scale, level)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(1.0 - observed / expected)


def disagreements(coincidences: Doubles, scale: Doubles, level: str) -> tuple[Doubles, Doubles]:
    """Return the observed and the expected disagreement of matrices of coincidences, per grade."""
    totals = coincidences.sum(axis=-1)
    total = totals.sum(axis=-1)
    chance = totals[..., :, None] * totals[..., None, :]
    distances = grade_distances(totals, scale, level)
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = (coincidences * distances).sum(axis=(-2, -1)) / total
        expected = (chance * distances).sum(axis=(-2, -1)) / (total * (total - 1.0))
    return np.asarray(observed), np.where(expected > 0, expected, np.nan)


def grade_distances(totals: Doubles, scale: Doubles, level: str) -> Doubles:
    """Return the squared distance of each pair of grades; how often each occurs matters for ordinal grades."""
    if level == "nominal":
        return 1.0 - np.eye(len(scale))
    values = np.cumsum(totals, axis=-1) - totals / 2.0 if level == "ordinal" else np.asarray(scale)
    return np.asarray((values[..., :, None] - values[..., None, :]) ** 2)


def kappa(confusion: Doubles, power: int) -> Doubles:
    """Return Cohen's kappa of matrices of confusion, weighted by |c - k| ** power; unweighted for power 0.

    Parameters
    ----------
    confusion
        One matrix, or many along the first axes.
    """
    n_grades = confusion.shape[-1]
    steps = np.abs(np.arange(n_grades)[:, None] - np.arange(n_grades))
    weights = (steps > 0).astype(np.float64) if power == 0 else steps.astype(np.float64) ** power
    total = confusion.sum(axis=(-2, -1))
    rows, columns = confusion.sum(axis=-1), confusion.sum(axis=-2)
    chance = rows[..., :, None] * columns[..., None, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = (chance * weights).sum(axis=(-2, -1)) / total
        observed = (confusion * weights).sum(axis=(-2, -1))
        return np.asarray(np.where(expected > 0, 1.0 - observed / expected, np.nan))


def specific_agreement(coincidences: Doubles) -> Doubles:
    """Return for each grade how likely another judge gives it too, where one judge gave it."""
    totals = coincidences.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.diagonal(coincidences, axis1=-2, axis2=-1) / totals)


def with_interval(
    by_query: Doubles, measure: Callable[[Doubles], Doubles], *, level: float, random_state: int
) -> Interval:
    """Return a measure of the sum of all queries' counts, with its bootstrap interval over queries.

    Parameters
    ----------
    by_query
        The counts of each query along the first axis.
    measure
        Returns one value per matrix.
    """
    value = float(measure(by_query.sum(axis=0)))
    low, high = bootstrap_limits(by_query, measure, level=level, random_state=random_state)[0]
    return Interval(value, float(low), float(high))


def bootstrap_limits(
    by_query: Doubles, measure: Callable[[Doubles], Doubles], *, level: float, random_state: int
) -> Doubles:
    """Return the limits of the bootstrap percentile interval of each value of a measure; NaN for one query."""
    kept = by_query[by_query.reshape(len(by_query), -1).any(axis=1)]
    n_queries, flat = len(kept), kept.reshape(len(kept), -1)
    if n_queries < 2:
        return np.full((np.size(measure(by_query.sum(axis=0))), 2), np.nan)
    random = np.random.default_rng(random_state)
    step = max(1, BLOCK // (n_queries + flat.shape[1]))
    values = []
    for start in range(0, SAMPLES, step):
        size = min(step, SAMPLES - start)
        drawn = random.integers(0, n_queries, (size, n_queries)) + n_queries * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * n_queries).reshape(size, n_queries)
        values.append(measure((times.astype(np.float64) @ flat).reshape(size, *kept.shape[1:])).reshape(size, -1))
    ends = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    columns = [column[~np.isnan(column)] for column in np.concatenate(values).T]
    return np.array([np.quantile(column, ends) if len(column) else [np.nan, np.nan] for column in columns])
