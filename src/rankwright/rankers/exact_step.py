"""Exact line search for boosting (Wu, Burges, Svore & Gao, Information Retrieval 2010, sections 4 and 5.6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankwright.boosting import Member
from rankwright.ensembling import LineSearch, refined_in_turn
from rankwright.ensembling.curve import SAME
from rankwright.errors import InputError
from rankwright.learners import Weak
from rankwright.models import TreeEnsemble
from rankwright.rankers.checks import Flag, OneOf, Real

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.arrays import Doubles
    from rankwright.boosting import Rule
    from rankwright.learners import Gradients, WeakLearner
    from rankwright.learners.signal import WeakModel
    from rankwright.metrics import Metric
    from rankwright.training import FitTask


@dataclass(frozen=True)
class ExactStep:
    """Gives each tree the weight that is best for the metric, instead of a learning rate.

    The search covers all weights between two bounds. If none is better than the full Newton step, which is 1, the
    Newton step is taken; so it is for the first tree, which ranks the same with every weight.

    Parameters
    ----------
    low, high
        The bounds. A positive lower bound keeps boosting going if a tree improves the metric hardly at all.
    on
        Queries that choose the weights: `"training"` or `"validation"`; the validation metric is then optimistic.
    shrinkage
        Factor of the weight that the search finds.
    leaves
        Whether to search one weight per leaf, one leaf after the other, instead of one per tree.
    refit
        Whether to search the weights of all trees again at the end, one after the other until nothing improves.
    """

    low: float = 0.1
    high: float = 5.0
    on: str = "training"
    shrinkage: float = 1.0
    leaves: bool = False
    refit: bool = False

    def __post_init__(self) -> None:
        Real(least=0.0).require("low", self.low)
        Real(above=float(self.low)).require("high", self.high)
        OneOf(("training", "validation")).require("on", self.on)
        Real(above=0.0).require("shrinkage", self.shrinkage)
        Flag().require("leaves", self.leaves)
        Flag().require("refit", self.refit)


class ExactSteps:
    """A rule and a learner whose steps are searched for: from the scores of the one and the trees of the other."""

    def __init__(
        self,
        step: ExactStep,
        rule: Rule[Gradients],
        learner: WeakLearner[Gradients],
        metric: Metric,
        task: FitTask,
    ) -> None:
        self._step, self._rule, self._learner, self._n_threads = step, rule, learner, task.n_threads
        # Trees are grown on training documents in canonical order; validation documents come as they are.
        self._train, self._start, (y, groups) = task.train, task.first_scores, task.train.labels
        self._data = task.train.data
        if step.on == "validation":
            if task.validation is None:
                raise InputError("The steps are to be chosen on the validation part, but there is none.")
            self._data, self._start = task.validation.data, task.validation_scores
            y, groups = self._data.y, self._data.groups
        self._search = LineSearch(metric, y, groups, n_threads=self._n_threads)
        self._scores = self._start
        self._outputs = np.zeros(len(self._data))

    def first_signal(self, scores: Doubles) -> Gradients:
        """Return the rule's."""
        self._observe(scores)
        return self._rule.first_signal(scores)

    def signal(self, scores: Doubles) -> Gradients:
        """Return the rule's."""
        self._observe(scores)
        return self._rule.signal(scores)

    def fit(self, signal: Gradients) -> Weak:
        """Return the learner's tree, its leaves weighed one by one if they are to be."""
        weak = self._learner.fit(signal)
        self._outputs = weak.outputs if self._on_training else self._outputs_of(weak.model)
        return self._with_leaf_weights(weak) if self._step.leaves else weak

    def step(self, signal: Gradients, outputs: Doubles) -> float | None:
        """Return the tree's weight; None once the rule would stop."""
        if self._rule.step(signal, outputs) is None:
            return None
        best = 1.0 if self._step.leaves else self._best(self._scores, self._outputs)
        weight = self._step.shrinkage * best
        if not self._on_training:
            self._scores = self._scores + weight * self._outputs
        return weight

    def refitted(self, members: Sequence[Member]) -> list[Member]:
        """Return the trees with weights that were set anew, each in turn, if they are to be."""
        if not self._step.refit:
            return list(members)
        columns = [self._start, *(self._outputs_of(member.model) for member in members)]
        low, high = self._step.shrinkage * self._step.low, self._step.shrinkage * self._step.high
        weights = [1.0, *(member.weight for member in members)]
        turns = range(1, len(columns))  # the start stays as it is
        found = refined_in_turn(self._search, columns, weights, turns=turns, low=low, high=high)
        pairs = zip(found.weights[1:], members, strict=True)
        return [Member(float(weight), member.model) for weight, member in pairs]

    @property
    def _on_training(self) -> bool:
        return self._step.on == "training"

    def _observe(self, scores: Doubles) -> None:
        if self._on_training:
            self._scores = scores

    def _best(self, scores: Doubles, outputs: Doubles) -> float:
        newton = min(max(1.0, self._step.low), self._step.high)
        curve = self._search.curve(scores, outputs, low=self._step.low, high=self._step.high)
        weight, value = self._search.settle(curve, lambda alpha: scores + alpha * outputs)
        return weight if value > curve(newton) + SAME else newton

    def _with_leaf_weights(self, weak: Weak) -> Weak:
        tree = weak.model
        assert isinstance(tree, TreeEnsemble)
        outputs, weights = self._outputs, np.ones(len(tree.leaf_value))
        for value in np.unique(
            tree.leaf_value[tree.leaf_value != 0.0]
        ):  # leaves of one value are weighed together
            leaf = np.where(self._outputs == value, value, 0.0)
            weight = self._best(self._scores + outputs - leaf, leaf)
            weights[tree.leaf_value == value] = weight
            outputs = np.where(self._outputs == value, weight * value, outputs)
        weighted = replace(tree, leaf_value=weights * tree.leaf_value)
        new = dict(zip(tree.leaf_value.tolist(), weighted.leaf_value.tolist(), strict=True))
        self._outputs = outputs
        return Weak(weighted, np.array([new[value] for value in weak.outputs.tolist()]))

    def _outputs_of(self, model: WeakModel) -> Doubles:
        """Return a tree's outputs in the order of the documents that choose."""
        outputs = model.outputs(self._data, n_threads=self._n_threads)
        return outputs[self._train.canonical_rows] if self._on_training else outputs
