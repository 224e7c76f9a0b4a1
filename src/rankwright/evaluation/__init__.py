"""How good a ranker is, and whether one is better than another."""

from rankwright.evaluation.comparison import Comparison, compare
from rankwright.evaluation.dcg_bound import DCGLoss, dcg_loss
from rankwright.evaluation.diversity import calibration_diversity
from rankwright.evaluation.importance import PermutationImportance, permutation_importance
from rankwright.evaluation.measurement import evaluate
from rankwright.evaluation.protocol import CrossValidation, count_fits, cross_validate
from rankwright.evaluation.reliability import Reliability, plot_reliability, reliability
from rankwright.evaluation.report import Report
from rankwright.evaluation.rounds import RoundsReport, evaluate_rounds

__all__ = [
    "Comparison",
    "CrossValidation",
    "DCGLoss",
    "PermutationImportance",
    "Reliability",
    "Report",
    "RoundsReport",
    "calibration_diversity",
    "compare",
    "count_fits",
    "cross_validate",
    "dcg_loss",
    "evaluate",
    "evaluate_rounds",
    "permutation_importance",
    "plot_reliability",
    "reliability",
]
