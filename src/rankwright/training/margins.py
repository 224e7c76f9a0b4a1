"""Margin problems of linear models: solvers that minimise 1/2 |w|^2 + C risk(w), and the hinge losses of pairs.

`cutting_planes` takes any convex risk (Joachims, Finley & Yu 2009; Teo et al. 2010); `newton_steps`, a truncated
Newton method (Dembo & Steihaug 1983), needs a smooth one and is faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError, requiring
from rankwright.data.groups import Ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups

IDLE = 30  # rounds without touching the solution after which a plane is dropped
PROXIMAL = 1e-2  # weight of the proximal term, relative to C
LEAST_LEVEL = 1e-6  # smaller risks count as this
PROXIMAL_STEPS = 100  # at most; about five are enough
CLOSE = 1e-9  # gap, as a fraction of the minimum, at which proximal steps end
ENOUGH = 1e-4  # fraction of the linear model's descent that a step must achieve (Armijo's rule)
SHORTEST = 2.0**-40  # shorter steps are below rounding


class Solution(NamedTuple):
    """The best weights so far, their objective, and the gap: a proved bound on its distance from the optimum.

    The gap is a fraction of the objective.
    """

    weights: Doubles
    objective: float
    gap: float


def finite(numbers: Any) -> Any:
    """Return the numbers; raise an `InputError` if one of them is not finite."""
    if not np.isfinite(numbers).all():
        raise InputError(
            "The numbers of the margin problem are no longer finite; "
            "use a less extreme C, or features of a smaller scale."
        )
    return numbers


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
        with requiring("scipy"):
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


class RiskCurve(NamedTuple):
    """A risk at some weights: its value, its gradient, and the product of its hessian with a direction."""

    value: float
    slope: Doubles
    times_hessian: Callable[[Doubles], Doubles]


def newton_steps(risk: Callable[[Doubles], RiskCurve], start: Doubles, C: float) -> Iterator[Solution]:
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
    def at(cls, weights: Doubles, risk: Callable[[Doubles], RiskCurve], C: float) -> _Objective:
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
        with requiring("scipy"):
            from scipy.sparse.linalg import LinearOperator, cg  # slow to import

        n, length = len(self.weights), float(np.linalg.norm(self.gradient))
        hessian = LinearOperator((n, n), matvec=self.times_hessian, dtype=np.float64)
        direction, _ = cg(hessian, -self.gradient, rtol=min(0.1, np.sqrt(length)), atol=0.0, maxiter=4 * n)
        return np.asarray(direction)

    @property
    def solution(self) -> Solution:
        gap = 0.5 * float(self.gradient @ self.gradient)
        return Solution(self.weights, self.value, gap / self.value if self.value > 0.0 else 0.0)


@dataclass(frozen=True, eq=False)
class MarginPairs:
    """Pairs of documents of one query, of which the better one should score higher by 1.

    The loss of a pair is its shortfall (1 - difference of scores, if positive) or its square, times the factor of
    the query and the weights of both documents.

    Parameters
    ----------
    X, labels, groups
        The documents.
    weights
        One weight per document.
    factors
        The factor of the document's query, one per document.
    """

    X: Doubles
    labels: Doubles
    groups: QueryGroups
    weights: Doubles
    factors: Doubles
    n_threads: int

    def solutions(self, loss: str, start: Doubles, C: float) -> Iterator[Solution]:
        """Yield better and better minimisers of 1/2 |w|^2 + C times the 'hinge' or 'squared_hinge' loss."""
        if loss == "hinge":
            return cutting_planes(self.hinge, start, C)
        return newton_steps(self.squared_hinge, start, C)

    def hinge(self, w: Doubles) -> Plane:
        """Return the plane that touches the sum of shortfalls at w."""
        worse, better, _ = self._sums(self._ranking(self.X @ w), self.weights)
        factors = self.factors * self.weights
        return Plane((factors * (better - worse)) @ self.X, float(factors @ worse))

    def squared_hinge(self, w: Doubles) -> RiskCurve:
        """Return the sum of squared shortfalls at w, with its derivatives."""
        scores = self.X @ w
        ranking = self._ranking(scores)
        worse, better, sums = self._sums(ranking, scores)
        factors = self.factors * self.weights
        short = float(factors @ worse + (factors * (better - worse)) @ scores)  # not squared
        slope = 2.0 * factors * (better - worse + (better + worse) * scores - sums)
        value = short + 0.5 * float(slope @ scores)

        def times_hessian(direction: Doubles) -> Doubles:
            changes = self.X @ direction
            _, _, moved = self._sums(ranking, changes)
            return np.asarray((2.0 * factors * ((better + worse) * changes - moved)) @ self.X)

        return RiskCurve(max(0.0, value), slope @ self.X, times_hessian)

    def _ranking(self, scores: Doubles) -> Ranking:
        return Ranking.of(scores, self.groups, n_jobs=self.n_threads)

    def _sums(self, ranking: Ranking, values: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """Return, for each document, the sums of weights of worse and of better documents, and of weight x value.

        The sums are over documents within the margin.
        """
        return _native.margin_sums(ranking.native, self.labels, self.weights, values, self.n_threads)
