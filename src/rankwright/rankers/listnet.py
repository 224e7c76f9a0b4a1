"""ListNet (Cao, Qin, Liu, Tsai & Li, ICML 2007): a network trained on the cross entropy of whole lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rankwright import _native
from rankwright.rankers.network import NetworkRanker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.metrics.lambdas import Pull
    from rankwright.training.training_set import QueryLabels


class ListNet(NetworkRanker):
    """Trains a network so that scores give each document the probability to come first that its label gives it.

    The metric only chooses the round. `grid` for tuning: two learning rates and two scalings. See `NetworkRanker`
    for the parameters.
    """

    name: ClassVar[str] = "listnet"
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "learning_rate": (0.0003, 0.001),
        "scaling": ("query-zscore", "query-minmax"),
    }

    def _pull(self, judged: QueryLabels) -> Pull:
        """Return P_y(j) - P_z(j), minus the derivative of the cross entropy -sum P_y(j) log P_z(j) by score j.

        P(j) is the probability that document j comes first: exp(its label or score), over the query's sum.
        """
        return _native.cross_entropy_pull(offsets=judged.groups.offsets, labels=judged.y)
