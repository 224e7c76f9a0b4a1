"""Analyses that the papers make, for any systems; each result prints as a table and has a chart."""

from rankwright.evaluation.analyses.ablation import ablation
from rankwright.evaluation.analyses.analysis import Analysis
from rankwright.evaluation.analyses.bound_curve import bound_curve
from rankwright.evaluation.analyses.by_pairs import by_pairs
from rankwright.evaluation.analyses.cutoff_curves import CutoffCurves, cutoff_curves
from rankwright.evaluation.analyses.learning_curve import learning_curve
from rankwright.evaluation.analyses.metric_transfer import metric_transfer
from rankwright.evaluation.analyses.overfitting import overfitting
from rankwright.evaluation.analyses.pair_errors import pair_errors
from rankwright.evaluation.analyses.speed_accuracy import speed_accuracy
from rankwright.evaluation.analyses.steps import steps

__all__ = [
    "Analysis",
    "CutoffCurves",
    "ablation",
    "bound_curve",
    "by_pairs",
    "cutoff_curves",
    "learning_curve",
    "metric_transfer",
    "overfitting",
    "pair_errors",
    "speed_accuracy",
    "steps",
]
