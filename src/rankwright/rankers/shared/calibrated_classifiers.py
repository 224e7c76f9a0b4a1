"""Base learners, boosted classifiers and calibrated members: the contents of CalibratedAdaBoost's pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.ensembling.pool import Judge, Member
from rankwright.models.calibrated import Calibrated
from rankwright.models.combination import Combination
from rankwright.training.calibration.task import Calibration, CalibrationTask
from rankwright.training.learners.class_learners import HammingTree
from rankwright.training.training_set import QueryLabels, TrainingSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.data.label_classes import LabelClasses
    from rankwright.ensembling.mixtures import Mixture
    from rankwright.metrics.base import Metric
    from rankwright.models.class_trees import ClassTrees
    from rankwright.rankers.adaboost_mh import Shape


class Split(NamedTuple):
    """Queries to train on, with weights in canonical order (None: all 1), and other queries to calibrate on."""

    learn: TrainingSet
    weights: Doubles | None
    calibrate: TrainingSet


class BaseLearner(NamedTuple):
    """The shape of the weak classifiers, and the split of the training queries with its number, from 0."""

    number: int
    split: Split
    shape: Shape

    @property
    def size(self) -> str:
        """The size of the shape, such as "15 leaves" or "3 terms"."""
        if isinstance(self.shape, HammingTree):
            return f"{self.shape.max_leaves} leaves"
        return f"{self.shape.max_terms} terms"

    @property
    def name(self) -> str:
        """The size and the split."""
        return f"{self.size} on split {self.number}"


class Classifier(NamedTuple):
    """A classifier boosted for the largest number of rounds that is tried, and the weight of each round."""

    trees: ClassTrees
    weights: list[float]

    def first(self, n_rounds: int) -> tuple[ClassTrees, float]:
        """Return the trees of the first rounds (all if boosting stopped earlier) and the sum of their weights."""
        weights = self.weights[:n_rounds]
        return self.trees.first(len(weights)), sum(weights)


@dataclass(frozen=True, eq=False, kw_only=True)
class CalibratedMember(Member):
    """A classifier after some of its rounds, calibrated in one way."""

    scorer: Calibrated
    learner: BaseLearner
    n_rounds: int
    calibration: str


@dataclass(frozen=True, eq=False)
class CalibrationLevel:
    """The second level of Figure 1: calibrates classifiers in many ways and values each result.

    Parameters
    ----------
    classes
        The labels of the training data.
    calibrations
        The calibrations, each with its name.
    metric
        The metric that values members.
    judge
        Values members on held-out queries; if None, a member is valued on the queries it is calibrated on.
    """

    classes: LabelClasses
    calibrations: Sequence[tuple[str, Calibration]]
    metric: Metric
    judge: Judge | None

    def members(
        self, learner: BaseLearner, classifier: Classifier, rounds: Sequence[int]
    ) -> Iterator[CalibratedMember]:
        """Yield one member per number of rounds and calibration that can be fitted."""
        for n_rounds in rounds:
            trees, total = classifier.first(n_rounds)
            part = learner.split.calibrate
            class_scores = _class_scores(trees, part.data, 1)[part.canonical_rows]
            task = CalibrationTask(class_scores, total, *part.labels, self.classes)
            judge, judged = self._judge(trees, task)
            for name, method in self.calibrations:
                calibration = method.fit(task)
                if calibration is not None:
                    scores = calibration._score(judged, judge.data.groups, judge.n_threads)
                    yield CalibratedMember(
                        name=f"{learner.name}, {n_rounds} rounds, {name}",
                        scorer=Calibrated(trees, calibration),
                        scores=scores,
                        value=judge(scores),
                        learner=learner,
                        n_rounds=n_rounds,
                        calibration=name,
                    )

    def _judge(self, trees: ClassTrees, task: CalibrationTask) -> tuple[Judge, Any]:
        """Return the judge of the calibrated trees, and the scores of the classes for its documents."""
        if self.judge is None:
            return Judge(QueryLabels(task.labels, task.groups), self.metric, 1), task.scores
        return self.judge, _class_scores(trees, self.judge.data, self.judge.n_threads)


def _class_scores(trees: ClassTrees, data: Any, n_threads: int) -> Doubles:
    """Return the score of each class, one row per document."""
    return np.ascontiguousarray(trees.outputs(data, n_jobs=n_threads).T)


class WeightedMember(NamedTuple):
    """One row of `CalibratedAdaBoost.pool_`.

    Parameters
    ----------
    split
        The number of the split of the training queries, from 0.
    learner
        The size of the weak classifiers, such as `"15 leaves"` or `"3 terms"`.
    value
        The metric of the member alone.
    weight
        Its weight in the mixture; the weights of all members sum to 1, and members left out have 0.
    """

    split: int
    learner: str
    rounds: int
    calibration: str
    value: float
    weight: float


def weighted_members(mixture: Mixture[CalibratedMember]) -> tuple[WeightedMember, ...]:
    """Return one row per member, in the order of the pool."""
    return tuple(
        WeightedMember(
            member.learner.number,
            member.learner.size,
            member.n_rounds,
            member.calibration,
            member.value,
            float(weight),
        )
        for member, weight in zip(mixture.members, mixture.weights, strict=True)
    )


def values_within_split(members: Sequence[CalibratedMember]) -> Doubles:
    """Return each member's value minus the mean of its split, whose queries may be harder than others."""
    by_split: dict[int, list[float]] = {}
    for member in members:
        by_split.setdefault(member.learner.number, []).append(member.value)
    beyond = [member.value - np.mean(by_split[member.learner.number]) for member in members]
    return np.asarray(np.nan_to_num(beyond))  # NaN: a split without relevant documents


def with_shared_trees(mixture: Mixture[CalibratedMember]) -> Combination:
    """Return the mixture as a scorer in which all calibrations of one classifier share its trees."""
    by_trees: dict[int, list[tuple[Calibrated, float]]] = {}
    for member, weight in zip(mixture.members, mixture.weights, strict=True):
        if weight > 0:
            by_trees.setdefault(id(member.scorer.classes), []).append((member.scorer, float(weight)))
    scorers = []
    for sharing in by_trees.values():
        parts, weights = zip(*sharing, strict=True)
        calibrations = Combination(tuple(part.calibration for part in parts), np.array(weights))
        scorers.append(Calibrated(parts[0].classes, calibrations))
    return Combination(tuple(scorers), np.ones(len(scorers)))
