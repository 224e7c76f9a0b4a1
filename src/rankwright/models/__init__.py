"""Scorers: pure data that scores documents, saved and loaded without any training code."""

from rankwright.models.class_trees import ClassLink, ClassTrees, ExpectedRelevance
from rankwright.models.combination import Combination
from rankwright.models.correction import Correction
from rankwright.models.feature import FeatureScorer
from rankwright.models.linear import LinearScorer
from rankwright.models.network import NetworkScorer
from rankwright.models.query_features import QueryFeatureScorer
from rankwright.models.scorer import Scorer
from rankwright.models.store import load, save
from rankwright.models.trees import TreeEnsemble

__all__ = [
    "ClassLink",
    "ClassTrees",
    "Combination",
    "Correction",
    "ExpectedRelevance",
    "FeatureScorer",
    "LinearScorer",
    "NetworkScorer",
    "QueryFeatureScorer",
    "Scorer",
    "TreeEnsemble",
    "load",
    "save",
]
