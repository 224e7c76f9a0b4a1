"""MART (Friedman, Annals of Statistics 2001): boosted trees that predict the label by least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.metrics.gain import Gain
from rankwright.rankers.parameters.checks import OneOf
from rankwright.rankers.parameters.declaration import fixed, parameter
from rankwright.rankers.parameters.search_space import Choices, Range
from rankwright.rankers.shared.tree_ranker import TreeRanker, min_documents_for
from rankwright.training.learners.signal import Gradients
from rankwright.training.learners.tree import NativeGradients

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.training.fit_task import FitTask

HIGHEST_TARGET = 1e100  # so that sums of squares are finite


@dataclass(frozen=True)
class LeastSquaresRule:
    """Algorithm 2 of the paper: the residual of each document, and the shrinkage."""

    remedy: ClassVar[str] = "use a lower learning_rate"
    targets: Doubles
    weights: Doubles | None
    learning_rate: float

    def first_signal(self, scores: Doubles) -> Gradients:
        return self.signal(scores)

    def signal(self, scores: Doubles) -> Gradients:
        """y~_i = y_i - F(x_i)."""
        residual = self.targets - scores
        if self.weights is None:
            return Gradients(residual, np.ones(len(residual)))
        return Gradients(residual * self.weights, self.weights)

    def native(self) -> NativeGradients:
        """Return the rule in native code."""
        return NativeGradients(_native.squared_error_rule(self.targets, self.weights), self.learning_rate)

    def step(self, _signal: Gradients, outputs: Doubles) -> float | None:
        """Return the shrinkage v; None once no split helps."""
        return self.learning_rate if np.ptp(outputs) > 0.0 else None


class MART(TreeRanker):
    """Boosted regression trees on residuals: documents are ranked by their predicted label.

    A pointwise method: the metric only chooses the round. Scores are on the scale of the targets, minus their
    mean, which does not change a ranking.

    Examples
    --------
    >>> rates = [0.02, 0.31, 0.11, 0.05]  # labels may be any numbers, such as click rates
    >>> judged = rw.RankingData([[1, 5], [9, 4], [6, 2], [2, 3]], rates, [7, 7, 8, 8])
    >>> rw.MART(rounds=10).fit(judged).rank(judged).tolist()
    [2, 1, 1, 2]
    """

    name: ClassVar[str] = "mart"

    min_documents: int | None = parameter(
        default=None, search=Range(1, 100, log=True, automatic=min_documents_for)
    )
    targets: str = parameter(
        OneOf(("labels", "gains")),
        "What the trees predict: 'labels', or 'gains', 2^label - 1, which give high labels more weight.",
        default="labels",
        search=Choices("labels", "gains"),
    )
    min_hessian: float = fixed(default=0.0)  # every hessian is 1, so min_documents says the same
    l2: float = parameter(
        meaning="L2 regularisation: added to the number of documents of each leaf, which shrinks the values of "
        "small leaves.",
        default=1.0,
    )

    def _rule(self, task: FitTask) -> LeastSquaresRule:
        targets = self._targets(task.train.all_labels)
        _require_small(targets)
        # A constant changes no ranking, so the initial scores may be on any level.
        start = 0.0 if task.start is None else task.first_scores
        level = np.average(targets - start, weights=task.weights)
        return LeastSquaresRule(self._targets(task.train.labels.y) - level, task.weights, self.learning_rate)

    def _targets(self, labels: Doubles) -> Doubles:
        return Gain.EXPONENTIAL(labels) if self.targets == "gains" else labels


def _require_small(targets: Doubles) -> None:
    """Refuse targets whose squares could not be summed."""
    largest = targets[np.abs(targets).argmax()]
    if abs(largest) > HIGHEST_TARGET:
        raise InputError(
            f"MART squares its targets, so they must be at most {HIGHEST_TARGET:g} in size; one is {largest:g}."
        )
