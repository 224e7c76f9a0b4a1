"""Metrics of binary relevance: precision, recall, winner takes all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.metrics.base import Metric, checked_cut, linear_swap_deltas, require_finite
from rankwright.metrics.lambdas import linear_lambda_kernel
from rankwright.metrics.sweep import native_sweep, rank_weights

if TYPE_CHECKING:
    from rankwright.arrays import Doubles
    from rankwright.data.groups import QueryGroups
    from rankwright.data.ranking import Ranking
    from rankwright.metrics.lambdas import LambdaKernel
    from rankwright.metrics.sweep import SweepKernel


@dataclass(frozen=True)
class RelevanceMetric(Metric):
    """Documents with a label of at least `threshold` are relevant; a query without relevant documents is empty."""

    threshold: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_finite("threshold", self.threshold)

    def relevance(self, labels: Doubles) -> Doubles:
        """Return 1 for each relevant document and 0 for the others."""
        return (labels >= self.threshold).astype(np.float64)

    def _discounted(self, labels: Doubles, ranking: Ranking, discounts: Doubles, n_threads: int) -> Doubles:
        """Return the sum of the discounts of the relevant documents' ranks; NaN for a query without any."""
        relevance = self.relevance(labels)
        sums = _native.discounted_gains(*self._sorted(ranking), relevance, discounts, n_threads)
        return np.where(relevant_documents(relevance, ranking.groups) > 0, sums, np.nan)

    def _linear_sweep(
        self, labels: Doubles, groups: QueryGroups, discounts: Doubles, query_factors: Doubles
    ) -> SweepKernel:
        """Return the sweep of a metric that is the sum of `_discounted` times one factor per query."""
        weights = rank_weights(discounts, query_factors, groups)
        gains = self.relevance(labels)
        return native_sweep(_native.sweep_gains, self, labels, groups, gains=gains, rank_weights=weights)


@dataclass(frozen=True)
class Precision(RelevanceMetric):
    """The fraction of the first k ranks with a relevant document; ranks below the last document are irrelevant."""

    name = "p"
    k: int

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_cut(self.k, optional=False)

    def of_ranking(self, labels: Doubles) -> float:
        relevance = self.relevance(labels)
        return float(relevance[: self.k].sum() / self.k) if relevance.any() else np.nan

    def swap_deltas(self, labels: Doubles) -> Doubles:
        return linear_swap_deltas(self.relevance(labels), (np.arange(len(labels)) < self.k) / self.k)

    def lambda_kernel(self, labels: Doubles, groups: QueryGroups) -> LambdaKernel:
        factors = np.full(len(groups), 1.0 / self.k)
        return linear_lambda_kernel(self.relevance(labels), _first_ranks(self.k, groups), factors, groups)

    def sweep_kernel(self, labels: Doubles, groups: QueryGroups) -> SweepKernel:
        return self._linear_sweep(labels, groups, _first_ranks(self.k, groups), np.full(len(groups), 1.0 / self.k))

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        return self._discounted(labels, ranking, _first_ranks(self.k, ranking.groups) / self.k, n_threads)


@dataclass(frozen=True)
class Recall(RelevanceMetric):
    """The fraction of the relevant documents that are among the first k ranks."""

    name = "recall"
    k: int

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_cut(self.k, optional=False)

    def of_ranking(self, labels: Doubles) -> float:
        relevance = self.relevance(labels)
        return float(relevance[: self.k].sum() / relevance.sum()) if relevance.any() else np.nan

    def swap_deltas(self, labels: Doubles) -> Doubles:
        relevance = self.relevance(labels)
        return linear_swap_deltas(relevance, (np.arange(len(labels)) < self.k) / max(1.0, relevance.sum()))

    def lambda_kernel(self, labels: Doubles, groups: QueryGroups) -> LambdaKernel:
        relevance = self.relevance(labels)
        factors = 1.0 / np.maximum(1.0, relevant_documents(relevance, groups))
        return linear_lambda_kernel(relevance, _first_ranks(self.k, groups), factors, groups)

    def sweep_kernel(self, labels: Doubles, groups: QueryGroups) -> SweepKernel:
        factors = 1.0 / np.maximum(1.0, relevant_documents(self.relevance(labels), groups))
        return self._linear_sweep(labels, groups, _first_ranks(self.k, groups), factors)

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        found = self._discounted(labels, ranking, _first_ranks(self.k, ranking.groups), n_threads)
        return found / np.maximum(1.0, relevant_documents(self.relevance(labels), ranking.groups))


@dataclass(frozen=True)
class WTA(RelevanceMetric):
    """Winner takes all: 1 if the first document is relevant, 0 if not."""

    name = "wta"

    def of_ranking(self, labels: Doubles) -> float:
        relevance = self.relevance(labels)
        return float(relevance[0]) if relevance.any() else np.nan

    def swap_deltas(self, labels: Doubles) -> Doubles:
        return linear_swap_deltas(self.relevance(labels), (np.arange(len(labels)) < 1).astype(np.float64))

    def lambda_kernel(self, labels: Doubles, groups: QueryGroups) -> LambdaKernel:
        return linear_lambda_kernel(self.relevance(labels), np.ones(1), np.ones(len(groups)), groups)

    def sweep_kernel(self, labels: Doubles, groups: QueryGroups) -> SweepKernel:
        return self._linear_sweep(labels, groups, np.ones(1), np.ones(len(groups)))

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        return self._discounted(labels, ranking, np.ones(1), n_threads)


def relevant_documents(relevance: Doubles, groups: QueryGroups) -> Doubles:
    """Return the number of relevant documents of each query."""
    return np.add.reduceat(relevance[groups.rows], groups.offsets[:-1]) if len(groups) else relevance


def _first_ranks(k: int, groups: QueryGroups) -> Doubles:
    """Return a discount of 1 for each of the first k ranks, or as many as the longest query has."""
    return np.ones(min(k, int(groups.sizes.max(initial=0))))
