"""Scorers: immutable models that score documents, saved and loaded without any training code."""

from rankwright.models.calibrated import Calibrated
from rankwright.models.class_trees import ClassLink, ClassTrees, ExpectedRelevance
from rankwright.models.combination import Combination
from rankwright.models.feature import FeatureScorer
from rankwright.models.linear import LinearScorer
from rankwright.models.network import NetworkScorer
from rankwright.models.probability_calibrations import LogisticCalibration, SigmoidCalibration, StandardCalibration
from rankwright.models.query_features import QueryFeatureScorer
from rankwright.models.regression_calibrations import HiddenLayer, Polynomial, RadialBasis, Rescaled
from rankwright.models.residual import ResidualModel
from rankwright.models.retrieval import RetrievalScorer
from rankwright.models.scorer import Scorer
from rankwright.models.sharing import share_columns
from rankwright.models.standardised import StandardisedScorer
from rankwright.models.store import load, save
from rankwright.models.trees import TreeEnsemble

__all__ = [
    "Calibrated",
    "ClassLink",
    "ClassTrees",
    "Combination",
    "ExpectedRelevance",
    "FeatureScorer",
    "HiddenLayer",
    "LinearScorer",
    "LogisticCalibration",
    "NetworkScorer",
    "Polynomial",
    "QueryFeatureScorer",
    "RadialBasis",
    "Rescaled",
    "ResidualModel",
    "RetrievalScorer",
    "Scorer",
    "SigmoidCalibration",
    "StandardCalibration",
    "StandardisedScorer",
    "TreeEnsemble",
    "load",
    "save",
    "share_columns",
]
