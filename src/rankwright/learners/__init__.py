"""Weak learners: each is bound to one training set and turns a signal into a weak model."""

from rankwright.learners.best_feature import BestFeature, LeastLossFeature
from rankwright.learners.classes import ClassLearner, ClassWeights, DecisionProduct, HammingTree
from rankwright.learners.signal import Gradients, QueryWeights, Weak, WeakLearner, WeakModel
from rankwright.learners.tree import TreeLearner, TreeLimits, TreeSampling

__all__ = [
    "BestFeature",
    "ClassLearner",
    "ClassWeights",
    "DecisionProduct",
    "Gradients",
    "HammingTree",
    "LeastLossFeature",
    "QueryWeights",
    "TreeLearner",
    "TreeLimits",
    "TreeSampling",
    "Weak",
    "WeakLearner",
    "WeakModel",
]
