"""Which documents a round looks at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.data.groups import QueryGroups


# So many values, evenly spread, tell well enough what share of them lies where.
KNOWN_SIZES = 20_000


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows that were drawn, and how many each of them stands for; none: one."""

    rows: NDArray[np.uint32]
    weights: Doubles = field(default_factory=lambda: np.zeros(0))


def all_rows(n_rows: int) -> Sample:
    """Draw every document."""
    return Sample(np.arange(n_rows, dtype=np.uint32))


def draw_documents(n_rows: int, fraction: float, random: np.random.Generator) -> Sample:
    """Draw single documents, all with the same chance."""
    return _take(random.random(n_rows) < fraction)


def draw_queries(groups: QueryGroups, fraction: float, random: np.random.Generator) -> Sample:
    """Draw whole queries, all with the same chance."""
    return _take((random.random(len(groups)) < fraction)[groups.query_of_row])


def draw_by_size(
    values: Sequence[Doubles], fraction: float, random: np.random.Generator, *, n_threads: int = 1
) -> Sample:
    """Draw documents in proportion to the size of their values, and weigh each by one over its chance.

    Sums of the values keep their expectations with the least variance of all ways to draw so many (minimal
    variance sampling, Ibragimov & Gusev 2019): p = min(1, size / mu), where the size is the square root of the
    sum of squares over the arrays of values.
    """
    n_rows = len(values[0])
    known = [one[:: max(1, n_rows // KNOWN_SIZES)] for one in values]
    mu = _threshold(np.linalg.norm(known, axis=0), fraction * len(known[0]))
    rows, weights = _native.draw_by_size(values, mu, int(random.integers(2**63)), n_threads)
    return Sample(rows, weights) if len(rows) else all_rows(n_rows)


def split_queries(data: RankingData, share: float, random: np.random.Generator) -> tuple[RankingData, RankingData]:
    """Return the data without a share of its queries, drawn, and those; of a single query, all of it twice.

    Queries are drawn in canonical order: neither the order of rows nor the names of queries change what is drawn.
    """
    n_queries = len(data.groups)
    if n_queries == 1:
        return data, data
    drawn = _canonical_queries(data)[random.permutation(n_queries)]
    n_part = min(n_queries - 1, max(1, round(share * n_queries)))
    return data.take_queries(drawn[n_part:]), data.take_queries(drawn[:n_part])


def bag_queries(data: RankingData, random: np.random.Generator) -> tuple[RankingData, Doubles, RankingData]:
    """Return the queries of a bag, how often each document's was drawn, and the queries that were not.

    As many queries as there are, are drawn with replacement, in canonical order as above; again where none is left
    out. Of a single query, all of it twice.
    """
    n_queries = len(data.groups)
    if n_queries == 1:
        return data, np.ones(len(data)), data
    times = np.ones(n_queries, dtype=np.int64)
    while times.all():
        drawn = _canonical_queries(data)[random.integers(0, n_queries, n_queries)]
        times = np.bincount(drawn, minlength=n_queries)
    of_row = times[data.groups.query_of_row]
    left_out = data.take_queries(np.flatnonzero(times == 0))
    return data.take_queries(np.flatnonzero(times)), of_row[of_row > 0].astype(np.float64), left_out


def _canonical_queries(data: RankingData) -> NDArray[np.int64]:
    """Return the numbers of the queries in an order that depends on what they hold alone."""
    of_row = data.groups.query_of_row[data.canonical_rows]
    return of_row[np.sort(np.unique(of_row, return_index=True)[1])]


def _take(drawn: NDArray[np.bool_]) -> Sample:
    if not drawn.any():
        drawn = np.ones_like(drawn)  # a round must look at something
    return Sample(np.flatnonzero(drawn).astype(np.uint32))


def _threshold(size: Doubles, wanted: float) -> float:
    """Return mu such that the sum of min(1, size / mu) is as wanted."""
    smallest = float(np.finfo(np.float64).tiny)
    ordered = np.sort(size)
    below = np.cumsum(ordered)
    n_above = len(size) - 1 - np.arange(len(size))
    expected = n_above + below / np.maximum(ordered, smallest)  # if mu were the size of each in turn; it falls
    place = int(np.searchsorted(-expected, -wanted))  # those from here on are drawn for certain
    if place == 0:
        return smallest
    lowest_certain = float(ordered[place]) if place < len(size) else np.inf
    shared, left = float(below[place - 1]), wanted - (len(size) - place)
    mu = shared / left if shared < left * lowest_certain else lowest_certain  # above it only by rounding
    return max(mu, smallest)
