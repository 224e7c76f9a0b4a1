"""Fusion of scores: columns of different rankers brought to one scale within each query, and summed."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from rankwright.data.query_features import QueryFeature, with_query_features

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Floats
    from rankwright.data.groups import QueryGroups

RRF_CONSTANT = 60  # Cormack, Clarke and Buettcher (SIGIR 2009)


class FusionMethod(Enum):
    """How the scores of a ranker become comparable with those of others, within each query."""

    ZSCORE = "zscore"
    """Deviation from the query's mean in standard deviations; without a score, that of the lowest one."""
    MINMAX = "minmax"
    """From 0 for the query's lowest to 1 for its highest score; 0 without one."""
    RRF = "rrf"
    """Reciprocal rank fusion: 1 / (60 + rank), ties at their mean rank; 0 without a score."""


def comparable(scores: Floats, groups: QueryGroups, method: FusionMethod, n_threads: int = 1) -> Doubles:
    """Return columns of scores brought to one scale, without missing values; equal scores give equal values."""
    kind = QueryFeature.RANK if method is FusionMethod.RRF else QueryFeature(method.value)
    values = with_query_features(scores, groups, [kind], raw=False, n_threads=n_threads).astype(np.float64)
    if method is FusionMethod.ZSCORE:
        return _filled_by_lowest(values, groups)
    if method is FusionMethod.RRF:
        values = 1.0 / (RRF_CONSTANT + _ranks(values, groups))
    return np.nan_to_num(values, nan=0.0)


def _filled_by_lowest(values: Doubles, groups: QueryGroups) -> Doubles:
    """Return columns with missing values replaced by the query's lowest, 0 where it has none."""
    for column in values.T:
        missing = np.isnan(column)
        if missing.any():
            lowest = groups.reduce(np.minimum, np.where(missing, np.inf, column))[groups.query_of_row]
            column[missing] = np.where(np.isinf(lowest), 0.0, lowest)[missing]
    return values


def _ranks(fractions: Doubles, groups: QueryGroups) -> Doubles:
    """Return ranks from 1, given the fraction of the query's other values that are lower."""
    counts = [groups.reduce(np.add, (~np.isnan(column)).astype(np.int64)) for column in fractions.T]
    others = np.array(counts).T.reshape(len(groups), fractions.shape[1])[groups.query_of_row] - 1
    return np.asarray(1.0 + (1.0 - fractions) * others)
