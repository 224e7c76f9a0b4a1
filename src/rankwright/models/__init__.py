"""Scorers: pure data that scores documents, saved and loaded without any training code."""

from rankwright.models.combination import Combination
from rankwright.models.feature import FeatureScorer
from rankwright.models.linear import LinearScorer
from rankwright.models.scorer import Scorer
from rankwright.models.store import load, save
from rankwright.models.trees import TreeEnsemble

__all__ = ["Combination", "FeatureScorer", "LinearScorer", "Scorer", "TreeEnsemble", "load", "save"]
