"""Margin problems of linear models: solvers that minimise 1/2 |w|^2 + C risk(w)."""

from rankwright.margins.bundle import Plane, cutting_planes
from rankwright.margins.newton import Curve, newton_steps
from rankwright.margins.pairs import MarginPairs
from rankwright.margins.solution import Solution

__all__ = ["Curve", "MarginPairs", "Plane", "Solution", "cutting_planes", "newton_steps"]
