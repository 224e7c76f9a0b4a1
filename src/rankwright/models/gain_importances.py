"""How much the splits of a model's trees use each feature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.models.calibrated import Calibrated
from rankwright.models.class_trees import ExpectedRelevance
from rankwright.models.query_features import QueryFeatureScorer
from rankwright.models.residual import ResidualModel
from rankwright.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer


def total_gain(scorer: Scorer) -> Doubles | None:
    """Return the total gain of the splits on each feature and on columns made from it; None for other models."""
    match scorer:
        case TreeEnsemble():
            return scorer.importances("gain")
        case ExpectedRelevance() | Calibrated():
            return scorer.classes.trees.importances("gain")
        case ResidualModel():
            return total_gain(scorer.inner)
        case QueryFeatureScorer():
            gain = total_gain(scorer.inner)
            return None if gain is None else gain.reshape(-1, scorer.n_features).sum(axis=0)
    return None
