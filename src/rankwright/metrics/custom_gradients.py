"""Gradients and sweeps of a custom metric: from a closed form if trials find one, else from tried rankings."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.metrics.custom_closed_forms import (
    LABELS_AT_ONCE,
    are_equal,
    check_batch_form,
    find_depth,
    find_sums,
    swapped,
    values_of,
)
from rankwright.metrics.lambdas import GivenLambdas, NativeLambdas, scaled_gains
from rankwright.metrics.protocols import Sweep
from rankwright.metrics.sweep import sweep_by_rankings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.metrics.custom_closed_forms import DocumentSum
    from rankwright.metrics.protocols import LambdaKernel, Pull, RankingMetric, Sums, SweepKernel

# Without a closed form and without `of_rankings`, a round tries at most so many swaps, and a search for the best
# weight so many rankings, spread evenly over queries, but never fewer than the second number in a query that has
# as many. Counts, not seconds, decide, so that models do not depend on the machine.
SWAPS_OF_A_ROUND = 20_000
SWAPS_OF_A_QUERY = 50

QUERIES_CHECKED = 4  # in every round, by SWAPS_CHECKED swaps each
SWAPS_CHECKED = 4
PULLS_PER_CHECK = 16  # training by one query at a time checks about one step in so many

FARTHEST_CHECKED = 1e3  # the largest weight for which a sweep is checked
HIGHEST_DISCOUNT = 1e280  # above it, sums over queries may overflow


def custom_lambda_kernel(metric: RankingMetric, labels: Doubles, groups: QueryGroups) -> LambdaKernel:
    """Return the kernel of a metric that has `of_ranking` and maybe `of_rankings`."""
    if not len(groups):
        return GivenLambdas(TriedSwaps(metric, None, None).deltas)
    if metric.has_batch_form:
        check_batch_form(metric, labels[groups.rows[: groups.offsets[1]]])
    most = None if metric.has_batch_form else _most_of_a_query(groups)
    sums = find_sums(metric, labels, groups)
    if sums is not None:
        return SumLambdas(metric, sums, labels, groups, most)
    return GivenLambdas(TriedSwaps(metric, most, find_depth(metric, labels, groups)).deltas)


class TriedSwaps:
    """Swap deltas found by evaluating the metric with the two documents swapped.

    Only swaps of documents with different labels, one of them above `truncation`, are tried. If they are more than
    `most`, every k-th of them is tried, from a random start, and its delta counts k times: the expectation of the
    sums over pairs is exact. The start is a hash of labels and scores, so that equal rankings have equal deltas.

    Parameters
    ----------
    metric
        The metric to evaluate.
    most
        Maximum number of swaps of one ranking to try; None: all.
    depth
        Number of first ranks that the metric depends on alone, as far as is known; None: all ranks. A document
        at one of these ranks is then swapped with one lower document of each label only.
    """

    def __init__(self, metric: RankingMetric, most: int | None, depth: int | None) -> None:
        self._metric, self._most, self._depth = metric, most, depth
        self._has_warned = False

    def deltas(self, labels: Doubles, scores: Doubles, truncation: int | None) -> Doubles:
        """Return the absolute change of the value by upper rank, down to `truncation`, and by lower rank."""
        n = len(labels)
        deltas = np.zeros((min(truncation or n, n), n))
        value = values_of(self._metric, labels[None].copy())[0]
        if np.isnan(value):
            return deltas
        seed = crc32(scores.tobytes(), crc32(labels.tobytes()))
        self._check_depth(labels, value, seed)
        depth = n if self._depth is None else min(self._depth, n)
        like = _first_alike(labels, depth)
        counts = np.triu(labels[: min(len(deltas), depth), None] != labels, 1) & (like == np.arange(n))
        upper, lower = np.nonzero(counts)
        step = 1.0
        if self._most is not None and len(upper) > self._most:
            self._warn(len(upper))
            step = len(upper) / self._most
            start = np.random.default_rng(seed).random()
            tried = ((start + np.arange(self._most)) * step).astype(np.int64)
            upper, lower = upper[tried], lower[tried]
        changes = np.abs(values_of_swaps(self._metric, labels, upper, lower) - value)
        if not np.isfinite(changes).all():
            raise InputError(f"{self._metric} must be a finite number for every ranking, but for some it is not.")
        deltas[upper, lower] = step * changes
        return deltas[:, like]

    def _check_depth(self, labels: Doubles, value: float, seed: int) -> None:
        """Drop the depth, with a warning, if the order of the documents below it changes the value."""
        if self._depth is None or self._depth >= len(labels):
            return
        below = np.random.default_rng(seed).permutation(labels[self._depth :])
        reordered = np.append(labels[: self._depth], below)
        if not are_equal(values_of(self._metric, reordered[None]), np.array([value])):
            warnings.warn(
                f"{self._metric} seemed to depend on the first {self._depth} ranks alone when it was tried, but "
                "it does not; from here on all ranks count.",
                stacklevel=2,
            )
            self._depth = None

    def _warn(self, n_swaps: int) -> None:
        if self._has_warned:
            return
        self._has_warned = True
        warnings.warn(
            f"{self._metric} is slow to train on: it is not a sum over documents, so swaps must be tried. "
            f"Each round tries {self._most:,} per query, not all {n_swaps:,} as in the first long one. Define "
            "of_rankings or swap_deltas to try all of them fast.",
            stacklevel=2,
        )


class SumCheck:
    """Compares a metric with the sums over documents that trials have found, for rankings as they come up.

    At the first difference it warns; `instead` says what happens from then on.
    """

    def __init__(self, metric: RankingMetric, sums: Sequence[DocumentSum], instead: str) -> None:
        self._metric, self._sums, self._instead = metric, sums, instead
        self._holds = True

    def of_some(self, offsets: Any, order: Any, labels: Doubles, random: np.random.Generator) -> bool:
        """Check a few queries of a ranking; return whether the sums have always been right."""
        for query in random.integers(len(self._sums), size=QUERIES_CHECKED):
            self.of_one(query, labels[order[offsets[query] : offsets[query + 1]]], random)
        return self._holds

    def of_one(self, query: int, ranked: Doubles, random: np.random.Generator) -> bool:
        """Check the labels of one ranking, and with random pairs of its documents swapped."""
        pairs = random.integers(len(ranked), size=(2, SWAPS_CHECKED))
        rankings = np.vstack([ranked, swapped(ranked, *pairs)])
        if self._holds and not self._sums[query].agrees(self._metric, rankings):
            self._holds = False
            warnings.warn(
                f"{self._metric} seemed to be a sum over documents when it was tried, but it is not; from here on "
                f"{self._instead}.",
                stacklevel=2,
            )
        return self._holds


class SumLambdas:
    """The kernel of a metric that is a sum over documents as far as trials can tell; checked while in use."""

    def __init__(
        self,
        metric: RankingMetric,
        sums: Sequence[DocumentSum],
        labels: Doubles,
        groups: QueryGroups,
        most: int | None,
    ) -> None:
        self._check = SumCheck(metric, sums, "swaps of documents are tried one by one")
        self._by_sum = _native_kernel(sums, labels, groups)
        self._by_trial = GivenLambdas(TriedSwaps(metric, most, None).deltas)

    def sums(self, *, offsets: Any, order: Any, scores: Doubles, labels: Doubles, **options: Any) -> Sums:
        """Return gradient and hessian, in row order."""
        random = np.random.default_rng(crc32(scores.tobytes()))
        kernel = self._by_sum if self._check.of_some(offsets, order, labels, random) else self._by_trial
        return kernel.sums(offsets=offsets, order=order, scores=scores, labels=labels, **options)

    def pull(self, *, offsets: Any, labels: Doubles, **options: Any) -> Pull:
        """Return a function of a query's number and its documents' scores that gives their gradients."""
        by_sum, by_trial = (
            kernel.pull(offsets=offsets, labels=labels, **options) for kernel in (self._by_sum, self._by_trial)
        )
        holds = True

        def of_query(query: int, scores: Doubles) -> Doubles:
            nonlocal holds
            seed = crc32(scores.tobytes())
            if holds and seed % PULLS_PER_CHECK == 0:
                ranking = Ranking.of(scores, QueryGroups.of_one(len(scores)), n_jobs=1)
                ranked = labels[offsets[query] : offsets[query + 1]][ranking.order]
                holds = self._check.of_one(query, ranked, np.random.default_rng(seed))
            return (by_sum if holds else by_trial)(query, scores)

        return of_query


def custom_sweep_kernel(metric: RankingMetric, labels: Doubles, groups: QueryGroups) -> SweepKernel:
    """Return the sweep of a metric that has `of_ranking` and maybe `of_rankings`."""
    most = None if metric.has_batch_form or metric.has_kernel else _most_of_a_query(groups)
    by_rankings = partial(sweep_by_rankings, metric, labels, groups, most=most)
    sums = find_sums(metric, labels, groups) if len(groups) else None
    if sums is None or max(np.abs(form.discounts).max() for form in sums) > HIGHEST_DISCOUNT:
        return by_rankings
    return SumSweep(metric, sums, labels, groups, by_rankings)


class SumSweep:
    """The sweep of a metric that is a sum over documents as far as trials can tell; checked while in use."""

    def __init__(
        self,
        metric: RankingMetric,
        sums: Sequence[DocumentSum],
        labels: Doubles,
        groups: QueryGroups,
        by_rankings: SweepKernel,
    ) -> None:
        self._labels, self._groups, self._by_rankings = labels, groups, by_rankings
        self._check = SumCheck(metric, sums, "rankings are tried one by one")
        self._constants = np.array([form.constant for form in sums])
        gains, discounts = _rows_of_sums(sums, labels, groups)
        rows, average_ties = metric.rows_by_ties(labels, groups)
        self._arguments: dict[str, Any] = {
            "offsets": groups.offsets,
            "rows": rows,
            "average_ties": average_ties,
            "gains": gains,
            "rank_weights": discounts,
        }

    def __call__(self, s: Doubles, t: Doubles, *, low: float, high: float, n_threads: int) -> Sweep:
        """Return the sweep of s + alpha t."""
        random = np.random.default_rng(crc32(t.tobytes(), crc32(s.tobytes())))
        alpha = random.uniform(max(low, -FARTHEST_CHECKED), min(high, FARTHEST_CHECKED))
        ranking = Ranking.of(s + alpha * t, self._groups, n_jobs=n_threads)
        if not self._check.of_some(ranking.groups.offsets, ranking.order, self._labels, random):
            return self._by_rankings(s, t, low=low, high=high, n_threads=n_threads)
        starts, alphas, changes = _native.sweep_gains(
            s=s, t=t, low=low, high=high, n_threads=n_threads, **self._arguments
        )
        return Sweep(starts + self._constants, alphas, changes)


def values_of_swaps(metric: RankingMetric, labels: Doubles, upper: Integers, lower: Integers) -> Doubles:
    """Return the value of the ranking with each of these pairs of ranks swapped."""
    block = max(1, LABELS_AT_ONCE // max(1, len(labels)))
    parts = [slice(first, first + block) for first in range(0, len(upper), block)]
    values = [values_of(metric, swapped(labels, upper[part], lower[part])) for part in parts]
    return np.concatenate([np.empty(0), *values])


def _native_kernel(sums: Sequence[DocumentSum], labels: Doubles, groups: QueryGroups) -> NativeLambdas:
    gains, discounts = _rows_of_sums(sums, labels, groups)
    starts = groups.offsets[:-1]
    lowest = np.minimum.reduceat(discounts, starts)
    spans = np.maximum.reduceat(discounts, starts) - lowest
    shifted = discounts - np.repeat(lowest, groups.sizes)
    scaled, ranges = scaled_gains(gains, groups)
    own = {
        "gains": scaled,
        "discounts": shifted / np.repeat(np.where(spans > 0, spans, 1.0), groups.sizes),
        "query_factors": ranges * spans,
    }
    return NativeLambdas("linear_by_query", own)


def _rows_of_sums(sums: Sequence[DocumentSum], labels: Doubles, groups: QueryGroups) -> tuple[Doubles, Doubles]:
    """Return the gain of every row, and the discount of every rank of every query."""
    gains = np.empty(len(labels))
    for rows, form in zip(groups, sums, strict=True):
        gains[rows] = form.gains_of(labels[rows])
    return gains, np.concatenate([form.discounts for form in sums])


def _most_of_a_query(groups: QueryGroups) -> int:
    """Return the maximum number of calls of `of_ranking` for each query."""
    return max(SWAPS_OF_A_QUERY, SWAPS_OF_A_ROUND // max(1, len(groups)))


def _first_alike(labels: Doubles, depth: int) -> Integers:
    """Return each rank's first rank from `depth` on that has the same label; above `depth`, the rank itself."""
    like = np.arange(len(labels))
    _, first, level = np.unique(labels[depth:], return_index=True, return_inverse=True)
    like[depth:] = depth + first[level]
    return like
