"""Average precision; its mean over queries is MAP."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.metrics.base import checked_cut
from rankwright.metrics.lambdas import NativeLambdas
from rankwright.metrics.relevance import RelevanceMetric, relevant_documents
from rankwright.metrics.sweep import native_sweep

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups
    from rankwright.data.ranking import Ranking
    from rankwright.metrics.lambdas import LambdaKernel
    from rankwright.metrics.sweep import SweepKernel


@dataclass(frozen=True)
class AP(RelevanceMetric):
    """The mean, over the relevant documents, of the precision at their ranks.

    A relevant document below rank k contributes 0. The sum is divided by the number of relevant documents or, if
    `capped`, by the smaller of that number and k, as in LightGBM and XGBoost.
    """

    name = "map"
    k: int | None = None
    capped: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_cut(self.k)

    def of_ranking(self, labels: Doubles) -> float:
        relevance = self.relevance(labels)
        if not relevance.any():
            return np.nan
        precisions = np.cumsum(relevance) * self._inverse_ranks(len(labels))
        return float(precisions @ relevance / self._divisor(relevance.sum(), len(labels)))

    def swap_deltas(self, labels: Doubles) -> Doubles:
        """Return the closed form: a relevant document passes others, whose precisions change by 1 / rank."""
        relevance = self.relevance(labels)
        inverse_ranks = self._inverse_ranks(len(labels))
        found = np.cumsum(relevance)
        between = np.cumsum(relevance * inverse_ranks)  # a difference of two entries sums over the ranks between
        upper, lower = np.triu_indices(len(labels), 1)
        passed = between[lower] - between[upper] - relevance[lower] * inverse_ranks[lower]
        rising = relevance[lower] > relevance[upper]
        leaves = found[lower] * inverse_ranks[lower]
        arrives = (found[upper] + rising) * inverse_ranks[upper]
        change = np.where(relevance[lower] == relevance[upper], 0.0, np.abs(arrives - leaves + passed))
        deltas = np.zeros((len(labels), len(labels)))
        deltas[upper, lower] = deltas[lower, upper] = change / self._divisor(
            max(1.0, relevance.sum()), len(labels)
        )
        return deltas

    def lambda_kernel(self, labels: Doubles, groups: QueryGroups) -> LambdaKernel:  # noqa: ARG002
        own = {"threshold": self.threshold, "depth": self.k, "capped": self.capped}
        return NativeLambdas(_native.average_precision_lambdas, _native.average_precision_pull, own)

    def sweep_kernel(self, labels: Doubles, groups: QueryGroups) -> SweepKernel:
        own = {"labels": labels, "threshold": self.threshold, "depth": self.k, "capped": self.capped}
        return native_sweep(_native.sweep_average_precisions, self, labels, groups, **own)

    def divisors(self, labels: Doubles, groups: QueryGroups) -> Doubles:
        n_relevant = relevant_documents(self.relevance(labels), groups)
        return np.minimum(n_relevant, self.k) if self.capped and self.k is not None else n_relevant

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        return _native.average_precisions(
            *self._sorted(ranking), labels, self.threshold, self.k, self.capped, n_threads
        )

    def _divisor(self, n_relevant: float, n: int) -> float:
        return min(n_relevant, self.k or n, n) if self.capped else n_relevant

    def _inverse_ranks(self, n: int) -> Doubles:
        ranks = np.arange(1, n + 1)
        return np.where(ranks <= (self.k or n), 1.0 / ranks, 0.0)
