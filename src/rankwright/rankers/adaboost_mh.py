"""AdaBoost.MH (Schapire & Singer 1999) for ranking, as in Busa-Fekete, Kégl, Éltető & Szarvas (ECML 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.label_classes import LabelClasses
from rankwright.models.calibrated import Calibrated
from rankwright.models.class_trees import ClassTrees
from rankwright.models.probability_calibrations import StandardCalibration
from rankwright.rankers.parameters.checks import Integer, OneOf
from rankwright.rankers.parameters.declaration import ClassBoostingParameters, StoppingParameters, parameter
from rankwright.rankers.parameters.search_space import Choices, Range
from rankwright.rankers.ranker import Ranker
from rankwright.training.boosting_loop import boost
from rankwright.training.learners.class_learners import ClassLearner, ClassWeights, DecisionProduct, HammingTree
from rankwright.training.learners.signal import SMALLEST_ERROR, half_log_odds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import History
    from rankwright.training.monitor import Monitor, WeightedModel
    from rankwright.training.training_set import TrainingSet

Shape = HammingTree | DecisionProduct
MAX_TERMS = 16


@dataclass(frozen=True, eq=False)
class AdaBoostMHRule:
    """Weights each document and class by the exponential loss of the ensemble.

    Arrays have one row per class and one column per document.

    Parameters
    ----------
    targets
        z: +1 for the document's own class, -1 for the others.
    weights
        The weights before the first round, with sum 1.
    learning_rate
        The factor of every step; 1 in the paper.
    """

    remedy: ClassVar[str] = "use a lower learning_rate"
    targets: Doubles
    weights: Doubles
    learning_rate: float

    @classmethod
    def of(
        cls, labels: Doubles, classes: LabelClasses, document_weights: Doubles | None, learning_rate: float
    ) -> AdaBoostMHRule:
        """W = 2^label for the document's own class and 2^label / (K - 1) for each other, normalised."""
        targets = np.ascontiguousarray(classes.targets(labels).T)
        weights = np.exp2(labels - classes.labels[-1]) * np.where(targets > 0, 1.0, 1.0 / (len(classes) - 1))
        if document_weights is not None:
            weights = weights * document_weights
        return cls(targets, weights / weights.sum(), learning_rate)

    def first_signal(self, scores: Doubles) -> ClassWeights:
        """Return w with the sign of z."""
        return self.signal(scores)

    def step(self, signal: ClassWeights, outputs: Doubles) -> float | None:
        """Alpha = 1/2 ln((1 + edge) / (1 - edge)); None if the edge is no better than chance."""
        edge = signal.edge(outputs)
        return None if edge < SMALLEST_ERROR else float(self.learning_rate * half_log_odds(edge))

    def signal(self, scores: Doubles) -> ClassWeights:
        """W exp(-z f(x)), normalised and signed by z."""
        return ClassWeights(self.native().signed_weights(scores))

    def native(self) -> _native.VoteRule:
        """Return the rule in native code."""
        return self._native

    @cached_property
    def _native(self) -> _native.VoteRule:
        return _native.VoteRule(self.targets, self.weights, self.learning_rate)


@dataclass(frozen=True)
class ClassBoosting:
    """AdaBoost.MH with all its settings: weak learner, votes, learning rate, rounds, bins and threads."""

    shape: Shape
    opposite: bool
    learning_rate: float
    rounds: int
    max_bins: int
    n_threads: int

    def run(
        self, train: TrainingSet, classes: LabelClasses, weights: Doubles | None, monitor: Monitor
    ) -> list[WeightedModel]:
        """Return the rounds up to the best one; weights are in canonical order."""
        binned = train.binned(self.max_bins, self.n_threads)
        learner = ClassLearner(binned, shape=self.shape, opposite=self.opposite, n_threads=self.n_threads)
        rule = AdaBoostMHRule.of(train.labels.y, classes, weights, self.learning_rate)
        start = np.zeros((len(classes), len(train)))
        return boost(rule, learner, start=start, rounds=self.rounds, monitor=monitor)


class AdaBoostMH(StoppingParameters, ClassBoostingParameters, Ranker):
    """Boosted classifiers of labels; documents are ranked by their expected gain.

    Every label is a class, and documents are weighted by their gain, 2^label.

    Examples
    --------
    >>> judged = rw.synthetic.polynomial_queries(20, n_documents=10, n_features=6, n_active=4)
    >>> ranker = rw.AdaBoostMH(rounds=20, max_leaves=5).fit(judged)
    >>> ranker.model_.probabilities(judged).shape  # one column per label, 0 to 4
    (200, 5)
    """

    name: ClassVar[str] = "adaboost-mh"
    printed: ClassVar[Mapping[str, Any]] = {"learning_rate": 1.0, "votes": "opposite"}

    rounds: int = parameter(default=200)
    learner: str = parameter(
        OneOf(("tree", "product")),
        "Weak classifier: a Hamming 'tree', or a 'product' of decision stumps.",
        default="tree",
        search=Choices("tree", "product"),
    )
    max_leaves: int = parameter(
        Integer(2),
        "Maximum number of leaves per tree.",
        default=20,
        tune=(5, 10, 20, 45),
        search=Range(4, 64, log=True),
    )
    max_terms: int = parameter(
        Integer(1, MAX_TERMS), "Maximum number of stumps per product.", default=5, search=Range(2, 8)
    )

    def _fit(self, task: FitTask) -> tuple[Calibrated, History]:
        classes = LabelClasses.of(task.train.labels.y)

        def expected_gains(scores: Doubles, total: float) -> Doubles:
            return StandardCalibration(classes.gains, total).expected_gains(scores.T)

        monitor = task.monitor(self.metric, task.train.labels, patience=self.patience, read=expected_gains)
        shape = HammingTree(self.max_leaves) if self.learner == "tree" else DecisionProduct(self.max_terms)
        opposite = votes_oppositely(shape, self.votes)
        boosting = ClassBoosting(shape, opposite, self.learning_rate, self.rounds, self.max_bins, task.n_threads)
        members = boosting.run(task.train, classes, task.weights, monitor)
        trees = as_class_trees(members) if members else None
        if trees is None or not len(trees.trees.used_features):
            raise InputError("There is nothing to learn: no feature tells labels apart.")
        calibration = StandardCalibration(classes.gains, sum(weight for weight, _ in members))
        return Calibrated(trees, calibration), monitor.history


def votes_oppositely(shape: Shape, votes: str | None) -> bool:
    """Return whether the two sides of a split must vote in opposite directions."""
    return isinstance(shape, HammingTree) if votes is None else votes == "opposite"


def as_class_trees(members: Sequence[WeightedModel]) -> ClassTrees:
    """Return f = sum of alpha h."""
    trees = [model for _, model in members if isinstance(model, ClassTrees)]
    return ClassTrees.concatenate(trees, [weight for weight, _ in members])
