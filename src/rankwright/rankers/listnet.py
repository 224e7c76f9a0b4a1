"""ListNet (Cao, Qin, Liu, Tsai & Li, ICML 2007): a network trained on the cross entropy of whole lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rankwright import _native
from rankwright.rankers.parameters.declaration import parameter
from rankwright.rankers.shared.scaled_rankers import NetworkRanker

if TYPE_CHECKING:
    from rankwright.metrics.protocols import Pull
    from rankwright.training.training_set import QueryLabels


class ListNet(NetworkRanker):
    """A network trained on the cross entropy between the top-one probabilities of scores and of labels.

    A listwise method; the metric only chooses the round.

    Examples
    --------
    >>> ranker = rw.ListNet(rounds=10).fit(rw.synthetic.gaussian_queries(20))
    >>> ranker.rank([[-1.0, -0.9], [1.1, 0.8]], qid="hats").tolist()
    [2, 1]
    """

    name: ClassVar[str] = "listnet"

    learning_rate: float = parameter(default=0.0005, tune=(0.0003, 0.001))
    scaling: str = parameter(default="query-zscore", tune=("query-zscore", "query-minmax"))

    def _pull(self, judged: QueryLabels) -> Pull:
        """Return P_y(j) - P_z(j), minus the derivative of the cross entropy -sum P_y(j) log P_z(j) by score j.

        P(j) is the probability that document j comes first: exp(its label or score), over the query's sum.
        """
        return _native.cross_entropy_pull(offsets=judged.groups.offsets, labels=judged.y)
