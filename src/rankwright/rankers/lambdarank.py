"""LambdaRank (Burges, Ragno & Le, NIPS 2006): a network trained on metric-weighted pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.data import QueryGroups
from rankwright.errors import InputError
from rankwright.rankers.lambdas import LambdaGradients, without_cut
from rankwright.rankers.network import NetworkRanker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.arrays import Doubles
    from rankwright.learners.network import Pull
    from rankwright.training.training_set import QueryLabels


class LambdaRank(NetworkRanker):
    """Trains a network on lambdas: how far each document's score should move to improve the metric.

    They are LambdaMART's: RankNet's pull of every pair, times what the metric would change if the two traded
    ranks. The metric's cut-off counts where rounds are judged, not in the lambdas. Its `grid` for tuning: two
    learning rates, without a hidden layer and with one. What the parameters mean, `NetworkRanker` says.
    """

    name: ClassVar[str] = "lambdarank"
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {"learning_rate": (0.0003, 0.001), "hidden": ((), (10,))}

    def _pull(self, judged: QueryLabels) -> Pull:
        metric = without_cut(self.metric)
        lambdas = [
            LambdaGradients(metric, judged.y[rows], QueryGroups.of_one(len(rows))) for rows in judged.groups
        ]
        if not any(
            of_query(_ideal_scores(judged.y[rows]))[1].any()
            for of_query, rows in zip(lambdas, judged.groups, strict=True)
        ):
            raise InputError(f"There is nothing to learn: no swap of documents changes {self.metric}.")
        return lambda query, scores: lambdas[query](scores, n_threads=1)[0]


def _ideal_scores(labels: Doubles) -> Doubles:
    """Return scores from 0 to 1 in the order of the labels; large differences would leave no gradients."""
    return np.unique(labels, return_inverse=True)[1] / len(labels)
