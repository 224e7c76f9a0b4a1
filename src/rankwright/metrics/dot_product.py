"""A measure of scores instead of ranks, for which AdaRank's training always improves (Xu et al. 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Never

import numpy as np

from rankwright.base.errors import InputError
from rankwright.metrics.base import Metric

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups
    from rankwright.data.ranking import Ranking


@dataclass(frozen=True)
class DotProduct(Metric):
    """The dot product of scores and labels: sum of score x (label - mean) / sum of (label - mean)^2, per query.

    It is linear in the scores, so that delta of AdaRank's theorem is always 0. Scores equal to the labels have the
    value 1. With labels at least 1 apart, scores between 0 and 1 have values between -1 and 1. A query whose
    labels are all equal is empty.
    """

    name = "dot_product"

    def of_ranking(self, labels: Doubles) -> float:  # noqa: ARG002
        """Refuse: the value is not one of a ranking."""
        self._refuse()

    def lambda_kernel(self, labels: Doubles, groups: QueryGroups) -> Never:  # noqa: ARG002
        """Refuse: swapping two ranks changes no score."""
        self._refuse()

    def _refuse(self) -> Never:
        raise InputError("dot_product is a measure of scores, not of a ranking: it is for AdaRank and evaluation.")

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:  # noqa: ARG002
        groups = ranking.groups
        query, sizes = groups.query_of_row, groups.sizes
        beyond = labels - (groups.reduce(np.add, labels) / sizes)[query]
        squares = groups.reduce(np.add, beyond**2)
        values = np.full(len(sizes), np.nan)
        np.divide(groups.reduce(np.add, beyond * ranking.scores), squares, out=values, where=squares > 0.0)
        return values
