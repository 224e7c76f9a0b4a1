"""Fits the scaling of features to training documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.query_features import QueryFeature
from rankwright.data.scaling import Scaling

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.training.training_set import TrainingSet

WITHIN_QUERY = {"query-minmax": QueryFeature.MINMAX, "query-zscore": QueryFeature.ZSCORE}
SCALINGS = ("none", *WITHIN_QUERY, "global")


def learned_scaling(name: str, train: TrainingSet) -> Scaling:
    """Return the scaling of this name, fitted to the training documents.

    `none` leaves features as they are; `query-minmax` and `query-zscore` scale within each query; `global` uses
    the mean and standard deviation of the training documents. A constant column becomes zeros. A missing value is
    replaced by the mean of the training documents (`none`, `global`) or of the query (`query-zscore`), which
    neither raises nor lowers a document; with `query-minmax`, by the query's lowest value, as in the files of
    LETOR.
    """
    zeros, ones = np.zeros(train.n_features), np.ones(train.n_features)
    if name in WITHIN_QUERY:
        return Scaling(WITHIN_QUERY[name], zeros, ones, zeros)
    if name not in SCALINGS:
        raise InputError(f"scaling must be one of {', '.join(map(repr, SCALINGS))}, not {name!r}.")
    mean, spread = _moments(train)
    return Scaling(None, mean, spread, mean) if name == "global" else Scaling(None, zeros, ones, mean)


def columns_of(scaling: Scaling, train: TrainingSet) -> TrainingSet:
    """Return the documents with the columns to which centre and spread apply."""
    return train if scaling.within is None else train.with_query_features((scaling.within,), raw=False)


def scaled_features(scaling: Scaling, train: TrainingSet) -> Doubles:
    """Return the scaled features, rows in the canonical order of the training set."""
    return scaling.apply(columns_of(scaling, train).data.X[train.canonical_rows])


def _moments(train: TrainingSet) -> tuple[Doubles, Doubles]:
    """Return the mean of each feature, 0 if all values are missing, and its standard deviation, 1 if it is 0."""
    mean, spread = np.zeros(train.n_features), np.ones(train.n_features)
    for feature in range(train.n_features):
        # In canonical order, so that sums do not depend on the order of rows.
        column = train.data.X[train.canonical_rows, feature].astype(np.float64)
        known = column[~np.isnan(column)]
        if len(known):
            mean[feature] = known.mean()
            spread[feature] = known.std() or 1.0
    return mean, spread
