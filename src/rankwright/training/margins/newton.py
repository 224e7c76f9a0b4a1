"""Truncated Newton method for a smooth convex risk (Dembo & Steihaug 1983)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.training.margins.solution import Solution, finite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankwright.base.arrays import Doubles

ENOUGH = 1e-4  # fraction of the linear model's descent that a step must achieve (Armijo's rule)
SHORTEST = 2.0**-40  # shorter steps are below rounding


class Curve(NamedTuple):
    """A risk at some weights: its value, its gradient, and the product of its hessian with a direction."""

    value: float
    slope: Doubles
    times_hessian: Callable[[Doubles], Doubles]


def newton_steps(risk: Callable[[Doubles], Curve], start: Doubles, C: float) -> Iterator[Solution]:
    """Yield better and better minimisers of 1/2 |w|^2 + C risk(w), until no step improves by more than rounding.

    The objective is at least as convex as 1/2 |w|^2, so its minimum is at most half the squared length of the
    gradient below its value.
    """
    weights, here = start, _Objective.at(start, risk, C)
    while True:
        direction = here.newton_direction()
        step = 1.0
        there = _Objective.at(weights + step * direction, risk, C)
        while there.value >= here.value + ENOUGH * step * float(here.gradient @ direction):
            step /= 2.0
            if step < SHORTEST:
                yield here.solution
                return
            there = _Objective.at(weights + step * direction, risk, C)
        weights, here = there.weights, there
        yield here.solution


class _Objective(NamedTuple):
    """The objective 1/2 |w|^2 + C risk at some weights."""

    weights: Doubles
    value: float
    gradient: Doubles
    times_hessian: Callable[[Doubles], Doubles]

    @classmethod
    @np.errstate(all="ignore")  # `finite` reports overflows
    def at(cls, weights: Doubles, risk: Callable[[Doubles], Curve], C: float) -> _Objective:
        half = 0.5 * float(finite(weights @ weights))
        value, slope, times_hessian = risk(weights)
        gradient = weights + C * slope
        finite(gradient @ gradient)

        def times_own_hessian(direction: Doubles) -> Doubles:
            product = direction + C * times_hessian(finite(direction))
            finite(direction @ product)
            return product

        return cls(weights, finite(half + C * value), gradient, times_own_hessian)

    @np.errstate(all="ignore")
    def newton_direction(self) -> Doubles:
        """Return an approximation of -gradient / hessian, the more exact the closer the optimum is."""
        from scipy.sparse.linalg import LinearOperator, cg  # slow to import

        n, length = len(self.weights), float(np.linalg.norm(self.gradient))
        hessian = LinearOperator((n, n), matvec=self.times_hessian, dtype=np.float64)
        direction, _ = cg(hessian, -self.gradient, rtol=min(0.1, np.sqrt(length)), atol=0.0, maxiter=4 * n)
        return np.asarray(direction)

    @property
    def solution(self) -> Solution:
        gap = 0.5 * float(self.gradient @ self.gradient)
        return Solution(self.weights, self.value, gap / self.value if self.value > 0.0 else 0.0)
