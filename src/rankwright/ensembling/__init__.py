"""Rankers combined into one: blends of a few, mixtures of many."""

from rankwright.ensembling.blend import Blend, blend
from rankwright.ensembling.line_search import LineSearch, refined_in_turn

__all__ = ["Blend", "LineSearch", "blend", "refined_in_turn"]
