"""ListNet (Cao, Qin, Liu, Tsai & Li, ICML 2007): a network trained on the cross entropy of whole lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.rankers.network import NetworkRanker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.arrays import Doubles
    from rankwright.learners.network import Pull
    from rankwright.training.training_set import QueryLabels


class ListNet(NetworkRanker):
    """Trains a network so that scores give each document the chance to come first that its label gives it.

    The metric only chooses the round. Its `grid` for tuning: two learning rates, and two scalings. What the
    parameters mean, `NetworkRanker` says.
    """

    name: ClassVar[str] = "listnet"
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "learning_rate": (0.0003, 0.001),
        "scaling": ("query-zscore", "query-minmax"),
    }

    def _pull(self, judged: QueryLabels) -> Pull:
        """Of the cross entropy -sum P_y(j) log P_z(j), the derivative by score j is P_z(j) - P_y(j)."""
        wanted = [top_one(judged.y[rows]) for rows in judged.groups]
        return lambda query, scores: wanted[query] - top_one(scores)


def top_one(values: Doubles) -> Doubles:
    """Return each document's chance to come first: exp(value), over their sum."""
    chances = np.exp(values - values.max())
    return np.asarray(chances / chances.sum())
