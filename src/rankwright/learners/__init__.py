"""Weak learners: each is bound to one training set and turns a signal into a weak model."""

from rankwright.learners.best_feature import BestFeature, LeastLossFeature
from rankwright.learners.signal import QueryWeights, Weak, WeakLearner

__all__ = ["BestFeature", "LeastLossFeature", "QueryWeights", "Weak", "WeakLearner"]
