"""Hinge losses over all pairs of a query's documents, computed without listing the pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.data.groups import Ranking
from rankwright.training.margins.solvers import Plane, RiskCurve, Solution, cutting_planes, newton_steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups


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
