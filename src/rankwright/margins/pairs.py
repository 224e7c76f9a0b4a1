"""The hinge losses over all pairs of a query's documents, without listing the pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.data import Ranking
from rankwright.margins.bundle import Plane
from rankwright.margins.newton import Curve

if TYPE_CHECKING:
    from rankwright.arrays import Doubles
    from rankwright.data import QueryGroups


@dataclass(frozen=True, eq=False)
class MarginPairs:
    """Documents, the better of any two of which, in one query, should score higher by 1.

    A pair's loss is what it falls short by, or that squared, times its query's share and both documents' weights.

    Parameters
    ----------
    X, labels, groups
        The documents.
    weights
        Of each document.
    shares
        That of each document's query.
    """

    X: Doubles
    labels: Doubles
    groups: QueryGroups
    weights: Doubles
    shares: Doubles
    n_threads: int

    def hinge(self, w: Doubles) -> Plane:
        """Return the plane that touches the sum of what pairs fall short by."""
        worse, better, _ = self._short(self.X @ w, self.weights)
        factors = self.shares * self.weights
        return Plane((factors * (better - worse)) @ self.X, float(factors @ worse))

    def squared_hinge(self, w: Doubles) -> Curve:
        """Return the sum of the squares of what pairs fall short by, with its derivatives."""
        scores = self.X @ w
        ranking = self._ranking(scores)
        worse, better, sums = self._sums(ranking, scores)
        factors = self.shares * self.weights
        short = float(factors @ worse + (factors * (better - worse)) @ scores)  # not squared
        slope = 2.0 * factors * (better - worse + (better + worse) * scores - sums)
        value = short + 0.5 * float(slope @ scores)

        def times_hessian(direction: Doubles) -> Doubles:
            changes = self.X @ direction
            _, _, moved = self._sums(ranking, changes)
            return np.asarray((2.0 * factors * ((better + worse) * changes - moved)) @ self.X)

        return Curve(max(0.0, value), slope @ self.X, times_hessian)

    def _short(self, scores: Doubles, values: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        return self._sums(self._ranking(scores), values)

    def _ranking(self, scores: Doubles) -> Ranking:
        return Ranking.of(scores, self.groups, n_threads=self.n_threads)

    def _sums(self, ranking: Ranking, values: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """Return the weights of the worse and of the better documents within the margin, and what values add."""
        return _native.margin_sums(ranking.native, self.labels, self.weights, values, self.n_threads)
