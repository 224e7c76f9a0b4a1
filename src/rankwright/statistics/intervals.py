"""Confidence intervals of means over queries, after a choice too, and the sign flips of the randomisation test."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError, parameter, requiring
from rankwright.base.resources import one_thread_for_libraries
from rankwright.base.wording import difference, metric_value, said_p_value
from rankwright.metrics.base import mean_over_queries
from rankwright.reports.blocks import Interval
from rankwright.reports.result import Result
from rankwright.statistics.tail_p_values import tail_p_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.reports.blocks import Block

SAMPLES = 10_000
MAX_DRAWS = 50_000_000  # queries drawn for all bootstrap samples of many queries together
FEWEST_SAMPLES = 1_000
BLOCK = 800_000  # numbers computed together; limits memory, and fits a processor's cache
FEWEST_FURTHER = 20  # flips as far from 0 as the observed mean; fewer make a poor estimate
ROUNDING = 1e-12  # means that differ by less count as equal
LEVEL = 0.95  # of the interval
# Fits on different folds share most of their queries, so that the mean varies more than independent values would
# (Bates, Hastie & Tibshirani 2024): in `benchmarks/estimates.py`, on other collections, by this factor.
WIDENING = 1.2


@one_thread_for_libraries()
def sign_flip_p_values(
    values: Doubles,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    samples: int = SAMPLES,
    random_state: int = 0,
) -> Doubles:
    """Return the p-values of Fisher's paired randomisation test for pairs of systems.

    Each is the fraction of sign flips of the queries' differences whose mean is at least as far from 0 as the
    observed one. All flips are tried if they are no more than `samples`; otherwise that many are drawn, the same
    for all pairs, and the observed mean counts as one more. Where hardly any of them is that far from 0, flips are
    drawn in a way that reaches it, so that a correction for very many pairs does not hide a certain difference.

    Parameters
    ----------
    values
        One row per system, one column per query.
    first, second
        The rows of the two systems of each pair.
    """
    n_queries = values.shape[1]
    centred = values - values.mean(axis=0)  # leaves the differences as they are, and makes rounding smaller
    sums, columns = centred.sum(axis=1), np.ascontiguousarray(centred.T)
    least = np.abs(sums[first] - sums[second]) - ROUNDING * n_queries
    further = np.zeros(len(first), dtype=np.int64)
    for flips in _flips(n_queries, samples, random_state):
        flipped = sums - 2.0 * (flips @ columns)
        step = max(1, BLOCK // len(flipped))
        for start in range(0, len(first), step):
            pairs = slice(start, start + step)
            away = np.abs(flipped[:, first[pairs]] - flipped[:, second[pairs]])
            further[pairs] += (away >= least[pairs]).sum(axis=0)
    if 2**n_queries <= samples:
        return np.asarray(further / 2.0**n_queries)
    p_values = (further + 1.0) / (samples + 1.0)
    rare = np.flatnonzero(further < FEWEST_FURTHER)
    step = max(1, BLOCK // n_queries)
    for start in range(0, len(rare), step):
        block = rare[start : start + step]
        differences = values[first[block]] - values[second[block]]
        p_values[block] = tail_p_values(differences, random_state=random_state, rounding=ROUNDING * n_queries)
    return np.asarray(p_values, dtype=np.float64)


def _flips(n_queries: int, samples: int, random_state: int) -> Iterator[Doubles]:
    """Yield blocks of sign flips, one per row: 1 for each query whose difference is flipped, 0 for the others."""
    if 2**n_queries <= samples:
        patterns = np.arange(2**n_queries)[:, None] >> np.arange(n_queries)
        yield (patterns & 1).astype(np.float64)
        return
    random = np.random.default_rng(random_state)
    block = max(1, min(samples, BLOCK // n_queries))
    flips = np.empty((block, n_queries))
    for done in range(0, samples, block):
        size = min(block, samples - done)
        drawn = random.integers(0, 256, (size, -(-n_queries // 8)), dtype=np.uint8)
        flips[:size] = np.unpackbits(drawn, axis=1, count=n_queries)
        yield flips[:size]


def mean_interval(
    values: Doubles, *, level: float = 0.95, samples: int = SAMPLES, random_state: int = 0
) -> tuple[float, float]:
    """Return the bootstrap confidence interval of the mean, without NaN; NaN if there are less than two values."""
    kept = values[~np.isnan(values)]
    ((low, high),) = mean_intervals(kept[None], level=level, samples=samples, random_state=random_state)
    return float(low), float(high)


def mean_intervals(
    values: Doubles, *, level: float = 0.95, samples: int = SAMPLES, random_state: int = 0
) -> Doubles:
    """Return the bootstrap confidence interval of the mean of each row.

    The bounds are percentiles of the means of bootstrap samples, with two corrections that matter for few queries:
    the levels of the percentiles are as wide as Student's t asks for (Hesterberg 2015), and they are moved for
    skewness as in BCa intervals (Efron 1987).
    """
    n_rows, n_queries = values.shape
    if n_queries < 2:
        return np.full((n_rows, 2), np.nan)
    means = values.mean(axis=1)
    centred = values - means[:, None]
    resampled = _resampled_means(centred, samples, random_state)
    levels = _percentile_levels(centred, checked_level(level))
    bounds = [np.quantile(row, at) for row, at in zip(resampled.T, levels, strict=True)]
    return np.asarray(means[:, None] + np.array(bounds))


def checked_level(level: float) -> float:
    """Refuse a confidence level that is not between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, int | float | np.floating) or not 0 < level < 1:
        raise InputError(f"{parameter('level')} must be a number between 0 and 1, such as 0.95, not {level!r}.")
    return float(level)


