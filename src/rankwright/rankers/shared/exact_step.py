"""Exact line search for boosting (Wu, Burges, Svore & Gao, Information Retrieval 2010, sections 4 and 5.6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.models.trees import TreeEnsemble
from rankwright.rankers.parameters.checks import Flag, OneOf, Real
from rankwright.training.learners.signal import Gradients, Weak, WeakLearner
from rankwright.training.monitor import WeakModel, WeightedModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.metrics.base import Metric
    from rankwright.training.boosting_loop import Rule
    from rankwright.training.fit_task import FitTask

    Bounds = tuple[float, float]


LARGEST_SCORE = 1e300


@dataclass(frozen=True)
class ExactStep:
    """Gives each tree the weight that is best for the metric, instead of a learning rate.

    The search covers all weights between two bounds. If none is better than the tree as it is (a full Newton
    step, unless leaves hold means), the weight is 1; so it is for the first tree, which ranks the same with every
    weight.

    Parameters
    ----------
    low, high
        The bounds. A positive lower bound lets boosting continue after a tree that hardly improves the metric.
    on
        Queries that choose the weights: `"training"` or `"validation"`; the validation metric is then optimistic.
    shrinkage
        Factor of the weight that the search finds.
    leaves
        Whether to search one weight per leaf, one leaf after the other, instead of one per tree. With `monotone`
        constraints, the weights keep the order of the leaves' values.
    refit
        Whether to search the weights of all trees again at the end, one after the other until nothing improves.

    Examples
    --------
    >>> judged = rw.synthetic.polynomial_queries(30, n_documents=10, n_features=6, n_active=4)
    >>> ranker = rw.LambdaMART(rounds=3, step=rw.ExactStep(low=0.1, high=5)).fit(judged)
    >>> [round(tree.weight, 1) for tree in ranker.history_]
    [1.0, 0.4, 0.2]
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
    """A rule and a weak learner that search for the best step of each tree of another rule and learner.

    With `ordered`, the weights of leaves keep the order of their values: a tree that is monotone in a feature, as
    constraints ask, stays so.
    """

    remedy: ClassVar[str] = "use a lower high or shrinkage of ExactStep"

    def __init__(
        self,
        step: ExactStep,
        rule: Rule[Gradients],
        learner: WeakLearner[Gradients],
        metric: Metric,
        task: FitTask,
        *,
        ordered: bool,
    ) -> None:
        self._step, self._rule, self._learner, self._n_threads = step, rule, learner, task.n_threads
        self._ordered = ordered
        # Trees are grown on training documents in canonical order; validation documents come as they are.
        self._train, self._start, (y, groups) = task.train, task.first_scores, task.train.labels
        self._data = task.train.data
        if step.on == "validation":
            if task.validation is None:
                raise InputError(
                    "ExactStep(on='validation') needs validation data, but fit was given none, or refit uses them."
                )
            self._data, self._start = task.validation.data, task.validation_scores
            y, groups = self._data.y, self._data.groups
        from rankwright.ensembling.line_search import LineSearch  # other fits do not need it

        self._search = LineSearch(metric, y, groups, n_threads=self._n_threads)
        self._scores = self._start
        self._outputs = np.zeros(len(self._data))

    def first_signal(self, scores: Doubles) -> Gradients:
        self._observe(scores)
        return self._rule.first_signal(scores)

    def signal(self, scores: Doubles) -> Gradients:
        self._observe(scores)
        return self._rule.signal(scores)

    def fit(self, signal: Gradients) -> Weak:
        """Return the learner's tree, with weighted leaves if each is to have its own weight."""
        weak = self._learner.fit(signal)
        self._outputs = weak.outputs if self._on_training else self._outputs_of(weak.model)
        return self._with_leaf_weights(weak) if self._step.leaves else weak

    def step(self, signal: Gradients, outputs: Doubles) -> float | None:
        """Return the tree's weight; None once the rule stops."""
        if self._rule.step(signal, outputs) is None:
            return None
        best = 1.0 if self._step.leaves else self._best(self._scores, self._outputs, self._bounds)
        weight = self._step.shrinkage * best
        if not self._on_training:
            self._scores = self._searchable(self._scores + weight * self._outputs)
        return weight

    def refitted(self, members: Sequence[WeightedModel]) -> list[WeightedModel]:
        """Return the trees, with their weights optimised again, each in turn, if `refit` asks for it."""
        from rankwright.ensembling.line_search import refined_in_turn

        if not self._step.refit:
            return list(members)
        columns = [self._start, *(self._outputs_of(member.model) for member in members)]
        low, high = self._step.shrinkage * self._step.low, self._step.shrinkage * self._step.high
        weights = [1.0, *(member.weight for member in members)]
        turns = range(1, len(columns))  # the start stays as it is
        refined = refined_in_turn(self._search, columns, weights, turns=turns, low=low, high=high)
        pairs = zip(refined.weights[1:], members, strict=True)
        return [WeightedModel(float(weight), member.model) for weight, member in pairs]

    @property
    def _on_training(self) -> bool:
        return self._step.on == "training"

    def _observe(self, scores: Doubles) -> None:
        if self._on_training:
            self._scores = self._searchable(scores)

    def _searchable(self, scores: Doubles) -> Doubles:
        """Return the scores; refuse those that are too large for a line search."""
        if not np.abs(scores).max(initial=0.0) <= LARGEST_SCORE:
            raise InputError(f"The ensemble's scores are too large for a line search; {self.remedy}.")
        return scores

    @property
    def _bounds(self) -> Bounds:
        return self._step.low, self._step.high

    def _best(self, scores: Doubles, outputs: Doubles, bounds: Bounds) -> float:
        """Return the best weight of the outputs within bounds; the Newton step if none is better."""
        low, high = bounds
        newton = _newton_step(bounds)
        if low >= high:
            return newton
        curve = self._search.curve(scores, outputs, low=low, high=high)
        weight, value = self._search.settle(curve, lambda alpha: scores + alpha * outputs)
        return weight if self._search.is_better(value, curve(newton)) else newton

    def _with_leaf_weights(self, weak: Weak) -> Weak:
        tree = weak.model
        assert isinstance(tree, TreeEnsemble)
        values = np.unique(tree.leaf_value)
        new = self._new_values(values)
        self._outputs, outputs, leaf_values = (
            new[np.searchsorted(values, old)] for old in (self._outputs, weak.outputs, tree.leaf_value)
        )
        return Weak(replace(tree, leaf_value=leaf_values), outputs)

    def _new_values(self, values: Doubles) -> Doubles:
        """Return each leaf value times its best weight, found in turn from the lowest value up."""
        new = _newton_step(self._bounds) * values if self._ordered else values.copy()
        leaf_of_row = np.searchsorted(values, self._outputs)
        for leaf in np.flatnonzero(values).tolist():
            value, (lower, upper) = float(values[leaf]), self._neighbours(new, leaf)
            now, outputs = (np.where(leaf_of_row == leaf, output, 0.0) for output in (new[leaf], value))
            low, high = sorted((lower / value, upper / value))
            bounds = max(self._step.low, low), min(self._step.high, high)
            weight = self._best(self._scores + new[leaf_of_row] - now, outputs, bounds)
            new[leaf] = min(max(weight * value, lower), upper)
        return new

    def _neighbours(self, new: Doubles, leaf: int) -> Bounds:
        """Return the values that a leaf's new value must lie between."""
        if not self._ordered:
            return -np.inf, np.inf
        bordered = np.concatenate([[-np.inf], new, [np.inf]])
        return float(bordered[leaf]), float(bordered[leaf + 2])

    def _outputs_of(self, model: WeakModel) -> Doubles:
        """Return a tree's outputs for the documents that choose the weights, in their order."""
        outputs = model.outputs(self._data, n_jobs=self._n_threads)
        return outputs[self._train.canonical_rows] if self._on_training else outputs


def _newton_step(bounds: Bounds) -> float:
    """Return the weight within bounds that is closest to 1."""
    low, high = bounds
    return min(max(1.0, low), high)
