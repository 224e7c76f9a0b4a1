"""A metric of s + alpha t for every alpha at once; native/include/rankwright/sweep.hpp tells how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from rankwright.data.groups import QueryGroups
from rankwright.data.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rankwright.arrays import Doubles
    from rankwright.metrics.base import Metric

    Rows = NDArray[np.int64]

    NativeSweep = Callable[..., tuple[Doubles, Doubles, Doubles]]

RANKED_AT_ONCE = 2**21  # documents of all the rankings that a metric without a kernel of its own judges together


class Sweep(NamedTuple):
    """Each query's value just above the lowest alpha, NaN for an empty one, and how their sum goes on from there.

    Beyond `alphas[i]`, which rise, the sum differs from that of the start by `changes[i]`.
    """

    starts: Doubles
    alphas: Doubles
    changes: Doubles


class SweepKernel(Protocol):
    """Sweeps, for one metric and set of labels, the open interval from `low` to `high`."""

    def __call__(self, s: Doubles, t: Doubles, *, low: float, high: float, n_threads: int) -> Sweep:
        """Take two columns of finite scores."""


def native_sweep(
    kernel: NativeSweep, metric: Metric, labels: Doubles, groups: QueryGroups, /, **own: Any
) -> SweepKernel:
    """Return the kernel of a metric that has a native one; `own` is what that takes beside the lines."""
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
    """Return discount x its query's factor for every rank of every query, 0 beyond the last discount."""
    ranks = np.arange(groups.n_rows) - np.repeat(groups.offsets[:-1], groups.sizes)
    table = np.append(discounts, 0.0)
    return np.asarray(table[np.minimum(ranks, len(discounts))] * np.repeat(query_factors, groups.sizes))


def sweep_by_rankings(
    metric: Metric,
    labels: Doubles,
    groups: QueryGroups,
    s: Doubles,
    t: Doubles,
    *,
    low: float,
    high: float,
    n_threads: int,
) -> Sweep:
    """Judge every ranking between two crossings: the kernel of a metric that has none of its own."""
    starts, alphas, steps = np.empty(len(groups)), [np.empty(0)], [np.empty(0)]
    for query, rows in enumerate(groups):
        crossings = [np.array([low])]
        values = []
        for beyond, above in _rankings(s[rows], t[rows], labels[rows], low, high):
            crossings.append(beyond)
            values.append(_judged(metric, labels[rows], above, n_threads))
        of_query = np.concatenate(values)
        starts[query] = of_query[0]
        if not np.isnan(of_query[0]):
            alphas.append(np.concatenate(crossings)[2:])
            with np.errstate(invalid="ignore"):  # a metric that is infinite is told of by who looks at the sums
                steps.append(np.diff(of_query))
    return Sweep(starts, *_merged(np.concatenate(alphas), np.concatenate(steps)))


def _judged(metric: Metric, labels: Doubles, above: NDArray[np.int64], n_threads: int) -> Doubles:
    """Return the metric of several rankings of one query, a row each: how many documents are above every one."""
    n_rankings, n_documents = above.shape
    ranking = Ranking.of(-above.ravel(), QueryGroups.of_sizes(np.full(n_rankings, n_documents)), n_jobs=n_threads)
    return metric.per_query_with_empty(np.tile(labels, n_rankings), ranking, n_jobs=n_threads)


def _rankings(
    s: Doubles, t: Doubles, labels: Doubles, low: float, high: float
) -> Iterator[tuple[Doubles, NDArray[np.int64]]]:
    """Yield alphas and, a row each, how many documents are above every one beyond it; the first alpha is `low`.

    Only those alphas are told at which documents of different labels cross: nothing else can change a metric.
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
    starts = np.flatnonzero(np.diff(crossing, prepend=-np.inf))  # of the crossings at one alpha
    for first in range(0, len(starts), block):
        ends = np.append(starts, len(crossing))[first + 1 : first + block + 1]
        events = np.arange(starts[first], ends[-1])
        place = np.searchsorted(ends, events, side="right")
        moved = np.zeros((len(ends), n), dtype=np.int64)
        np.subtract.at(moved, (place, riser[events]), 1)
        np.add.at(moved, (place, faller[events]), 1)
        rankings = above + np.cumsum(moved, axis=0)
        above = rankings[-1]
        matters = np.bincount(place, labels[riser[events]] != labels[faller[events]]) > 0
        yield crossing[starts[first : first + block]][matters], rankings[matters]


def _merged(alphas: Doubles, steps: Doubles) -> tuple[Doubles, Doubles]:
    """Return where the sum over queries changes, and its change since the start."""
    order = np.lexsort((steps, alphas))  # by step too, so that the order of queries does not matter
    alphas, changes = alphas[order], np.cumsum(steps[order])
    last = np.append(alphas[1:] != alphas[:-1], True)[: len(alphas)]
    alphas, changes = alphas[last], changes[last]
    moved = np.diff(changes, prepend=0.0) != 0.0
    return alphas[moved], changes[moved]
