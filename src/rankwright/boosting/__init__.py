"""The boosting loop, and the protocol of the rules that it follows."""

from rankwright.boosting.loop import WeightedModel, boost, weighted_trees
from rankwright.boosting.rule import RoundDiagnostics, Rule

__all__ = ["RoundDiagnostics", "Rule", "WeightedModel", "boost", "weighted_trees"]
