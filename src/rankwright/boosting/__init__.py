"""The boosting loop, what a paper gives it, and what watches it."""

from rankwright.boosting.loop import Member, boost
from rankwright.boosting.monitor import History, Monitor, Round, smoothed
from rankwright.boosting.rule import Rule

__all__ = ["History", "Member", "Monitor", "Round", "Rule", "boost", "smoothed"]
