"""Rankers combined into one: blends of a few, mixtures of many."""

from rankwright.ensembling.blend import Blend, blend
from rankwright.ensembling.curve import Curve
from rankwright.ensembling.exponential import mix_exponentially
from rankwright.ensembling.line_search import LineSearch, refined_in_turn
from rankwright.ensembling.standardised import mix_standardised

__all__ = [
    "Blend",
    "Curve",
    "LineSearch",
    "blend",
    "mix_exponentially",
    "mix_standardised",
    "refined_in_turn",
]
