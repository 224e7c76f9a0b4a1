"""LambdaRank (Burges, Ragno & Le, NIPS 2006): a network trained on metric-weighted pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rankwright.data import QueryGroups
from rankwright.errors import InputError
from rankwright.metrics import NDCG, Metric
from rankwright.rankers.lambdas import LambdaGradients, without_cut
from rankwright.rankers.network import NetworkRanker
from rankwright.rankers.parameters import parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.learners.network import Pull
    from rankwright.training.training_set import QueryLabels


class LambdaRank(NetworkRanker):
    """A network trained on lambdas, which move each document's score where it improves the metric.

    The lambdas are those of LambdaMART: RankNet's gradient of each pair, times the change in the metric if the two
    documents swapped ranks.
    """

    name: ClassVar[str] = "lambdarank"

    metric: Metric = parameter(
        meaning="Metric to optimise. Its cut-off applies when rounds are evaluated, not in the lambdas.",
        default=NDCG(k=10),
        kw_only=False,
    )
    learning_rate: float = parameter(default=0.0005, tune=(0.0003, 0.001))
    hidden: Sequence[int] | int = parameter(default=(), tune=((), (10,)))

    def _pull(self, judged: QueryLabels) -> Pull:
        metric = without_cut(self.metric)
        lambdas = [
            LambdaGradients(metric, judged.y[rows], QueryGroups.of_one(len(rows))) for rows in judged.groups
        ]
        if not any(
            of_query(judged.y[rows])[1].any() for of_query, rows in zip(lambdas, judged.groups, strict=True)
        ):
            raise InputError(f"There is nothing to learn: no swap of documents changes {self.metric}.")
        return lambda query, scores: lambdas[query](scores, n_threads=1)[0]
