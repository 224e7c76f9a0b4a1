"""Features made within the query: how a value stands among those of the query's other documents."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from rankwright.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.arrays import Floats
    from rankwright.data.groups import QueryGroups


class QueryFeature(Enum):
    """A column made from another, query by query; a missing value stays missing."""

    ZSCORE = "zscore"
    """Deviations from the query's mean, in standard deviations; 0 where all values are equal."""
    RANK = "rank"
    """The share of the query's other values that are lower, ties counting half; 1/2 for a single value."""
    MINMAX = "minmax"
    """From 0, the query's lowest, to 1, its highest; 0 where all values are equal."""


def checked_query_features(names: Sequence[str]) -> tuple[QueryFeature, ...]:
    """Return the kinds of columns by their names."""
    known = [kind.value for kind in QueryFeature]
    listed = isinstance(names, list | tuple)
    if not listed or not all(name in known for name in names) or len(set(names)) < len(names):
        raise InputError(f"query_features must be a list of {', '.join(known)}, each at most once, not {names!r}.")
    return tuple(QueryFeature(name) for name in names)


def with_query_features(
    X: Floats, groups: QueryGroups, kinds: Sequence[QueryFeature], *, raw: bool = True
) -> Floats:
    """Return the columns of each kind beside the features, or instead of them."""
    n_features = X.shape[1]
    wide = np.empty((len(X), n_features * (raw + len(kinds))), dtype=np.float32)
    if raw:
        wide[:, :n_features] = X
    for rows in groups:
        own = X[rows].astype(np.float64)
        for place, kind in enumerate(kinds, start=raw):
            wide[rows, place * n_features : (place + 1) * n_features] = _MAKERS[kind](own)
    return wide


def standardised(scores: NDArray[np.float64], groups: QueryGroups) -> NDArray[np.float64]:
    """Return each score's deviation from its query's mean, in standard deviations; 0 where all are equal."""
    values = np.empty(len(scores))
    for rows in groups:
        values[rows] = _zscores(_minmax(scores[rows, None]))[:, 0]  # from 0 to 1 first: no square is too large
    return values


def _zscores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    ordered = np.sort(values, axis=0)  # so that the order of documents does not change a bit of the sums
    known = ~np.isnan(ordered)
    count = np.maximum(1, known.sum(axis=0))
    mean = np.where(known, ordered, 0.0).sum(axis=0) / count
    spread = np.sqrt((np.where(known, ordered - mean, 0.0) ** 2).sum(axis=0) / count)
    return np.asarray((values - mean) / np.where(spread > 0, spread, 1.0))


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    ordered = np.sort(values, axis=0)  # NaN last
    known = (~np.isnan(values)).sum(axis=0)
    ranks = np.full_like(values, np.nan)
    for feature in range(values.shape[1]):
        column, sorted_values = values[:, feature], ordered[: known[feature], feature]
        low, high = (np.searchsorted(sorted_values, column, side=side) for side in ("left", "right"))
        others = max(1, known[feature] - 1)
        share = (low + (high - low - 1) / 2) / others if known[feature] > 1 else np.full(len(column), 0.5)
        ranks[:, feature] = np.where(np.isnan(column), np.nan, share)
    return ranks


def _minmax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    low = np.fmin.reduce(values, axis=0)
    span = np.fmax.reduce(values, axis=0) - low
    shares = (values - low) / np.where(span > 0, span, 1.0)
    return np.asarray(
        shares + 0.0
    )  # no -0.0: which of two equal zeros is the lowest depends on the order of documents


_MAKERS = {QueryFeature.ZSCORE: _zscores, QueryFeature.RANK: _ranks, QueryFeature.MINMAX: _minmax}
