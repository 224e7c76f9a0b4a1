"""Metrics of binary relevance: precision, recall, winner takes all, average precision."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.metrics.base import Metric, NativeForm, checked_cut, linear_swap_deltas, require_finite
from rankwright.metrics.lambdas import NativeLambdas, linear_lambda_kernel
from rankwright.metrics.sweep import native_sweep, rank_weights

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups, Ranking
    from rankwright.metrics.protocols import LambdaKernel, SweepKernel


@dataclass(frozen=True)
class RelevanceMetric(Metric):
    """Documents with a label of at least `threshold` are relevant; a query without relevant documents is empty."""

    threshold: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_finite("threshold", self.threshold)

    def relevance(self, labels: Doubles) -> Doubles:
        """Return 1 for each relevant document and 0 for the others."""
        return (np.asarray(labels) >= self.threshold).astype(np.float64)


@dataclass(frozen=True)
class _InFirstRanks(RelevanceMetric):
    """The number of relevant documents in the first ranks, divided by a number that may depend on the query."""

    @property
    @abstractmethod
    def _depth(self) -> int:
        """How many ranks count."""

    @abstractmethod
    def _divisor(self, n_relevant: Doubles) -> Doubles:
        """Return the divisor of each query, given its number of relevant documents."""

    def of_ranking(self, labels: Doubles) -> float:
        relevance = self.relevance(labels)
        hits, n_relevant = relevance[: self._depth].sum(), relevance.sum()
        return float(hits / self._divisor(n_relevant)) if n_relevant else np.nan

    def swap_deltas(self, labels: Doubles) -> Doubles:
        relevance = self.relevance(labels)
        discounts = (np.arange(len(labels)) < self._depth) / self._divisor(relevance.sum())
        return linear_swap_deltas(relevance, discounts)

    def lambda_kernel(self, labels: Doubles, groups: QueryGroups) -> LambdaKernel:
        relevance = self.relevance(labels)
        factors = 1.0 / self.divisors(labels, groups)
        return linear_lambda_kernel(relevance, self._discounts(groups), factors, groups)

    def sweep_kernel(self, labels: Doubles, groups: QueryGroups) -> SweepKernel:
        relevance = self.relevance(labels)
        factors = 1.0 / self.divisors(labels, groups)
        weights = rank_weights(self._discounts(groups), factors, groups)
        return native_sweep(_native.sweep_gains, self, labels, groups, gains=relevance, rank_weights=weights)

    def divisors(self, labels: Doubles, groups: QueryGroups) -> Doubles:
        return self._divisor(relevant_documents(self.relevance(labels), groups))

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        relevance, groups = self.relevance(labels), ranking.groups
        hits = _native.discounted_gains(*self._sorted(ranking), relevance, self._discounts(groups), n_threads)
        n_relevant = relevant_documents(relevance, groups)
        return np.where(n_relevant > 0, hits / self._divisor(n_relevant), np.nan)

    def _discounts(self, groups: QueryGroups) -> Doubles:
        """Return a discount of 1 for each rank that counts, at most as many as the longest query has."""
        return np.ones(min(self._depth, int(groups.sizes.max(initial=0))))


@dataclass(frozen=True)
class _CutRelevance(_InFirstRanks):
    """A metric that must be cut off at a rank k."""

    k: int

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_cut(self.k, optional=False)

    @property
    def _depth(self) -> int:
        return self.k


@dataclass(frozen=True)
class Precision(_CutRelevance):
    """The fraction of the first k ranks with a relevant document; ranks below the last document are irrelevant.

    Examples
    --------
    >>> labels, scores = [2, 0, 1, 1], [0.9, 0.8, 0.7, 0.6]
    >>> rw.metrics.Precision(k=4)(labels, scores)
    0.75
    >>> rw.metrics.Precision(k=4, threshold=2)(labels, scores)
    0.25
    """

    name = "p"

    def _divisor(self, n_relevant: Doubles) -> Doubles:
        return np.full_like(n_relevant, self.k)


@dataclass(frozen=True)
class Recall(_CutRelevance):
    """The fraction of the relevant documents that are among the first k ranks.

    Examples
    --------
    >>> labels, scores = [1, 0, 1, 1, 1], [0.9, 0.8, 0.7, 0.6, 0.5]
    >>> [rw.metrics.Recall(k)(labels, scores) for k in (1, 3, 5)]
    [0.25, 0.5, 1.0]
    """

    name = "recall"

    def _divisor(self, n_relevant: Doubles) -> Doubles:
        return np.maximum(1.0, n_relevant)  # an empty query has no value anyway


@dataclass(frozen=True)
class WTA(_InFirstRanks):
    """Winner takes all: 1 if the first document is relevant, 0 if not.

    Examples
    --------
    >>> labels, scores, qid = [0, 1, 1, 0], [0.9, 0.8, 0.7, 0.2], ["a", "a", "b", "b"]
    >>> rw.metrics.WTA()(labels, scores, qid)
    0.5
    """

    name = "wta"

    @property
    def _depth(self) -> int:
        return 1

    def _divisor(self, n_relevant: Doubles) -> Doubles:
        return np.ones_like(n_relevant)


@dataclass(frozen=True)
class AP(RelevanceMetric):
    """Average precision: the mean, over the relevant documents, of the precision at their ranks; its mean is MAP.

    A relevant document below rank k contributes 0. The sum is divided by the number of relevant documents or, if
    `capped`, by the smaller of that number and k, as in LightGBM and XGBoost.

    Examples
    --------
    >>> labels, scores = [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]
    >>> round(rw.metrics.AP()(labels, scores), 4)
    0.8333
    >>> rw.metrics.AP(k=1)(labels, scores)
    0.5
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
        n_found = np.cumsum(relevance)
        between = np.cumsum(relevance * inverse_ranks)  # a difference of two entries sums over the ranks between
        upper, lower = np.triu_indices(len(labels), 1)
        passed = between[lower] - between[upper] - relevance[lower] * inverse_ranks[lower]
        rising = relevance[lower] > relevance[upper]
        leaves = n_found[lower] * inverse_ranks[lower]
        arrives = (n_found[upper] + rising) * inverse_ranks[upper]
        change = np.where(relevance[lower] == relevance[upper], 0.0, np.abs(arrives - leaves + passed))
        deltas = np.zeros((len(labels), len(labels)))
        deltas[upper, lower] = deltas[lower, upper] = change / self._divisor(
            max(1.0, relevance.sum()), len(labels)
        )
        return deltas

    def lambda_kernel(self, labels: Doubles, groups: QueryGroups) -> LambdaKernel:  # noqa: ARG002
        own = {"threshold": self.threshold, "depth": self.k, "capped": self.capped}
        return NativeLambdas("average_precision", own)

    def sweep_kernel(self, labels: Doubles, groups: QueryGroups) -> SweepKernel:
        own = {"labels": labels, "threshold": self.threshold, "depth": self.k, "capped": self.capped}
        return native_sweep(_native.sweep_average_precisions, self, labels, groups, **own)

    def divisors(self, labels: Doubles, groups: QueryGroups) -> Doubles:
        n_relevant = relevant_documents(self.relevance(labels), groups)
        return np.minimum(n_relevant, self.k) if self.capped and self.k is not None else n_relevant

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        return self._native_values(labels, ranking, n_threads)

    def _native_form(self, labels: Doubles, groups: QueryGroups) -> NativeForm:  # noqa: ARG002
        return NativeForm("average_precisions", (labels, self.threshold, self.k, self.capped))

    def _divisor(self, n_relevant: float, n: int) -> float:
        return min(n_relevant, self.k or n, n) if self.capped else n_relevant

    def _inverse_ranks(self, n: int) -> Doubles:
        ranks = np.arange(1, n + 1)
        return np.where(ranks <= (self.k or n), 1.0 / ranks, 0.0)


def relevant_documents(relevance: Doubles, groups: QueryGroups) -> Doubles:
    """Return the number of relevant documents of each query."""
    return np.add.reduceat(relevance[groups.rows], groups.offsets[:-1]) if len(groups) else relevance
