"""LambdaRank (Burges, Ragno & Le, NIPS 2006): a network trained on metric-weighted pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.metrics.gain import NDCG
from rankwright.rankers.parameters.declaration import MetricParameter, parameter
from rankwright.rankers.shared.lambdas import LambdaParameters
from rankwright.rankers.shared.scaled_rankers import NetworkRanker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.metrics.protocols import Pull
    from rankwright.training.training_set import QueryLabels


class LambdaRank(LambdaParameters, NetworkRanker):
    """A network trained on lambdas, which move each document's score where it improves the metric.

    The lambdas are those of LambdaMART: RankNet's gradient of each pair, times the change in the metric if the two
    documents swapped ranks.

    Examples
    --------
    >>> train, test = rw.split_queries(rw.synthetic.gaussian_queries(20), 0.8, 0.2)
    >>> ranker = rw.LambdaRank("ndcg@5", hidden=[8, 4], learning_rate=0.01, rounds=10).fit(train)
    >>> round(ranker.score(test), 2)
    1.0
    """

    name: ClassVar[str] = "lambdarank"
    printed: ClassVar[Mapping[str, Any]] = {
        "normalise": False,
        "cut_lambdas": True,
        "double_lambdas": None,
        # Wu et al. (2010), section 5.2: two layers, and the rate of the artificial data.
        "hidden": (10,),
        "optimiser": "descent",
        "learning_rate": 1e-4,
        "patience": None,
    }

    metric: MetricParameter = parameter(
        meaning="Metric to optimise. Its cut-off applies when rounds are evaluated, and in the lambdas if "
        "`cut_lambdas`.",
        default=NDCG(k=10),
        kw_only=False,
    )
    learning_rate: float = parameter(default=0.0005, tune=(0.0003, 0.001))
    hidden: Sequence[int] | int = parameter(default=(), tune=((), (10,)))

    def _pull(self, judged: QueryLabels) -> Pull:
        lambdas = self._gradients(judged)
        _, hessian = lambdas(_small_scores(judged.y))
        if not hessian.any():
            raise InputError(f"There is nothing to learn: no swap of documents changes {self.metric}.")
        return lambdas.pull()


def _small_scores(labels: Doubles) -> Doubles:
    """Return scores below 1 in the order of the labels; large differences would leave no gradients."""
    levels, level_of_row = np.unique(labels, return_inverse=True)
    return np.asarray(level_of_row / len(levels))
