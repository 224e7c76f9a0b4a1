"""Cutting planes for a convex risk that is not smooth (Joachims, Finley & Yu 2009; Teo et al. 2010)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.training.margins.solution import Solution, finite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankwright.base.arrays import Doubles

IDLE = 30  # rounds without touching the solution after which a plane is dropped
PROXIMAL = 1e-2  # weight of the proximal term, relative to C
LEAST_LEVEL = 1e-6  # smaller risks count as this
PROXIMAL_STEPS = 100  # at most; about five are enough
CLOSE = 1e-9  # gap, as a fraction of the minimum, at which proximal steps end


class Plane(NamedTuple):
    """A lower bound of the risk, slope x w + offset, that touches it at the weights where it was computed."""

    slope: Doubles
    offset: float


def cutting_planes(risk: Callable[[Doubles], Plane], start: Doubles, C: float) -> Iterator[Solution]:
    """Yield better and better minimisers of 1/2 |w|^2 + C risk(w), without end; the risk is never below 0.

    Each round computes the risk's plane at w, and moves w to the minimum of the objective with the planes so far
    in place of the risk. That minimum bounds the optimum from below.
    """
    planes = _Planes(len(start), C)
    weights, best, objective = start, start, np.inf
    while True:
        plane = risk(weights)
        value = 0.5 * float(weights @ weights) + C * float(plane.slope @ weights + plane.offset)
        if value < objective:
            best, objective = weights, value
        planes.add(plane)
        weights, bound = planes.lowest()
        gap = max(0.0, objective - bound) / objective if objective > 0.0 else 0.0
        yield Solution(best, objective, gap)


class _Planes:
    """The planes so far; the first is that of zero risk."""

    def __init__(self, n_features: int, C: float) -> None:
        self._slopes = np.zeros((1, n_features))
        self._offsets = np.zeros(1)
        self._idle = np.zeros(1, dtype=np.int64)
        self._C, self._slack, self._level = C, 1.0, 1.0

    def add(self, plane: Plane) -> None:
        kept = self._idle < IDLE
        kept[0] = True
        self._slopes = np.vstack([self._slopes[kept], plane.slope])
        self._offsets = np.append(self._offsets[kept], plane.offset)
        self._idle = np.append(self._idle[kept], 0)

    @np.errstate(all="ignore")  # `finite` reports overflows
    def lowest(self) -> tuple[Doubles, float]:
        """Return the w that minimises 1/2 |w|^2 + C max over planes, and a lower bound of the minimum.

        In the dual problem, w is -C times a mixture of slopes, and any mixture gives a lower bound.
        """
        for _ in range(PROXIMAL_STEPS):
            mixture, self._slack = self._near(self._slack)
            weights = -self._C * (mixture @ self._slopes)
            minimum = 0.5 * float(weights @ weights) + self._C * float(
                (self._slopes @ weights + self._offsets).max()
            )
            bound = self._C * float(mixture @ self._offsets) - 0.5 * float(weights @ weights)
            self._level = max(LEAST_LEVEL, finite(minimum) / self._C)
            if minimum - bound <= CLOSE * minimum:
                break
        self._idle = np.where(mixture > 0.0, 0, self._idle + 1)
        return weights, bound

    def _near(self, before: float) -> tuple[Doubles, float]:
        """Return mixture and slack at the minimum of 1/2 |w|^2 + C slack + pull/2 (slack - before)^2.

        This is a least distance problem, 1/2 |z|^2 subject to G z >= h, for z = (w, root (slack + shift)), which
        non-negative least squares solve exactly (Lawson & Hanson 1974, chapter 23). The proximal term vanishes as
        the step is repeated from the slack that it returned.
        """
        from scipy.optimize import nnls  # slow to import

        pull = np.float64(PROXIMAL * self._C / self._level)
        root, shift = np.sqrt(pull), self._C / pull - before
        unit = self._C / root  # about the length of z, so that the scaled problem has numbers of about 1
        G = np.column_stack([-self._slopes, np.full(len(self._slopes), 1.0 / root)])
        h = (self._offsets + shift) / unit
        E, f = np.vstack([G.T, h]), np.append(np.zeros(G.shape[1]), 1.0)
        multipliers, _ = nnls(finite(E), f)
        residual = E @ multipliers - f
        last = -unit * residual[-2] / residual[-1]
        return finite(multipliers / multipliers.sum()), float(finite(last / root - shift))
