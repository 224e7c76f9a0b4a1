"""Scores standardised within the query, so that scorers of different scales can be mixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright.data.query_features import standardised
from rankwright.models.wrapping import WrappingScorer

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Floats
    from rankwright.data.groups import QueryGroups


@dataclass(frozen=True, eq=False, repr=False)
class StandardisedScorer(WrappingScorer):
    """Another scorer's scores minus the query's mean, divided by the query's standard deviation.

    A feature's contribution is that to the inner score, relative to its mean in the query, divided by the same
    deviation; all are 0 in a query whose scores are equal. So the base score is 0 if the inner one is constant.

    Parameters
    ----------
    inner
        The scorer.
    """

    kind: ClassVar[str] = "standardised"

    @property
    def needs_queries(self) -> bool:
        """Always."""
        return True

    def _score(self, X: Floats, groups: QueryGroups, n_threads: int, /) -> Doubles:
        return standardised(self.inner._score(X, groups, n_threads), groups, n_threads)

    def _contributions(self, X: Floats, groups: QueryGroups, n_threads: int, /) -> Doubles:
        scores, values = (part(X, groups, n_threads) for part in (self.inner._score, self.inner._contributions))
        standard = standardised(scores, groups, n_threads)
        for rows in groups:
            own, spread = values[rows], np.ptp(standard[rows])
            mean = np.sort(own, axis=0).mean(axis=0)  # sorted: it must not depend on the order of documents
            values[rows] = (own - mean) / (np.ptp(scores[rows]) / spread) if spread else 0.0
        return values
