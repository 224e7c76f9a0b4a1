"""Scorers trained on scaled features, with the scaling folded into their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.models.linear import LinearScorer
from rankwright.models.network import NetworkScorer
from rankwright.models.query_features import QueryFeatureScorer

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.scaling import Scaling
    from rankwright.models.scorer import Scorer


def linear_of_columns(weights: Doubles, scaling: Scaling, bias: float = -0.0) -> LinearScorer:
    """Return the scorer of unscaled columns that equals bias + sum of weight x scaled column.

    The default bias of -0.0 keeps the sign of a zero sum.
    """
    raw, added = scaling.folded(weights)
    return LinearScorer(raw, scaling.missing, float(bias + added))


def network_of_columns(widths: Integers, parameters: Doubles, scaling: Scaling) -> Scorer:
    """Return the scorer of unscaled columns that equals this network of scaled columns.

    Without hidden layers it is linear.
    """
    n_features, n_units = (int(width) for width in widths[:2])
    weights, biases, rest = np.split(parameters, [n_features * n_units, (n_features + 1) * n_units])
    if len(widths) == 2:
        return linear_of_columns(weights, scaling, biases[0])
    raw, added = scaling.folded(weights.reshape(n_features, n_units))
    return NetworkScorer(widths, np.concatenate([raw.ravel(), biases + added, rest]), scaling.missing)


def over_columns(scorer: Scorer, scaling: Scaling) -> Scorer:
    """Return the scorer of features for a scorer of the columns that the scaling applies to."""
    return scorer if scaling.within is None else QueryFeatureScorer(scorer, (scaling.within,), raw=False)
