"""Class scores calibrated into one ranking score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.resources import resolve_threads
from rankwright.models.class_trees import ClassTrees, class_contributions
from rankwright.models.nested_scorers import checked_part
from rankwright.models.probability_calibrations import BayesScorer, StandardCalibration
from rankwright.models.scorer import Scorer
from rankwright.models.serialisation import State
from rankwright.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.groups import QueryGroups


@dataclass(frozen=True, eq=False, repr=False)
class Calibrated(Scorer):
    """A calibration of the scores that trees give each class; contributions are those of `class_contributions`.

    Parameters
    ----------
    classes
        The trees that score each class.
    calibration
        A scorer whose features are the scores of the classes. To mix several calibrations, use a `Combination` of
        them: the trees are then evaluated once.
    """

    kind: ClassVar[str] = "calibrated"
    classes: ClassTrees
    calibration: Scorer

    def __post_init__(self) -> None:
        self._set("calibration", checked_part(self.calibration))
        if self.calibration.n_features != self.classes.n_classes:
            expected, given = self.classes.n_classes, self.calibration.n_features
            raise InputError(f"There are {expected} classes, but the calibration takes {given}.")
        self._set("n_features", self.classes.trees.n_features)
        super().__post_init__()

    def __repr__(self) -> str:
        rounds, classes = self.classes.n_rounds, self.classes.n_classes
        return f"Calibrated({rounds:,} rounds, {classes} classes, {self.n_features} features)"

    @property
    def needs_queries(self) -> bool:
        """Whether the calibration does."""
        return self.calibration.needs_queries

    @property
    def depth(self) -> int:
        """One more than the depth of the deeper of its two parts."""
        return 1 + max(1, self.calibration.depth)

    @property
    def n_rounds(self) -> int:
        """The number of boosting rounds."""
        return self.classes.n_rounds

    @property
    def n_trees(self) -> int:
        """Number of trees of all classes."""
        return self.classes.trees.n_trees

    def first(self, n_rounds: int) -> Self:
        """Return the model of the first rounds only; a calibration fitted to the scores of all rounds is kept."""
        classes = self.classes.first(n_rounds)
        if not isinstance(self.calibration, StandardCalibration):
            return replace(self, classes=classes)
        dropped = float(self.classes.largest.sum() - classes.largest.sum())
        calibration = replace(self.calibration, total=self.calibration.total - dropped)
        return replace(self, classes=classes, calibration=calibration)

    def probabilities(self, X: Any, qid: ArrayLike | None = None, *, n_jobs: int | None = None) -> Doubles:
        """Return the probability of each class, one row per document. Takes the same input as `predict`."""
        if not isinstance(self.calibration, BayesScorer):
            raise InputError(f"A calibration of kind {self.calibration.kind!r} gives gains, not probabilities.")
        features, groups = self._checked(X, qid)
        return self.calibration.probabilities(self._of_classes(features, groups, resolve_threads(n_jobs)))

    @property
    def total_gain(self) -> Doubles:
        """The total gain of the splits on each feature."""
        return self.classes.trees.total_gain

    @property
    def used_features(self) -> Integers:
        """The features that occur in any split."""
        return self.classes.trees.used_features

    def _score(self, X: Any, groups: QueryGroups, n_threads: int, /) -> Doubles:
        return self.calibration._score(self._of_classes(X, groups, n_threads), groups, n_threads)

    def _of_classes(self, X: Any, groups: QueryGroups, n_threads: int) -> Any:
        """Return the score of each class in double precision, one row per document."""
        return np.ascontiguousarray(self.classes._scores(X, groups, n_threads).T)

    def _contributions(self, X: Any, groups: QueryGroups, n_threads: int, /) -> Doubles:
        def calibrated(scores: Any) -> Doubles:
            return self.calibration._score(np.ascontiguousarray(scores.T), groups, n_threads)

        parts, scores = (
            self.classes._contributions(X, groups, n_threads),
            self.classes._scores(X, groups, n_threads),
        )
        return class_contributions(parts, scores, calibrated)

    def state(self) -> State:
        """Return the trees, their leaf values and the calibration."""
        return State(
            fields={"n_classes": self.classes.n_classes},
            arrays={"values": self.classes.values},
            children={"trees": self.classes.trees, "calibration": self.calibration},
        )

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a scorer from its trees, their leaf values and the calibration."""
        trees, values = state.child("trees"), state.array("values", np.float64, n_dimensions=2)
        if not isinstance(trees, TreeEnsemble):
            raise InputError(f"The trees must be of kind {TreeEnsemble.kind!r}, not {trees.kind!r}.")
        return cls(ClassTrees(trees, values, state.integer("n_classes")), state.child("calibration"))
