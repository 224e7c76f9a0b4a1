"""Metrics of a user who reads down the list until satisfied: reciprocal rank and expected reciprocal rank."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.metrics.base import Metric, NativeForm, checked_cut, require_finite
from rankwright.metrics.gain import Gain
from rankwright.metrics.lambdas import NativeLambdas
from rankwright.metrics.relevance import RelevanceMetric
from rankwright.metrics.sweep import native_sweep

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups, Ranking
    from rankwright.metrics.protocols import LambdaKernel, SweepKernel

# Above it, 1 - 2^-max_label rounds to 1: the best document would stop every user with certainty.
MAX_LABEL = 50


@dataclass(frozen=True)
class RR(RelevanceMetric):
    """1 / rank of the first relevant document, 0 if none is among the first k ranks; its mean is MRR.

    Examples
    --------
    >>> labels, scores, qid = [0, 1, 1, 0], [0.9, 0.8, 0.7, 0.2], ["a", "a", "b", "b"]
    >>> rw.metrics.RR()(labels, scores, qid)
    0.75
    """

    name = "mrr"
    k: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_cut(self.k)

    def of_ranking(self, labels: Doubles) -> float:
        relevant = np.flatnonzero(self.relevance(labels))
        return self._of_first(int(relevant[0])) if len(relevant) else np.nan

    def swap_deltas(self, labels: Doubles) -> Doubles:
        """Return the closed form: only a swap that changes the rank of the first relevant document counts."""
        n, relevance = len(labels), self.relevance(labels)
        deltas = np.zeros((n, n))
        relevant = np.flatnonzero(relevance)
        if not len(relevant):
            return deltas
        first = int(relevant[0])
        second = int(relevant[1]) if len(relevant) > 1 else n
        values = np.array([self._of_first(rank) for rank in range(n + 1)])
        for rank in range(first):  # a relevant document moves up to this rank
            deltas[rank, relevant] = values[rank] - values[first]
        below = np.flatnonzero(relevance == 0)
        below = below[below > first]  # the first relevant document moves down to one of these ranks
        deltas[first, below] = values[first] - values[np.minimum(below, second)]
        return np.maximum(deltas, deltas.T)

    def lambda_kernel(self, labels: Doubles, groups: QueryGroups) -> LambdaKernel:  # noqa: ARG002
        own = {"threshold": self.threshold, "depth": self.k}
        return NativeLambdas("reciprocal_rank", own)

    def sweep_kernel(self, labels: Doubles, groups: QueryGroups) -> SweepKernel:
        own = {"labels": labels, "threshold": self.threshold, "depth": self.k}
        return native_sweep(_native.sweep_reciprocal_ranks, self, labels, groups, **own)

    def divisors(self, labels: Doubles, groups: QueryGroups) -> Doubles:  # noqa: ARG002
        return np.ones(len(groups))

    def _of_first(self, rank: int) -> float:
        return 1.0 / (rank + 1) if self.k is None or rank < self.k else 0.0

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        return self._native_values(labels, ranking, n_threads)

    def _native_form(self, labels: Doubles, groups: QueryGroups) -> NativeForm:  # noqa: ARG002
        return NativeForm("reciprocal_ranks", (labels, self.threshold, self.k))


@dataclass(frozen=True)
class ERR(Metric):
    """Expected reciprocal rank (Chapelle, Metzler, Zhang & Grinspan 2009).

    A document satisfies the user, who then stops, with probability (2^label - 1) / 2^max_label; the metric is the
    expected value of 1 / rank of the stop, over the first k ranks. A query whose labels are all 0 is empty.

    Examples
    --------
    >>> metric = rw.metrics.ERR(k=10, max_label=2)
    >>> round(metric([2, 0, 1], [0.9, 0.8, 0.7]), 4)
    0.7708
    >>> round(metric([2, 0, 1], [0.7, 0.8, 0.9]), 4)
    0.4375
    """

    name = "err"
    k: int | None = None
    max_label: float = field(default=4.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_cut(self.k)
        require_finite("max_label", self.max_label)
        if not 0 < self.max_label <= MAX_LABEL:
            raise InputError(f"ERR's max_label must be above 0 and at most {MAX_LABEL}, not {self.max_label:g}.")

    def stop_probability(self, labels: Doubles) -> Doubles:
        """Return the probability that a document satisfies the user."""
        labels = np.asarray(labels)
        if len(labels) and labels.max() > self.max_label:
            raise InputError(
                f"A label is {labels.max():g}, above the max_label {self.max_label:g} of ERR; "
                f"use ERR(max_label={labels.max():g})."
            )
        return Gain.EXPONENTIAL(labels) / float(2.0**self.max_label)

    def of_ranking(self, labels: Doubles) -> float:
        stops, value, reading = self.stop_probability(labels), 0.0, 1.0
        if not stops.any():
            return np.nan
        for rank, stop in enumerate(stops[: self.k], start=1):
            value += reading * stop / rank
            reading *= 1.0 - stop
        return float(value)

    def swap_deltas(self, labels: Doubles) -> Doubles:
        """Return the closed form: terms between the two ranks are scaled, terms outside them do not change."""
        stops, ranks = self.stop_probability(labels), np.arange(1, len(labels) + 1)
        weights = np.where(ranks <= (self.k or len(labels)), 1.0 / ranks, 0.0)
        reading = np.cumprod(np.append(1.0, 1.0 - stops[:-1]))
        contributions = np.cumsum(reading * stops * weights)
        upper, lower = np.triu_indices(len(labels), 1)
        scale = (1.0 - stops[lower]) / (1.0 - stops[upper])
        between = contributions[lower] - (reading * stops * weights)[lower] - contributions[upper]
        change = (
            (stops[lower] - stops[upper]) * reading[upper] * weights[upper]
            + (scale - 1.0) * between
            + (stops[upper] * scale - stops[lower]) * reading[lower] * weights[lower]
        )
        deltas = np.zeros((len(labels), len(labels)))
        deltas[upper, lower] = deltas[lower, upper] = np.abs(change)
        return deltas

    def lambda_kernel(self, labels: Doubles, groups: QueryGroups) -> LambdaKernel:  # noqa: ARG002
        own = {"stop_probability": self.stop_probability(labels), "depth": self.k}
        return NativeLambdas("expected_reciprocal_rank", own)

    def sweep_kernel(self, labels: Doubles, groups: QueryGroups) -> SweepKernel:
        own = {"stop_probability": self.stop_probability(labels), "depth": self.k}
        return native_sweep(_native.sweep_expected_reciprocal_ranks, self, labels, groups, **own)

    def divisors(self, labels: Doubles, groups: QueryGroups) -> Doubles:  # noqa: ARG002
        return np.ones(len(groups))

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        return self._native_values(labels, ranking, n_threads)

    def _native_form(self, labels: Doubles, groups: QueryGroups) -> NativeForm:  # noqa: ARG002
        return NativeForm("expected_reciprocal_ranks", (self.stop_probability(labels), self.k))
