"""Weak learners: each fits weak models to one training set, following the signal of a boosting rule."""

from rankwright.learners.best_feature import BestFeature, LeastLossFeature
from rankwright.learners.class_trees import ClassTreeLearner, TreePerClass
from rankwright.learners.classes import ClassLearner, ClassWeights, DecisionProduct, HammingTree
from rankwright.learners.drawn import DrawnTrees, DrawnVotes
from rankwright.learners.pairs import Pairs, PairSignal
from rankwright.learners.signal import Gradients, QueryWeights, Weak, WeakLearner, WeakModel
from rankwright.learners.stump import MetricVoteLearner, StumpLearner, VoteLearner
from rankwright.learners.tree import (
    FINE_LEVELS,
    LeastSquaresTrees,
    TreeLearner,
    TreeLimits,
    TreeSampling,
    levels_for,
)

__all__ = [
    "FINE_LEVELS",
    "BestFeature",
    "ClassLearner",
    "ClassTreeLearner",
    "ClassWeights",
    "DecisionProduct",
    "DrawnTrees",
    "DrawnVotes",
    "Gradients",
    "HammingTree",
    "LeastLossFeature",
    "LeastSquaresTrees",
    "MetricVoteLearner",
    "PairSignal",
    "Pairs",
    "QueryWeights",
    "StumpLearner",
    "TreeLearner",
    "TreeLimits",
    "TreePerClass",
    "TreeSampling",
    "VoteLearner",
    "Weak",
    "WeakLearner",
    "WeakModel",
    "levels_for",
]
