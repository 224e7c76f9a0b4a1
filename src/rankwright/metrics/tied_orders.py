"""The expected value of a metric over all orders of documents with equal scores, for metrics without a kernel."""

from __future__ import annotations

from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np

from rankwright.metrics.custom_closed_forms import LABELS_AT_ONCE, remembered_sum, values_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.metrics.custom_closed_forms import DocumentSum
    from rankwright.metrics.protocols import RankingMetric

# The value is the mean over all orders of tied labels if there are at most this many. Otherwise it is exact for a
# sum over documents, and for other metrics a mean over random orders: this many with a batch form, fewer without.
ORDERS_OF_TIES = 720
ORDERS_ONE_BY_ONE = 120

ORDERS_CHECKED = 4  # of those of a sum over documents


def expected_value(metric: RankingMetric, labels: Doubles, run_starts: Integers) -> float:
    """Return the mean over all orders of tied documents, whose runs in this ranking start at these ranks."""
    ends = np.append(run_starts[1:], len(labels))
    runs = [slice(*ends_of_run) for ends_of_run in zip(run_starts, ends, strict=True)]
    runs = [run for run in runs if (labels[run] != labels[run.start]).any()]
    n_orders = _n_orders(labels, runs)
    if n_orders <= ORDERS_OF_TIES:
        rankings = _all_orders(labels, runs, n_orders)
    else:
        form = _sum_of(metric, labels)
        if form is not None and all(
            form.agrees(metric, block) for block in _random_orders(labels, runs, ORDERS_CHECKED)
        ):
            return form.expected(labels, run_starts)
        n_orders = ORDERS_OF_TIES if metric.has_batch_form else ORDERS_ONE_BY_ONE
        rankings = _random_orders(labels, runs, n_orders)
    return float(np.mean(np.concatenate([values_of(metric, block) for block in rankings])))


def _sum_of(metric: RankingMetric, labels: Doubles) -> DocumentSum | None:
    """Return the metric as a sum over documents; None if it is not one, or if it cannot be remembered."""
    try:
        hash(metric)
    except TypeError:
        return None
    return remembered_sum(metric, np.sort(labels).tobytes())


def _n_orders(labels: Doubles, runs: list[slice]) -> int:
    """Return the number of distinct orders, or a number that is too large to try all of them."""
    n_orders = 1
    for run in runs:
        if run.stop - run.start > ORDERS_OF_TIES:
            return ORDERS_OF_TIES + 1
        counts = np.unique(labels[run], return_counts=True)[1]
        n_orders *= prod(
            comb(int(left), int(count)) for left, count in zip(np.cumsum(counts), counts, strict=True)
        )
        if n_orders > ORDERS_OF_TIES:
            break
    return n_orders


def _all_orders(labels: Doubles, runs: list[slice], n_orders: int) -> Iterator[Doubles]:
    """Yield all rankings with the labels of each run in any order, in blocks."""
    orders = [_distinct_orders(labels[run]) for run in runs]
    for rankings, first in _blocks(labels, n_orders):
        number = np.arange(first, first + len(rankings))
        for run, of_run in zip(runs, orders, strict=True):
            number, index = np.divmod(number, len(of_run))
            rankings[:, run] = of_run[index]
        yield rankings


def _random_orders(labels: Doubles, runs: list[slice], n_orders: int) -> Iterator[Doubles]:
    """Yield random rankings, in blocks; every second one has the runs of the one before reversed.

    A document that stands high in one of the two stands low in the other, so the mean varies less. The seed is
    fixed so that equal rankings always get equal values.
    """
    random = np.random.default_rng(0)
    for rankings, _ in _blocks(labels, n_orders):
        for run in runs:
            drawn = random.permuted(rankings[::2, run], axis=1)
            rankings[::2, run], rankings[1::2, run] = drawn, drawn[: len(rankings) // 2, ::-1]
        yield rankings


def _blocks(labels: Doubles, n_rankings: int) -> Iterator[tuple[Doubles, int]]:
    """Yield arrays with one copy of the labels per ranking, and the number of their first ranking."""
    size = max(1, LABELS_AT_ONCE // len(labels))
    for first in range(0, n_rankings, size):
        yield np.tile(labels, (min(size, n_rankings - first), 1)), first


def _distinct_orders(labels: Doubles) -> Doubles:
    """Return all distinct orders of the labels, one per row."""
    levels, counts = np.unique(labels, return_counts=True)
    orders = [np.full(len(labels), levels[0])]
    for level, count in zip(levels[1:], counts[1:], strict=True):
        orders = [
            _with(order, ranks, level)
            for order in orders
            for ranks in combinations(np.flatnonzero(order == levels[0]), count)
        ]
    return np.array(orders)


def _with(order: Doubles, ranks: tuple[int, ...], level: float) -> Doubles:
    changed = order.copy()
    changed[list(ranks)] = level
    return changed
