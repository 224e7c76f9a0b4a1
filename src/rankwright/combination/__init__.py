"""Rankers combined into one."""

from rankwright.combination.blend import Blend, blend
from rankwright.combination.curve import Curve
from rankwright.combination.line_search import LineSearch, refined_in_turn

__all__ = ["Blend", "Curve", "LineSearch", "blend", "refined_in_turn"]
