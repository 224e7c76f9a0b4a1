"""Scorers of scaled features: the scaling becomes part of the scorer, so that scoring needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.models.linear import LinearScorer
from rankwright.models.query_features import QueryFeatureScorer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankwright.data.scaling import Scaling
    from rankwright.models.scorer import Scorer


def scaled_linear(weights: NDArray[np.float64], scaling: Scaling) -> Scorer:
    """Return the scorer of weight x scaled feature: plain weights, of columns made within the query if need be."""
    raw, intercept = scaling.folded(weights)
    return over_columns(LinearScorer(raw, scaling.missing, float(intercept)), scaling)


def over_columns(scorer: Scorer, scaling: Scaling) -> Scorer:
    """Return a scorer of the features from one of the columns that centre and spread apply to."""
    return scorer if scaling.within is None else QueryFeatureScorer(scorer, (scaling.within,), raw=False)
