"""RankNet (Burges et al., ICML 2005): a network trained on pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rankwright.data import QueryGroups
from rankwright.learners.pairs import count_pairs
from rankwright.rankers.lambdas import LambdaGradients
from rankwright.rankers.network import NetworkRanker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.learners.network import Pull
    from rankwright.training.training_set import QueryLabels


class RankNet(NetworkRanker):
    """Trains a network so that the better document of every pair gets the higher score.

    The metric only chooses the round. Its `grid` for tuning: two learning rates, without a hidden layer and with
    one. What the parameters mean, `NetworkRanker` says.
    """

    name: ClassVar[str] = "ranknet"
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {"learning_rate": (0.0003, 0.001), "hidden": ((), (10,))}

    def _pull(self, judged: QueryLabels) -> Pull:
        """Of the mean over pairs with label_i > label_j of log(1 + exp(score_j - score_i))."""
        pairs = [
            LambdaGradients(
                None, judged.y[rows], QueryGroups.of_one(len(rows)), normalise=False, query_weights=[1 / count]
            )
            for rows, count in zip(judged.groups, count_pairs(judged), strict=True)
        ]
        return lambda query, scores: pairs[query](scores, n_threads=1)[0]
