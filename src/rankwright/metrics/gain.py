"""Discounted cumulative gain and its relatives (Järvelin & Kekäläinen 2002)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.groups import Ranking
from rankwright.metrics.base import (
    Metric,
    NativeForm,
    checked_cut,
    linear_swap_deltas,
    require_finite,
    require_kind,
    spell_number,
)
from rankwright.metrics.lambdas import linear_lambda_kernel
from rankwright.metrics.sweep import native_sweep, rank_weights

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups
    from rankwright.metrics.protocols import LambdaKernel, SweepKernel

HIGHEST_EXPONENT = 1000.0  # 2^1000 is still a finite double
HIGHEST_GAIN = 1e280  # above it, sums over queries may overflow


@dataclass(frozen=True)
class Gain:
    """The gain of a label: `Gain.EXPONENTIAL`, `Gain.LINEAR` or `Gain.table(0, 1, 3)`.

    Examples
    --------
    >>> labels, scores = [0, 1, 2], [0.9, 0.8, 0.7]
    >>> round(rw.metrics.NDCG(gain=rw.metrics.Gain.LINEAR)(labels, scores), 4)
    0.6199
    >>> round(rw.metrics.NDCG(gain=rw.metrics.Gain.table(0, 1, 5))(labels, scores), 4)
    0.556
    """

    kind: str
    values: tuple[float, ...] = ()

    EXPONENTIAL: ClassVar[Gain]
    LINEAR: ClassVar[Gain]

    @classmethod
    def table(cls, *values: float) -> Gain:
        """Return a gain with the first value for label 0, the second for label 1, and so on."""
        if not values or not all(np.isfinite(value) and value >= 0 for value in values):
            raise InputError(f"A gain table needs finite numbers, none of them negative, not {values}.")
        return cls("table", tuple(float(value) for value in values))

    def __call__(self, labels: Doubles) -> Doubles:
        """Return the gain of every label."""
        labels = np.asarray(labels)
        if len(labels) and labels.min() < 0:
            raise InputError(
                f"A gain is not defined for negative labels, but one label is {labels.min():g}; shift the labels, "
                "or choose a metric that only compares them, such as pair_accuracy or kendall_tau."
            )
        if self.kind == "linear":
            return labels
        if self.kind == "exponential":
            if len(labels) and labels.max() > HIGHEST_EXPONENT:
                raise InputError(
                    f"The exponential gain, 2^label - 1, takes labels up to {HIGHEST_EXPONENT:g}, but one label "
                    f"is {labels.max():g}; use smaller labels or Gain.LINEAR."
                )
            return np.exp2(labels) - 1.0
        return self._look_up(labels)

    def _look_up(self, labels: Doubles) -> Doubles:
        levels = labels.astype(np.int64)
        wrong = (levels != labels) | (levels >= len(self.values))
        if wrong.any():
            raise InputError(
                f"The gain table has labels 0 to {len(self.values) - 1}, but one label is {labels[wrong][0]:g}."
            )
        return np.asarray(self.values)[levels]

    def __str__(self) -> str:
        return ":".join([self.kind, *map(spell_number, self.values)])


Gain.EXPONENTIAL = Gain("exponential")
Gain.LINEAR = Gain("linear")


class Discount(Enum):
    """The discount of lower ranks.

    Examples
    --------
    >>> labels, scores = [0, 1, 0], [0.9, 0.8, 0.7]
    >>> for discount in rw.metrics.Discount:
    ...     print(discount.value, round(rw.metrics.NDCG(discount=discount)(labels, scores), 4))
    log2 0.6309
    letor 1.0
    """

    __repr__ = Enum.__str__

    LOG2 = "log2"
    """1 / log2(1 + rank)."""
    LETOR = "letor"
    """1 at ranks 1 and 2, then 1 / log2(rank), as in LETOR's evaluation scripts."""

    def of_ranks(self, n: int) -> Doubles:
        """Return the discounts of ranks 1 to n."""
        ranks = np.arange(1, n + 1)
        return 1.0 / np.log2(1 + ranks if self is Discount.LOG2 else np.maximum(2, ranks))


@dataclass(frozen=True)
class DCG(Metric):
    """Discounted cumulative gain: the sum of gain x discount over the first k ranks.

    Examples
    --------
    >>> labels, scores = [2, 0, 1], [0.9, 0.8, 0.7]
    >>> rw.metrics.DCG(k=3)(labels, scores)
    3.5
    >>> rw.metrics.DCG(k=3, gain=rw.metrics.Gain.LINEAR)(labels, scores)
    2.5
    """

    name = "dcg"
    k: int | None = None
    gain: Gain = Gain.EXPONENTIAL
    discount: Discount = Discount.LOG2

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_cut(self.k)
        require_kind("gain", self.gain, Gain)
        require_kind("discount", self.discount, Discount)

    def of_ranking(self, labels: Doubles) -> float:
        return float((self.gain(labels) * self._discounts(len(labels))).sum())

    def swap_deltas(self, labels: Doubles) -> Doubles:
        return linear_swap_deltas(self.gain(labels), self._discounts(len(labels)))

    def lambda_kernel(self, labels: Doubles, groups: QueryGroups) -> LambdaKernel:
        factors = self._query_factors(labels, groups)
        return linear_lambda_kernel(self.gain(labels), self._table(groups), factors, groups)

    def sweep_kernel(self, labels: Doubles, groups: QueryGroups) -> SweepKernel:
        weights = rank_weights(self._table(groups), self._query_factors(labels, groups), groups)
        gains = self.gain(labels)
        if gains.max(initial=0.0) > HIGHEST_GAIN:
            raise InputError(f"{self} cannot be summed over queries: the gain of a label is {gains.max():.4g}.")
        return native_sweep(_native.sweep_gains, self, labels, groups, gains=gains, rank_weights=weights)

    def divisors(self, labels: Doubles, groups: QueryGroups) -> Doubles:  # noqa: ARG002
        return np.ones(len(groups))

    def _query_factors(self, labels: Doubles, groups: QueryGroups) -> Doubles:
        """Return the factor of each query's DCG."""
        return 1.0 / self.divisors(labels, groups)

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        return self._native_values(labels, ranking, n_threads)

    def _native_form(self, labels: Doubles, groups: QueryGroups) -> NativeForm:
        return NativeForm("discounted_gains", (self.gain(labels), self._table(groups)))

    def _discounts(self, n: int) -> Doubles:
        """Return the discounts of ranks 1 to n, 0 beyond the cut-off."""
        discounts = self.discount.of_ranks(n)
        discounts[self.k or n :] = 0.0
        return discounts

    def _table(self, groups: QueryGroups) -> Doubles:
        """Return the discounts of the ranks up to the cut-off or the length of the longest query."""
        longest = int(groups.sizes.max(initial=0))
        return self.discount.of_ranks(min(self.k or longest, longest))


