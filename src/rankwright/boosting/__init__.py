"""The boosting loop, what a paper gives it, and what watches it."""

from rankwright.boosting.distances import Binary, Distance, Linear, Logarithmic, Logistic, parse_distance
from rankwright.boosting.loop import Member, boost, weighted_trees
from rankwright.boosting.monitor import History, Monitor, Round, smoothed
from rankwright.boosting.rule import Rule, TellsFacts

__all__ = [
    "Binary",
    "Distance",
    "History",
    "Linear",
    "Logarithmic",
    "Logistic",
    "Member",
    "Monitor",
    "Round",
    "Rule",
    "TellsFacts",
    "boost",
    "parse_distance",
    "smoothed",
    "weighted_trees",
]