@one_thread_for_libraries()
def _resampled_means(values: Doubles, samples: int, random_state: int) -> Doubles:
    """Return the mean of each row over the queries of each bootstrap sample; many queries get fewer samples."""
    random = np.random.default_rng(random_state)
    n_queries = values.shape[1]
    samples = min(samples, max(FEWEST_SAMPLES, MAX_DRAWS // n_queries))
    block = max(1, BLOCK // n_queries)
    means = []
    for done in range(0, samples, block):
        size = min(block, samples - done)
        drawn = random.integers(0, n_queries, (size, n_queries)) + n_queries * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * n_queries).reshape(size, n_queries)
        means.append(times.astype(np.float64) @ values.T / n_queries)
    return np.concatenate(means)


def _percentile_levels(centred: Doubles, level: float) -> Doubles:
    """Return the lower and the upper percentile, as fractions, for each row of values minus their mean.

    The skewness of few queries is mostly chance, so it is shrunk: by half for 20 queries.
    """
    with requiring("scipy"):
        from scipy.special import ndtr, stdtrit

    n_queries = centred.shape[1]
    spread = np.sqrt((centred**2).mean(axis=1))
    skewness = (centred**3).mean(axis=1) / np.where(spread > 0, spread, 1.0) ** 3
    acceleration = skewness * n_queries / (n_queries + 20) / (6.0 * sqrt(n_queries))
    width = sqrt(n_queries / (n_queries - 1)) * stdtrit(n_queries - 1, (1.0 + level) / 2.0)
    moved = acceleration[:, None] + np.array([-width, width])
    # Far out, the correction has a pole; before it, the bound is the most extreme mean anyway.
    stretch = np.maximum(1.0 - acceleration[:, None] * moved, 0.1)
    return np.asarray(ndtr(acceleration[:, None] + moved / stretch))


def mean_with_interval(values: Doubles) -> Interval:
    """Return the mean over queries with its bootstrap interval; NaN values are left out."""
    return Interval(mean_over_queries(values), *mean_interval(values))


@dataclass(frozen=True, repr=False)
class Rival(Result):
    """A simpler choice measured on the same queries: its value, and the difference of the choice made from it.

    `name` is the choice by all queries; the value is that of the same choice made without the judging queries.
    """

    name: str
    value: float
    ahead: float
    p_value: float

    @property
    def summary(self) -> str:
        """Its value, and how far the choice made is ahead of it."""
        ahead = f"{difference(self.ahead)}, {said_p_value(self.p_value)}"
        return f"{self.name} has {metric_value(self.value)} (the choice made is ahead by {ahead})."

    def blocks(self) -> list[Block]:
        """Return nothing more than the summary."""
        return []


def interval_of(values: Doubles, gain: float = 0.0) -> tuple[float, float]:
    """Return Student's confidence interval of the mean plus a gain, widened; NaN for a single value.

    If all values are between 0 and 1, so is the interval.
    """
    with requiring("scipy"):
        from scipy.special import stdtrit

    kept = values[~np.isnan(values)]
    if len(kept) < 2:
        return np.nan, np.nan
    error = WIDENING * float(kept.std(ddof=1)) / float(np.sqrt(len(kept)))
    reach = float(stdtrit(len(kept) - 1, (1 + LEVEL) / 2)) * error
    middle = float(kept.mean()) + gain
    return within_range(middle - reach, kept), within_range(middle + reach, kept)


def within_range(number: float, values: Doubles) -> float:
    """Return the number, clipped to between 0 and 1 if all values are, as those of most metrics."""
    limited = np.nanmin(values, initial=0.0) >= 0 and np.nanmax(values, initial=0.0) <= 1
    return float(np.clip(number, 0.0, 1.0) if limited else number)
