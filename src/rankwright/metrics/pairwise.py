"""Metrics over the pairs of a query's documents whose labels differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.metrics.base import Metric

if TYPE_CHECKING:
    from rankwright.arrays import Doubles
    from rankwright.data.ranking import Ranking


@dataclass(frozen=True)
class PairAccuracy(Metric):
    """The fraction of pairs with different labels whose better document ranks higher.

    With two labels and averaged ties it is the area under the ROC curve. A query whose labels are all equal is
    empty.
    """

    name = "pair_accuracy"

    def of_ranking(self, labels: Doubles) -> float:
        upper, lower = np.triu_indices(len(labels), 1)
        right, wrong = (labels[upper] > labels[lower]).sum(), (labels[upper] < labels[lower]).sum()
        return float(right / (right + wrong)) if right + wrong else np.nan

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        return _native.pair_accuracies(*self._sorted(ranking), labels, n_threads)


@dataclass(frozen=True)
class KendallTau(PairAccuracy):
    """(concordant - discordant) / all pairs with different labels: +1 is a perfect ranking, -1 a reversed one.

    A pair with equal scores counts 0, a pair with equal labels is ignored: Somers' D of the scores given the
    labels.
    """

    name = "kendall_tau"

    def of_ranking(self, labels: Doubles) -> float:
        return 2.0 * super().of_ranking(labels) - 1.0

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        return 2.0 * super()._evaluate(labels, ranking, n_threads) - 1.0
