"""The boosting loop, and what a paper gives it."""

from rankwright.boosting.loop import Member, boost, weighted_trees
from rankwright.boosting.rule import RoundDiagnostics, Rule

__all__ = ["Member", "RoundDiagnostics", "Rule", "boost", "weighted_trees"]
