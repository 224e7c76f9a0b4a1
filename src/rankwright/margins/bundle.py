"""Cutting planes for a convex risk that is not smooth (Joachims, Finley & Yu 2009; Teo et al. 2010)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import nnls

from rankwright.margins.solution import Solution, finite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankwright.arrays import Doubles

IDLE = 30  # a plane that has not touched the last so many solutions is forgotten
PROXIMAL = 1e-2  # how strongly, against C, the slack is held to the one before
LEAST_LEVEL = 1e-6  # below which a risk counts as none
PROXIMAL_STEPS = 100  # at most; about five do
CLOSE = 1e-9  # the gap, as a share of the minimum, at which they end


class Plane(NamedTuple):
    """A lower bound of the risk, slope x w + offset, that touches it at the weights it was asked for."""

    slope: Doubles
    offset: float


def cutting_planes(risk: Callable[[Doubles], Plane], start: Doubles, C: float) -> Iterator[Solution]:
    """Yield better and better minimisers of half |w|^2 + C risk(w), without end; the risk is never below 0.

    Each round asks for the risk's plane at w, and moves w to where all planes so far are lowest. What the planes
    have there bounds the optimum from below.
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
    """The planes so far, that of no risk at all first."""

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

    @np.errstate(all="ignore")  # told by what is no longer finite
    def lowest(self) -> tuple[Doubles, float]:
        """Return the w that minimises half |w|^2 + C max over planes, and a proof that nothing is lower.

        The dual: w is -C times a mixture of slopes, and any mixture bounds the minimum from below.
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
        """Return mixture and slack of the minimum of half |w|^2 + C slack + pull/2 (slack - before)^2.

        That is a least distance problem, half |z|^2 with G z >= h, for z = (w, root (slack + shift)), which
        non-negative least squares solve exactly (Lawson & Hanson 1974, chapter 23). Repeated from the slack it
        gave, the pull vanishes.
        """
        pull = np.float64(PROXIMAL * self._C / self._level)
        root, shift = np.sqrt(pull), self._C / pull - before
        unit = self._C / root  # no less than the length of z, about: the problem is solved in units of it
        G = np.column_stack([-self._slopes, np.full(len(self._slopes), 1.0 / root)])
        h = (self._offsets + shift) / unit
        E, f = np.vstack([G.T, h]), np.append(np.zeros(G.shape[1]), 1.0)
        multipliers, _ = nnls(finite(E), f)
        residual = E @ multipliers - f
        last = -unit * residual[-2] / residual[-1]
        return finite(multipliers / multipliers.sum()), float(finite(last / root - shift))
