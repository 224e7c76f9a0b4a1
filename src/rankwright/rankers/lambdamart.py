"""LambdaMART (Wu, Burges, Svore & Gao, Information Retrieval 2010): boosted trees on metric-weighted gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.errors import InputError
from rankwright.learners import Gradients
from rankwright.metrics import NDCG, Metric
from rankwright.rankers.checks import Integer, Value, read_record
from rankwright.rankers.exact_step import ExactStep, ExactSteps
from rankwright.rankers.lambdas import LambdaGradients, without_cut
from rankwright.rankers.parameters import MetricParameter, Spelled, parameter
from rankwright.rankers.search_space import Range
from rankwright.rankers.tree_ranker import TreeRanker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.arrays import Doubles
    from rankwright.boosting import Rule, WeightedModel
    from rankwright.learners import WeakLearner
    from rankwright.training import FitTask, Monitor


@dataclass(frozen=True)
class LambdaRule:
    """Lines 5 to 8 and 14 of the paper's Algorithm 1: the lambda and hessian of each document, the shrinkage."""

    remedy: ClassVar[str] = "use a lower learning_rate"
    metric: Metric
    lambdas: LambdaGradients
    weights: Doubles | None
    learning_rate: float
    n_threads: int

    def first_signal(self, scores: Doubles) -> Gradients:
        """y_i = lambda_i of the initial scores."""
        signal = self.signal(scores)
        if not signal.hessian.any():
            raise InputError(f"There is nothing to learn: no swap of documents changes {self.metric}.")
        return signal

    def signal(self, scores: Doubles) -> Gradients:
        """y_i = lambda_i and w_i, its hessian."""
        gradient, hessian = self.lambdas(scores, n_threads=self.n_threads)
        if self.weights is None:
            return Gradients(gradient, hessian)
        return Gradients(gradient * self.weights, hessian * self.weights)

    def step(self, signal: Gradients, outputs: Doubles) -> float | None:
        """Return the shrinkage v; None once no lambda is left or no split helps."""
        return self.learning_rate if signal.gradient.any() and np.ptp(outputs) > 0.0 else None


class LambdaMART(TreeRanker):
    """Boosted regression trees on lambdas, which move each document's score where it improves the metric.

    Each pair of documents of a query with different labels pushes the two scores apart, weighted by the change in
    the metric if the two swapped ranks. With `fit(..., start=...)` this is LambdaSMART: trees are added to an
    existing model, for example one trained on a larger market.
    """

    name: ClassVar[str] = "lambdamart"

    metric: MetricParameter = parameter(
        meaning="Metric to optimise; any metric, also a custom one. Its cut-off applies when rounds are "
        "evaluated, not in the lambdas: a document below the cut-off could still rise above it.",
        default=NDCG(k=10),
        kw_only=False,
    )
    learning_rate: float = parameter(
        meaning="Shrinkage: each tree is multiplied by it. Ignored if `step` is given.", default=0.05
    )
    step: Spelled[ExactStep | None, ExactStep | Mapping[str, Any] | str | None] = parameter(
        Value(
            ExactStep,
            "ExactStep(on='validation')",
            read_record(ExactStep),
            'JSON such as {"on": "validation"}',
            optional=True,
        ),
        "Line search that gives each tree the weight that is best for the metric. None: `learning_rate` for all.",
        default=None,
    )
    truncation: int | None = parameter(
        Integer(1, optional=True),
        "Use only pairs with at least one document among this many top ranks. None: all pairs.",
        default=30,
        search=Range(5, 200, log=True),
    )

    def _boosted(
        self, rule: Rule[Gradients], learner: WeakLearner[Gradients], monitor: Monitor, task: FitTask
    ) -> list[WeightedModel]:
        if self.step is None:
            return super()._boosted(rule, learner, monitor, task)
        exact = ExactSteps(self.step, rule, learner, self.metric, task, ordered=bool(self.monotone))
        members = super()._boosted(exact, exact, monitor, task)
        with monitor:  # Ctrl-C leaves the weights as they are
            members = exact.refitted(members)
        return members  # noqa: RET504  # unchanged after Ctrl-C

    def _rule(self, task: FitTask) -> LambdaRule:
        y, groups = task.train.labels
        lambdas = LambdaGradients(without_cut(self.metric), y, groups, truncation=self.truncation)
        return LambdaRule(self.metric, lambdas, task.weights, self.learning_rate, task.n_threads)
