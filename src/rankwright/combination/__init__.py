"""Rankers combined into one."""

from rankwright.combination.blend import Blend, blend
from rankwright.combination.bound import DCGLoss, dcg_loss
from rankwright.combination.curve import Curve
from rankwright.combination.diversity import calibration_diversity
from rankwright.combination.exponential import mix_exponentially
from rankwright.combination.line_search import LineSearch, refined_in_turn
from rankwright.combination.reliability import Reliability, draw_reliability, reliability
from rankwright.combination.standardised import mix_standardised

__all__ = [
    "Blend",
    "Curve",
    "DCGLoss",
    "LineSearch",
    "Reliability",
    "blend",
    "calibration_diversity",
    "dcg_loss",
    "draw_reliability",
    "mix_exponentially",
    "mix_standardised",
    "refined_in_turn",
    "reliability",
]
