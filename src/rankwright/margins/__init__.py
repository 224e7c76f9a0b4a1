"""Margin problems, half |w|^2 + C risk(w) of a linear model, and what solves them."""

from rankwright.margins.bundle import Plane, cutting_planes
from rankwright.margins.newton import Curve, newton_steps
from rankwright.margins.pairs import MarginPairs
from rankwright.margins.solution import Solution

__all__ = ["Curve", "MarginPairs", "Plane", "Solution", "cutting_planes", "newton_steps"]
