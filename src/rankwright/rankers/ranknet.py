"""RankNet (Burges et al., ICML 2005): a network trained on pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rankwright.rankers.parameters.declaration import parameter
from rankwright.rankers.shared.lambdas import LambdaGradients
from rankwright.rankers.shared.scaled_rankers import NetworkRanker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.metrics.protocols import Pull
    from rankwright.training.training_set import QueryLabels


class RankNet(NetworkRanker):
    """A network trained on pairs, so that the better document of each pair gets the higher score.

    A pairwise method; the metric only chooses the round.

    Examples
    --------
    >>> train, valid = rw.split_queries(rw.synthetic.gaussian_queries(20), 0.7, 0.3)
    >>> ranker = rw.RankNet(hidden=4, learning_rate=0.01, rounds=10).fit(train, validation=valid)
    >>> len(ranker.history_), round(ranker.score(valid), 2)
    (10, 1.0)
    """

    name: ClassVar[str] = "ranknet"

    learning_rate: float = parameter(default=0.0005, tune=(0.0003, 0.001))
    hidden: Sequence[int] | int = parameter(default=(), tune=((), (10,)))

    def _pull(self, judged: QueryLabels) -> Pull:
        """Return minus the derivative of the loss by each score.

        The loss is the mean over pairs with label_i > label_j of log(1 + exp(score_j - score_i)).
        """
        return LambdaGradients(None, *judged, normalise=False, query_weights=1 / judged.pair_divisors).pull()