@dataclass(frozen=True)
class NDCG(DCG):
    """DCG divided by the DCG of the ideal ranking; 1 is perfect.

    A query whose gains are all 0 is empty. `fewer_than_k` is the value of a query with fewer than k documents;
    None evaluates it on the documents that it has.

    Examples
    --------
    >>> labels, scores, qid = [2, 0, 1, 0, 1], [0.9, 0.8, 0.7, 0.2, 0.4], ["a", "a", "a", "b", "b"]
    >>> round(rw.metrics.NDCG(k=2)(labels, scores, qid), 4)
    0.9131
    >>> rw.metrics.NDCG(k=2) == rw.metrics.parse("ndcg@2")
    True
    """

    name = "ndcg"
    fewer_than_k: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_finite("fewer_than_k", self.fewer_than_k, optional=True)

    def of_ranking(self, labels: Doubles) -> float:
        ideal = self._ideal(labels)
        if ideal > 0 and self._is_short(len(labels)):
            return float(self.fewer_than_k or 0.0)
        return super().of_ranking(labels) / ideal if ideal > 0 else np.nan

    def swap_deltas(self, labels: Doubles) -> Doubles:
        ideal = self._ideal(labels)
        if ideal <= 0 or self._is_short(len(labels)):
            return np.zeros((len(labels), len(labels)))
        return super().swap_deltas(labels) / ideal

    def sweep_kernel(self, labels: Doubles, groups: QueryGroups) -> SweepKernel:
        short = self._is_short(groups.sizes)
        # In the native sweep a query with fewer than k documents has the value 0, whatever `fewer_than_k` is.
        return Metric.sweep_kernel(self, labels, groups) if np.any(short) else super().sweep_kernel(labels, groups)

    def divisors(self, labels: Doubles, groups: QueryGroups) -> Doubles:
        return DCG(self.k, self.gain, self.discount).per_query(labels, Ranking.of(self.gain(labels), groups))

    def _query_factors(self, labels: Doubles, groups: QueryGroups) -> Doubles:
        ideal = self.divisors(labels, groups)
        ideal[(ideal <= 0) | self._is_short(groups.sizes)] = np.inf
        return 1.0 / ideal

    def _is_short(self, n: Any) -> Any:
        return self.fewer_than_k is not None and self.k is not None and n < self.k

    def _ideal(self, labels: Doubles) -> float:
        return float((best_first(self.gain(labels)) * self._discounts(len(labels))).sum())

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        values = self._native_values(labels, ranking, n_threads)
        if self.fewer_than_k is not None and self.k is not None:
            values[(ranking.groups.sizes < self.k) & ~np.isnan(values)] = self.fewer_than_k
        return values

    def native_measure(self, labels: Doubles, groups: QueryGroups) -> _native.RankMeasure | None:
        return super().native_measure(labels, groups) if self.fewer_than_k is None else None

    def _native_form(self, labels: Doubles, groups: QueryGroups) -> NativeForm:
        return NativeForm("ndcgs", (self.gain(labels), self._table(groups)))


@dataclass(frozen=True)
class MeanNDCG(Metric):
    """The mean of NDCG@1, NDCG@2, ... up to the number of documents of the query, as in LETOR 4.0.

    Examples
    --------
    >>> labels, scores = [0, 2, 1], [0.9, 0.8, 0.7]
    >>> round(rw.metrics.MeanNDCG()(labels, scores), 4)
    0.3934
    >>> [round(rw.metrics.NDCG(k)(labels, scores), 4) for k in (1, 2, 3)]
    [0.0, 0.5213, 0.659]
    """

    name = "mean_ndcg"
    gain: Gain = Gain.EXPONENTIAL
    discount: Discount = Discount.LOG2

    def __post_init__(self) -> None:
        super().__post_init__()
        require_kind("gain", self.gain, Gain)
        require_kind("discount", self.discount, Discount)

    def of_ranking(self, labels: Doubles) -> float:
        gains, discounts = self.gain(labels), self.discount.of_ranks(len(labels))
        if not (gains > 0).any():
            return np.nan
        reached, ideal = (np.cumsum(order * discounts) for order in (gains, best_first(gains)))
        return float((reached / ideal).mean())

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        discounts = self.discount.of_ranks(int(ranking.groups.sizes.max(initial=0)))
        return _native.mean_ndcgs(*self._sorted(ranking), self.gain(labels), discounts, n_threads)


def best_first(gains: Doubles) -> Doubles:
    """Return the gains of the ideal ranking."""
    return np.sort(gains)[::-1]
