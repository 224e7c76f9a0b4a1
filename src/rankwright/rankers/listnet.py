"""ListNet (Cao, Qin, Liu, Tsai & Li, ICML 2007): a network trained on the cross entropy of whole lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright.rankers.network import NetworkRanker
from rankwright.rankers.parameters import parameter

if TYPE_CHECKING:
    from rankwright.arrays import Doubles
    from rankwright.learners.network import Pull
    from rankwright.training.training_set import QueryLabels


class ListNet(NetworkRanker):
    """A network trained on the cross entropy between the top-one probabilities of scores and of labels.

    A listwise method; the metric only chooses the round.
    """

    name: ClassVar[str] = "listnet"

    learning_rate: float = parameter(default=0.0005, tune=(0.0003, 0.001))
    scaling: str = parameter(default="query-zscore", tune=("query-zscore", "query-minmax"))

    def _pull(self, judged: QueryLabels) -> Pull:
        """Return -(P_z - P_y), the negative gradient of the cross entropy -sum P_y(j) log P_z(j)."""
        wanted = [top_one(judged.y[rows]) for rows in judged.groups]
        return lambda query, scores: wanted[query] - top_one(scores)


def top_one(values: Doubles) -> Doubles:
    """Return the probability that each document comes first: the softmax of the values."""
    chances = np.exp(values - values.max())
    return np.asarray(chances / chances.sum())
