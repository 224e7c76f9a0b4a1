"""How good a ranker is, and whether one is better than another."""

from rankwright.evaluation.comparison import Comparison, compare
from rankwright.evaluation.importance import PermutationImportance, permutation_importance
from rankwright.evaluation.measurement import evaluate
from rankwright.evaluation.protocol import CrossValidation, count_fits, cross_validate
from rankwright.evaluation.report import Report

__all__ = [
    "Comparison",
    "CrossValidation",
    "PermutationImportance",
    "Report",
    "compare",
    "count_fits",
    "cross_validate",
    "evaluate",
    "permutation_importance",
]
