"""Finds the closed form of a custom metric by trials: a sum over documents, or the first ranks alone.

All trials are reorderings of a query's own labels, so a metric may depend on the labels as NDCG does, through the
ideal ranking. Trials cannot prove a form, so training checks it again while using it.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.groups import QueryGroups
    from rankwright.metrics.protocols import RankingMetric

SAME = 1e-9  # values that differ by less than this part of the largest value are equal
RANDOM_TRIALS = 8  # rankings in random order that a form must hold for, besides those of `probe_rankings`
LEVELS_TRIED = 8  # labels that stand first, and last, in one of these rankings each
QUERIES_PROBED = 8  # for the depth; a depth found is then checked on all queries
LABELS_AT_ONCE = 2**18  # of the rankings that `of_rankings` gets in one call: few enough for the processor's cache
REMEMBERED = 4096  # sums found for queries with tied scores, which every round evaluates again


@dataclass(frozen=True, eq=False)
class DocumentSum:
    """A metric's value for any order of one query's labels: constant + sum of gain(label) x discount(rank).

    Parameters
    ----------
    levels, gains
        The distinct labels, ascending, and the gain of each.
    discounts
        One per rank; 0 at the last rank.
    constant
        NaN if the query is empty.
    """

    levels: Doubles
    gains: Doubles
    discounts: Doubles
    constant: float

    def gains_of(self, labels: Doubles) -> Doubles:
        """Return the gain of every label."""
        return np.asarray(self.gains[np.searchsorted(self.levels, labels)])

    def values(self, rankings: Doubles) -> Doubles:
        """Return the value of each ranking, given as a row of labels."""
        return np.asarray(self.constant + self.gains_of(rankings) @ self.discounts)

    def expected(self, labels: Doubles, run_starts: Integers) -> float:
        """Return the mean over all orders of tied documents, whose runs in this ranking start at these ranks."""
        sizes = np.diff(np.append(run_starts, len(labels)))
        means = np.add.reduceat(self.gains_of(labels), run_starts) / sizes
        return float(self.constant + np.repeat(means, sizes) @ self.discounts)

    def agrees(self, metric: RankingMetric, rankings: Doubles) -> bool:
        """Return whether the metric has these values."""
        return are_equal(self.values(rankings), values_of(metric, rankings))


def find_sums(metric: RankingMetric, labels: Doubles, groups: QueryGroups) -> list[DocumentSum] | None:
    """Return the metric of each query as a sum over documents; None if it is not a sum in some query."""
    known: dict[bytes, DocumentSum] = {}
    by_query: list[DocumentSum | None] = [None] * len(groups)
    longest: DocumentSum | None = None
    for query in np.argsort(-groups.sizes, kind="stable"):
        ordered = np.sort(labels[groups.rows[groups.offsets[query] : groups.offsets[query + 1]]])
        form = known.get(ordered.tobytes()) or find_sum(metric, ordered, longest)
        if form is None:
            return None
        if longest is None or not longest.discounts.any():
            longest = form
        by_query[query] = known[ordered.tobytes()] = form
    return [form for form in by_query if form is not None]


def find_sum(metric: RankingMetric, labels: Doubles, like: DocumentSum | None = None) -> DocumentSum | None:
    """Return the metric of a query with these labels as a sum over documents; None if it is not one.

    It takes about one evaluation per rank; few if the discounts of `like`, a longer query, prove to be right.
    """
    rankings = probe_rankings(labels)
    for form in _candidates(metric, labels, like):
        if form.agrees(metric, rankings):
            return form
    return None


@lru_cache(maxsize=REMEMBERED)
def remembered_sum(metric: RankingMetric, ordered_labels: bytes) -> DocumentSum | None:
    """Return `find_sum` of the labels with these bytes."""
    return find_sum(metric, np.frombuffer(ordered_labels))


def find_depth(metric: RankingMetric, labels: Doubles, groups: QueryGroups) -> int | None:
    """Return a number of first ranks that the metric depends on alone, in every query; None if there is none."""
    by_size = np.argsort(-groups.sizes, kind="stable")
    rows = list(groups)
    trials = [probe_rankings(labels[rows[query]]) for query in by_size]
    depth = 0
    for rankings in trials[:: max(1, len(trials) // QUERIES_PROBED)]:
        ranks = range(rankings.shape[1])
        depth = max(depth, bisect_left(ranks, True, key=lambda rank: _ignores(metric, rankings, rank)))
        if depth >= trials[0].shape[1] - 1:
            return None
    return depth if all(_ignores(metric, rankings[::4], depth) for rankings in trials) else None


def values_of(metric: RankingMetric, rankings: Doubles) -> Doubles:
    """Return `of_rankings`, checked; a custom metric may return anything."""
    if not len(rankings):
        return np.empty(0)
    values = np.asarray(metric.of_rankings(rankings), dtype=np.float64)
    if values.shape != (len(rankings),):
        raise InputError(
            f"{metric}: of_rankings must return one value per ranking: {len(rankings)} of them, not an array of "
            f"shape {values.shape}."
        )
    return values


def check_batch_form(metric: RankingMetric, labels: Doubles) -> None:
    """Refuse a metric whose `of_rankings` differs from its `of_ranking`."""
    rankings = probe_rankings(labels)
    together = values_of(metric, rankings.copy())
    apart = np.array([metric.of_ranking(ranking.copy()) for ranking in rankings], dtype=np.float64)
    if not are_equal(together, apart):
        differs = int(np.argmax(~(np.abs(together - apart) <= SAME * np.abs(apart))))
        raise InputError(
            f"{metric}: of_rankings and of_ranking must agree, but for one ranking they return "
            f"{together[differs]:g} and {apart[differs]:g}."
        )


def are_equal(first: Doubles, second: Doubles) -> bool:
    """Return whether values are equal up to rounding; NaN equals NaN."""
    scale = max(np.abs(values).max(initial=0.0, where=np.isfinite(values)) for values in (first, second))
    return np.allclose(first, second, rtol=0.0, atol=SAME * scale, equal_nan=True)


def probe_rankings(labels: Doubles) -> Doubles:
    """Return orders of the labels that distinguish forms: sorted, random, and with one label first or last."""
    random = np.random.default_rng(0)
    ascending = np.sort(labels)
    levels = np.unique(labels)
    levels = levels[np.unique(np.linspace(0, len(levels) - 1, LEVELS_TRIED).astype(np.int64))]
    rows = [ascending, ascending[::-1], *random.permuted(np.tile(ascending, (RANDOM_TRIALS, 1)), axis=1)]
    for level in levels:
        rest = random.permutation(ascending[ascending != level])
        same = np.full(len(labels) - len(rest), level)
        rows += [np.append(same, rest), np.append(rest, same)]
    return np.array(rows)


def swapped(labels: Doubles, upper: Integers, lower: Integers) -> Doubles:
    """Return one ranking per pair of ranks: the labels with those of the two ranks swapped."""
    rankings, row = np.tile(labels, (len(upper), 1)), np.arange(len(upper))
    rankings[row, upper], rankings[row, lower] = labels[lower], labels[upper]
    return rankings


def _candidates(metric: RankingMetric, labels: Doubles, like: DocumentSum | None) -> Iterator[DocumentSum]:
    """Yield the sums that the metric may be: first with the discounts of `like`, then with its own."""
    ascending = np.sort(labels)
    levels = np.unique(ascending)
    n = len(ascending)
    value = float(values_of(metric, ascending[None])[0])
    nothing = DocumentSum(levels, np.zeros(len(levels)), np.zeros(n), value)
    if len(levels) < 2 or not np.isfinite(value):
        yield nothing
        return
    # Each label at the last rank, with the lowest at the first, and the two swapped.
    first_ranks = np.searchsorted(ascending, levels[1:])
    at_end = swapped(ascending, first_ranks, np.full(len(first_ranks), n - 1))
    at_front = at_end.copy()
    at_front[:, [0, -1]] = at_end[:, [-1, 0]]
    ends = values_of(metric, at_end)
    changes = values_of(metric, at_front) - ends
    widest = int(np.argmax(np.abs(changes)))
    span = changes[widest]
    if not np.isfinite(changes).all() or span == 0.0:
        yield nothing
        return
    gains = np.append(0.0, changes / span)
    if like is not None and like.discounts[0] != like.discounts[n - 1]:
        shape = like.discounts[:n] - like.discounts[n - 1]
        yield _with_discounts(levels, gains, span / shape[0] * shape, at_end[widest], ends[widest])
    own = _discounts(metric, at_end[widest], ends[widest], gains[np.searchsorted(levels, at_end[widest])], span)
    yield _with_discounts(levels, gains, own, at_end[widest], ends[widest])


def _discounts(metric: RankingMetric, ranking: Doubles, value: float, gains: Doubles, span: float) -> Doubles:
    """Return the discounts of the ranks, 0 for the last, from one swap of each rank with the first or the last.

    The first document has gain 0 and the last one gain 1, so at least one of the two swaps changes the value.
    """
    n = len(ranking)
    ranks = np.arange(1, n - 1)
    with_first = np.abs(gains[ranks]) >= 0.5
    partner = np.where(with_first, 0, n - 1)
    changes = values_of(metric, swapped(ranking, ranks, partner)) - value
    inner = np.where(
        with_first,
        span - changes / np.where(with_first, gains[ranks], 1.0),
        changes / np.where(with_first, 1.0, 1.0 - gains[ranks]),
    )
    discounts = np.concatenate([[span], inner, [0.0]])
    # Rounding must not make ranks below a cut-off differ.
    discounts[np.abs(discounts) <= 1e-12 * np.abs(discounts).max()] = 0.0
    return discounts


def _with_discounts(
    levels: Doubles, gains: Doubles, discounts: Doubles, ranking: Doubles, value: float
) -> DocumentSum:
    """Return the sum that has this value for this ranking."""
    without = DocumentSum(levels, gains, discounts, 0.0)
    return DocumentSum(levels, gains, discounts, float(value - without.values(ranking[None])[0]))


def _ignores(metric: RankingMetric, rankings: Doubles, depth: int) -> bool:
    """Return whether the order of the documents from rank `depth`, from 0, on changes no value."""
    if depth >= rankings.shape[1] - 1:
        return True
    rising, falling = rankings.copy(), rankings.copy()
    rising[:, depth:] = np.sort(rankings[:, depth:], axis=1)
    falling[:, depth:] = rising[:, depth:][:, ::-1]
    values = values_of(metric, rankings)
    return all(are_equal(values_of(metric, reordered), values) for reordered in (rising, falling))
