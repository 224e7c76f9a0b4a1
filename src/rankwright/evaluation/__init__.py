"""Evaluates and compares rankers: reports, significance tests, cross-validation, feature importance."""

from rankwright.evaluation import analyses
from rankwright.evaluation.comparison import compare, compare_report
from rankwright.evaluation.cross_comparison import CrossComparison
from rankwright.evaluation.cross_validation import CrossValidation
from rankwright.evaluation.folds import make_folds
from rankwright.evaluation.importance import permutation_importance
from rankwright.evaluation.measurement import evaluate
from rankwright.evaluation.pairs import compare_values
from rankwright.evaluation.protocol import count_fits, cross_validate
from rankwright.evaluation.report import Report
from rankwright.evaluation.rounds import RoundsReport, evaluate_rounds
from rankwright.evaluation.system_comparison import SystemComparison
from rankwright.evaluation.tuning import tune

__all__ = [
    "CrossComparison",
    "CrossValidation",
    "Report",
    "RoundsReport",
    "SystemComparison",
    "analyses",
    "compare",
    "compare_report",
    "compare_values",
    "count_fits",
    "cross_validate",
    "evaluate",
    "evaluate_rounds",
    "make_folds",
    "permutation_importance",
    "tune",
]
