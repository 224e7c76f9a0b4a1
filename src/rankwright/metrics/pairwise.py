"""Metrics that compare documents of different labels: pair accuracy, Kendall's tau, the dot product of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Never

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.metrics.base import Metric

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups, Ranking


@dataclass(frozen=True)
class PairAccuracy(Metric):
    """The fraction of pairs with different labels whose better document ranks higher.

    With two labels and averaged ties it is the area under the ROC curve. A query whose labels are all equal is
    empty.

    Examples
    --------
    >>> labels, scores = [1, 1, 0, 0], [0.9, 0.3, 0.5, 0.1]
    >>> rw.metrics.PairAccuracy()(labels, scores)
    0.75
    """

    name = "pair_accuracy"

    def of_ranking(self, labels: Doubles) -> float:
        labels = np.asarray(labels)
        upper, lower = np.triu_indices(len(labels), 1)
        right, wrong = (labels[upper] > labels[lower]).sum(), (labels[upper] < labels[lower]).sum()
        return float(right / (right + wrong)) if right + wrong else np.nan

    def swap_deltas(self, labels: Doubles) -> Doubles:
        """Return the closed form: only pairs with a swapped document change, at most down to the lower rank."""
        levels, level = np.unique(labels, return_inverse=True)
        signs = np.sign(levels[:, None] - labels)  # of each label against the label of each rank
        beaten = np.cumsum(signs, axis=1)
        upper, lower = np.triu_indices(len(labels), 1)
        change = signs[level[lower], upper]
        for sign, document in ((1.0, lower), (-1.0, upper)):
            between = beaten[level[document], lower - 1] - beaten[level[document], upper]
            change = change + sign * between
        deltas = np.zeros((len(labels), len(labels)))
        n_pairs = max(1, (labels[upper] != labels[lower]).sum())
        deltas[upper, lower] = deltas[lower, upper] = np.abs(change) / n_pairs
        return deltas

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        return _native.pair_accuracies(*self._sorted(ranking), labels, n_threads)


@dataclass(frozen=True)
class KendallTau(PairAccuracy):
    """(concordant - discordant) / all pairs with different labels: +1 is a perfect ranking, -1 a reversed one.

    A pair with equal scores counts 0, a pair with equal labels is ignored: Somers' D of the scores given the
    labels.

    Examples
    --------
    >>> metric = rw.metrics.KendallTau()
    >>> metric([2, 1, 0], [0.9, 0.5, 0.1])
    1.0
    >>> metric([2, 1, 0], [0.1, 0.5, 0.9])
    -1.0
    """

    name = "kendall_tau"

    def of_ranking(self, labels: Doubles) -> float:
        return 2.0 * super().of_ranking(labels) - 1.0

    def swap_deltas(self, labels: Doubles) -> Doubles:
        return 2.0 * super().swap_deltas(labels)

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        return 2.0 * super()._evaluate(labels, ranking, n_threads) - 1.0


@dataclass(frozen=True)
class DotProduct(Metric):
    """The dot product of scores and labels: sum of score x (label - mean) / sum of (label - mean)^2, per query.

    It measures scores instead of ranks, and AdaRank's training always improves it (Xu et al. 2010).

    It is linear in the scores, so that delta of AdaRank's theorem is always 0. Scores equal to the labels have the
    value 1. With labels at least 1 apart, scores between 0 and 1 have values between -1 and 1. A query whose
    labels are all equal is empty.

    Examples
    --------
    >>> metric = rw.metrics.DotProduct()
    >>> metric([2, 1, 0], [2.0, 1.0, 0.0])
    1.0
    >>> round(metric([2, 1, 0], [0.6, 0.5, 0.4]), 4)  # the same order, but the scores are closer
    0.1
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
