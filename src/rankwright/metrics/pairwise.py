"""Metrics over the pairs of a query's documents whose labels differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.metrics.base import Metric

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
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
    """

    name = "kendall_tau"

    def of_ranking(self, labels: Doubles) -> float:
        return 2.0 * super().of_ranking(labels) - 1.0

    def swap_deltas(self, labels: Doubles) -> Doubles:
        return 2.0 * super().swap_deltas(labels)

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        return 2.0 * super()._evaluate(labels, ranking, n_threads) - 1.0
