"""LambdaRank (Burges, Ragno & Le, NIPS 2006): a network trained on metric-weighted pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.errors import InputError
from rankwright.rankers.lambdas import LambdaGradients, without_cut
from rankwright.rankers.network import NetworkRanker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.arrays import Doubles
    from rankwright.metrics.lambdas import Pull
    from rankwright.training.training_set import QueryLabels


class LambdaRank(NetworkRanker):
    """Trains a network on lambdas: how far each document's score should move to improve the metric.

    The lambdas are those of LambdaMART: RankNet's gradient of every pair, times the change of the metric if the
    two documents swapped ranks. The metric's cut-off counts where rounds are judged, not in the lambdas. `grid`
    for tuning: two learning rates, without a hidden layer and with one. See `NetworkRanker` for the parameters.
    """

    name: ClassVar[str] = "lambdarank"
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {"learning_rate": (0.0003, 0.001), "hidden": ((), (10,))}

    def _pull(self, judged: QueryLabels) -> Pull:
        lambdas = LambdaGradients(without_cut(self.metric), *judged)
        _, hessian = lambdas(_small_scores(judged.y))
        if not hessian.any():
            raise InputError(f"There is nothing to learn: no swap of documents changes {self.metric}.")
        return lambdas.pull()


def _small_scores(labels: Doubles) -> Doubles:
    """Return scores below 1 in the order of the labels; large differences would leave no gradients."""
    levels, place = np.unique(labels, return_inverse=True)
    return np.asarray(place / len(levels))
