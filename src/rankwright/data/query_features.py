"""Features computed within the query: a value relative to those of the query's other documents."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from rankwright.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rankwright.arrays import Doubles, Floats
    from rankwright.data.groups import QueryGroups

ROWS_AT_ONCE = 4096  # maximum number of rows of the queries in one batch


class QueryFeature(Enum):
    """A column computed from another one within each query; a missing value stays missing."""

    ZSCORE = "zscore"
    """Deviation from the query's mean in standard deviations; 0 if all values are equal."""
    RANK = "rank"
    """The fraction of the query's other values that are lower, ties counting half; 1/2 for a single value."""
    MINMAX = "minmax"
    """Scaled to 0 for the query's lowest and 1 for its highest value; 0 if all values are equal."""


def checked_query_features(names: Sequence[str]) -> tuple[QueryFeature, ...]:
    """Return the query features with these names."""
    known = [kind.value for kind in QueryFeature]
    listed = isinstance(names, list | tuple)
    if not listed or not all(name in known for name in names) or len(set(names)) < len(names):
        raise InputError(f"query_features must be a list of {', '.join(known)}, each at most once, not {names!r}.")
    return tuple(QueryFeature(name) for name in names)


def with_query_features(
    X: Floats, groups: QueryGroups, kinds: Sequence[QueryFeature], *, raw: bool = True
) -> Floats:
    """Return the features, if `raw`, followed by the columns of each kind."""
    n_features = X.shape[1]
    wide = np.empty((len(X), n_features * (raw + len(kinds))), dtype=np.float32)
    if raw:
        wide[:, :n_features] = X
    for rows in _batches(groups):
        own = X[rows].astype(np.float64)
        for place, kind in enumerate(kinds, start=raw):
            wide[rows, place * n_features : (place + 1) * n_features] = _MAKERS[kind](own)
    return wide


def standardised(scores: Doubles, groups: QueryGroups) -> Doubles:
    """Return the deviation of each score from its query's mean in standard deviations; 0 if all are equal."""
    values = np.empty(len(scores))
    for rows in _batches(groups):
        # Scaled to [0, 1] first, so that squares do not overflow.
        values[rows] = _zscores(_minmax(scores[rows][..., None]))[..., 0]
    return values


def _batches(groups: QueryGroups) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of all queries as matrices, each with queries of one size, one query per matrix row.

    Even many queries have few distinct sizes, so that numpy does the work. The functions below take the values of
    such queries as an array of queries x documents x features.
    """
    by_size = np.argsort(groups.sizes, kind="stable")
    for size, first, count in zip(
        *np.unique(groups.sizes[by_size], return_index=True, return_counts=True), strict=True
    ):
        n_queries = max(1, ROWS_AT_ONCE // int(size))
        for start in range(first, first + count, n_queries):
            queries = by_size[start : min(start + n_queries, first + count)]
            yield groups.rows[groups.offsets[queries][:, None] + np.arange(size)]


def _zscores(values: Doubles) -> Doubles:
    ordered = np.sort(values, axis=1)  # so that the sums do not depend on the order of documents
    known = ~np.isnan(ordered)
    count = np.maximum(1, known.sum(axis=1, keepdims=True))
    mean = np.where(known, ordered, 0.0).sum(axis=1, keepdims=True) / count
    spread = np.sqrt((np.where(known, ordered - mean, 0.0) ** 2).sum(axis=1, keepdims=True) / count)
    return np.asarray((values - mean) / np.where(spread > 0, spread, 1.0))


def _ranks(values: Doubles) -> Doubles:
    order = np.argsort(values, axis=1)  # NaN last
    ordered = np.take_along_axis(values, order, axis=1)
    known = (~np.isnan(values)).sum(axis=1, keepdims=True)
    place, end = np.arange(values.shape[1])[:, None], np.ones_like(values[:, :1], dtype=bool)
    differs = ordered[:, 1:] != ordered[:, :-1]
    low = np.maximum.accumulate(np.where(np.hstack([end, differs]), place, 0), axis=1)
    last = np.where(np.hstack([differs, end]), place + 1, values.shape[1])
    high = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]  # equal values have the places from low to high
    share = np.where(known > 1, (low + (high - low - 1) / 2) / np.maximum(1, known - 1), 0.5)
    ranks = np.empty_like(values)
    np.put_along_axis(ranks, order, np.where(np.isnan(ordered), np.nan, share), axis=1)
    return ranks


def _minmax(values: Doubles) -> Doubles:
    low = np.fmin.reduce(values, axis=1, keepdims=True)
    span = np.fmax.reduce(values, axis=1, keepdims=True) - low
    shares = (values - low) / np.where(span > 0, span, 1.0)
    # Adding 0.0 turns -0.0 into 0.0: which of 0.0 and -0.0 is the lowest depends on the order of documents.
    return np.asarray(shares + 0.0)


_MAKERS = {QueryFeature.ZSCORE: _zscores, QueryFeature.RANK: _ranks, QueryFeature.MINMAX: _minmax}
