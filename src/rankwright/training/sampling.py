"""Random samples of documents and queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.data.splitting import deal_folds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups
    from rankwright.training.training_set import TrainingSet


# The threshold is estimated from this many values, evenly spaced.
KNOWN_SIZES = 20_000


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows that were drawn, and their weights; without weights each counts 1."""

    rows: NDArray[np.uint32]
    weights: Doubles = field(default_factory=lambda: np.zeros(0))


def all_rows(n_rows: int) -> Sample:
    """Take every document."""
    return Sample(np.arange(n_rows, dtype=np.uint32))


def draw_documents(n_rows: int, fraction: float, random: np.random.Generator) -> Sample:
    """Draw single documents with equal probability."""
    return _take(random.random(n_rows) < fraction)


def draw_queries(groups: QueryGroups, fraction: float, random: np.random.Generator) -> Sample:
    """Draw whole queries with equal probability."""
    return _take((random.random(len(groups)) < fraction)[groups.query_of_row])


def draw_by_size(
    values: Sequence[Doubles], fraction: float, random: np.random.Generator, *, n_threads: int = 1
) -> Sample:
    """Draw documents with probability proportional to the size of their values; weights are the inverse.

    Sums of the values keep their expectations, with the least variance for this number of documents (minimal
    variance sampling, Ibragimov & Gusev 2019): p = min(1, size / mu), where the size is the square root of the sum
    of squares over the arrays of values.
    """
    n_rows = len(values[0])
    known = [column[:: max(1, n_rows // KNOWN_SIZES)] for column in values]
    mu = _threshold(np.linalg.norm(known, axis=0), fraction * len(known[0]))
    rows, weights = _native.draw_by_size(values, mu, int(random.integers(2**63)), n_threads)
    return Sample(rows, weights) if len(rows) else all_rows(n_rows)


def hold_out_queries(
    train: TrainingSet, share: float, random: np.random.Generator
) -> tuple[TrainingSet, TrainingSet]:
    """Return the training set without a random fraction of its queries, and these queries.

    Queries are drawn in canonical order: neither the order of rows nor the names of queries change the split. If
    there is only one query, both parts are all of it.
    """
    n_queries = len(train.canonical_queries)
    if n_queries == 1:
        return train, train
    drawn = train.canonical_queries[random.permutation(n_queries)]
    n_part = min(n_queries - 1, max(1, round(share * n_queries)))
    return train.take_queries(drawn[n_part:]), train.take_queries(drawn[:n_part])


def fold_queries(
    train: TrainingSet, n_folds: int, random: np.random.Generator
) -> list[tuple[TrainingSet, TrainingSet]]:
    """Return, for each of `n_folds` random folds of the queries, the training set without the fold, and the fold.

    Queries are drawn in canonical order as above; there must be at least `n_folds` of them.
    """
    fold_of_query = deal_folds(train.canonical_queries, n_folds, random)
    return [
        (train.take_queries(fold_of_query != fold), train.take_queries(fold_of_query == fold))
        for fold in range(n_folds)
    ]


def bag_queries(train: TrainingSet, random: np.random.Generator) -> tuple[TrainingSet, Doubles, TrainingSet]:
    """Return a bootstrap sample: the drawn queries, the number of draws of each document, and the other queries.

    From n queries, n are drawn with replacement, in canonical order as above; the draw is repeated if no query is
    left out. The numbers of draws are in canonical order too. If there is only one query, both parts are all of
    it.
    """
    n_queries = len(train.canonical_queries)
    if n_queries == 1:
        return train, np.ones(len(train)), train
    times = np.ones(n_queries, dtype=np.int64)
    while times.all():
        drawn = train.canonical_queries[random.integers(0, n_queries, n_queries)]
        times = np.bincount(drawn, minlength=n_queries)
    bag, of_row = train.take_queries(times > 0), times[train.data.groups.query_of_row]
    of_bag = of_row[of_row > 0][bag.canonical_rows]
    return bag, of_bag.astype(np.float64), train.take_queries(times == 0)


def _take(drawn: NDArray[np.bool_]) -> Sample:
    if not drawn.any():
        drawn = np.ones_like(drawn)  # a round needs at least one document
    return Sample(np.flatnonzero(drawn).astype(np.uint32))


def _threshold(size: Doubles, wanted: float) -> float:
    """Return mu such that the sum of min(1, size / mu) is `wanted`."""
    smallest = float(np.finfo(np.float64).tiny)
    ordered = np.sort(size)
    below = np.cumsum(ordered)
    n_above = len(size) - 1 - np.arange(len(size))
    expected = n_above + below / np.maximum(ordered, smallest)  # the sum for mu = each size; descending
    first = int(np.searchsorted(-expected, -wanted))  # sizes from this index on have probability 1
    if first == 0:
        return smallest
    lowest_certain = float(ordered[first]) if first < len(size) else np.inf
    shared, left = float(below[first - 1]), wanted - (len(size) - first)
    mu = shared / left if shared < left * lowest_certain else lowest_certain  # exceeds it only by rounding
    return max(mu, smallest)
