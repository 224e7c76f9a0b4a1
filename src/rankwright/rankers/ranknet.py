"""RankNet (Burges et al., ICML 2005): a network trained on pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rankwright.learners.pairs import count_pairs
from rankwright.rankers.lambdas import LambdaGradients
from rankwright.rankers.network import NetworkRanker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.metrics.lambdas import Pull
    from rankwright.training.training_set import QueryLabels


class RankNet(NetworkRanker):
    """Trains a network so that the better document of every pair gets the higher score.

    The metric only chooses the round. `grid` for tuning: two learning rates, without a hidden layer and with one.
    See `NetworkRanker` for the parameters.
    """

    name: ClassVar[str] = "ranknet"
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {"learning_rate": (0.0003, 0.001), "hidden": ((), (10,))}

    def _pull(self, judged: QueryLabels) -> Pull:
        """Return minus the derivative of the loss by each score.

        The loss is the mean over pairs with label_i > label_j of log(1 + exp(score_j - score_i)).
        """
        return LambdaGradients(None, *judged, normalise=False, query_weights=1 / count_pairs(judged)).pull()
