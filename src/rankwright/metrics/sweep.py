"""Evaluates a metric of the scores s + alpha t for every alpha; see native/metrics/sweep.hpp."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.data.groups import QueryGroups, Ranking
from rankwright.metrics.protocols import Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.metrics.protocols import RankingMetric, SweepKernel

    NativeSweep = Callable[..., tuple[Doubles, Doubles, Doubles]]

RANKED_AT_ONCE = 2**21  # documents of the rankings that are evaluated together for a metric without a native sweep


def native_sweep(
    kernel: NativeSweep, metric: RankingMetric, labels: Doubles, groups: QueryGroups, /, **own: Any
) -> SweepKernel:
    """Return a sweep in native code; `own` has the arguments that are specific to the metric."""
    empty = np.isnan(metric.per_query_with_empty(labels, Ranking.of(np.zeros(len(labels)), groups)))
    rows, average_ties = metric.rows_by_ties(labels, groups)

    def sweep(s: Doubles, t: Doubles, *, low: float, high: float, n_threads: int) -> Sweep:
        starts, alphas, changes = kernel(
            offsets=groups.offsets,
            rows=rows,
            s=s,
            t=t,
            low=low,
            high=high,
            average_ties=average_ties,
            n_threads=n_threads,
            **own,
        )
        return Sweep(np.where(empty, np.nan, starts), alphas, changes)

    return sweep


def rank_weights(discounts: Doubles, query_factors: Doubles, groups: QueryGroups) -> Doubles:
    """Return discount x query factor for every rank of every query; 0 below the last discount."""
    ranks = np.arange(groups.n_rows) - np.repeat(groups.offsets[:-1], groups.sizes)
    table = np.append(discounts, 0.0)
    return np.asarray(table[np.minimum(ranks, len(discounts))] * np.repeat(query_factors, groups.sizes))


def sweep_by_rankings(
    metric: RankingMetric,
    labels: Doubles,
    groups: QueryGroups,
    s: Doubles,
    t: Doubles,
    *,
    low: float,
    high: float,
    n_threads: int,
    most: int | None = None,
) -> Sweep:
    """Evaluate every ranking between two crossings; for metrics without a native sweep.

    If a query has more than `most` rankings, only so many of them are evaluated, with a warning. Each value then
    counts as far as the next ranking that is evaluated.
    """
    starts, alphas, steps = np.empty(len(groups)), [np.empty(0)], [np.empty(0)]
    for query, rows in enumerate(groups):
        crossings = [np.array([low])]
        values = []
        for beyond, above in _rankings(metric, s[rows], t[rows], labels[rows], low, high, most):
            crossings.append(beyond)
            values.append(_judged(metric, labels[rows], above, n_threads))
        of_query = np.concatenate(values)
        starts[query] = of_query[0]
        if not np.isnan(of_query[0]):
            alphas.append(np.concatenate(crossings)[2:])
            with np.errstate(invalid="ignore"):  # the caller checks that the sums are finite
                steps.append(np.diff(of_query))
    return Sweep(starts, *_merged(np.concatenate(alphas), np.concatenate(steps)))


def _judged(metric: RankingMetric, labels: Doubles, above: Integers, n_threads: int) -> Doubles:
    """Return the metric of several rankings of one query: `above` counts the documents above each document."""
    n_rankings, n_documents = above.shape
    ranking = Ranking.of(-above.ravel(), QueryGroups.of_sizes(np.full(n_rankings, n_documents)), n_jobs=n_threads)
    return metric.per_query_with_empty(np.tile(labels, n_rankings), ranking, n_jobs=n_threads)


def _rankings(
    metric: RankingMetric, s: Doubles, t: Doubles, labels: Doubles, low: float, high: float, most: int | None
) -> Iterator[tuple[Doubles, Integers]]:
    """Yield alphas and, one row per alpha, the number of documents above each one just beyond it.

    The first alpha is `low`. The others are those at which documents with different labels cross: a metric cannot
    change elsewhere. If they are more than `most`, some are left out, evenly.
    """
    n = len(s)
    riser, faller = np.nonzero(t[:, None] > t)
    crossing = (s[faller] - s[riser]) / (t[riser] - t[faller])
    below = crossing > low
    parallel = (t[:, None] == t) & (s[:, None] < s)
    above = (
        parallel.sum(axis=1) + np.bincount(riser[below], minlength=n) + np.bincount(faller[~below], minlength=n)
    )
    yield np.array([low]), above[None]

    inside = np.flatnonzero(below & (crossing < high))
    inside = inside[np.argsort(crossing[inside], kind="stable")]
    riser, faller, crossing = riser[inside], faller[inside], crossing[inside]
    block = max(1, RANKED_AT_ONCE // n)
    starts = np.flatnonzero(np.diff(crossing, prepend=-np.inf))  # the first crossing at each distinct alpha
    if most is not None and len(starts) > most:
        _warn_of_most(metric, most)
        starts = starts[:: -(-len(starts) // most)]
    for first in range(0, len(starts), block):
        ends = np.append(starts, len(crossing))[first + 1 : first + block + 1]
        events = np.arange(starts[first], ends[-1])
        event_of = np.searchsorted(ends, events, side="right")
        moved = np.zeros((len(ends), n), dtype=np.int64)
        np.subtract.at(moved, (event_of, riser[events]), 1)
        np.add.at(moved, (event_of, faller[events]), 1)
        rankings = above + np.cumsum(moved, axis=0)
        above = rankings[-1]
        matters = np.bincount(event_of, labels[riser[events]] != labels[faller[events]]) > 0
        yield crossing[ends - 1][matters], rankings[matters]


def _warn_of_most(metric: RankingMetric, most: int) -> None:
    warnings.warn(
        f"{metric} is slow to search on: it is not a sum over documents, so rankings must be tried. Each search "
        f"tries at most {most:,} per query, not all; define of_rankings to try all of them.",
        stacklevel=2,
    )


def _merged(alphas: Doubles, steps: Doubles) -> tuple[Doubles, Doubles]:
    """Return the alphas at which the sum over queries changes, and its changes since the start."""
    order = np.lexsort((steps, alphas))  # by step too, so that the result does not depend on the order of queries
    alphas, changes = alphas[order], np.cumsum(steps[order])
    last = np.append(alphas[1:] != alphas[:-1], True)[: len(alphas)]
    alphas, changes = alphas[last], changes[last]
    moved = np.diff(changes, prepend=0.0) != 0.0
    return alphas[moved], changes[moved]
