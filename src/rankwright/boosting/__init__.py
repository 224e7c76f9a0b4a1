"""The boosting loop, and the protocol of the rules that it follows."""

from rankwright.boosting.loop import Member, boost, weighted_trees
from rankwright.boosting.rule import RoundDiagnostics, Rule

__all__ = ["Member", "RoundDiagnostics", "Rule", "boost", "weighted_trees"]
