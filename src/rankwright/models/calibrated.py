"""Class scores calibrated into one ranking score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.resources import resolve_threads
from rankwright.base.wording import counted
from rankwright.models.class_trees import ClassScorer
from rankwright.models.nested_scorers import checked_part
from rankwright.models.probability_calibrations import BayesScorer, StandardCalibration
from rankwright.models.serialisation import State

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups
    from rankwright.models.scorer import Scorer


@dataclass(frozen=True, eq=False, repr=False)
class Calibrated(ClassScorer):
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
    calibration: Scorer

    def __post_init__(self) -> None:
        self._set("calibration", checked_part(self.calibration))
        if self.calibration.n_features != self.classes.n_classes:
            expected, given = self.classes.n_classes, self.calibration.n_features
            raise InputError(f"There are {expected} classes, but the calibration takes {given}.")
        super().__post_init__()

    def __repr__(self) -> str:
        rounds, classes = self.classes.n_rounds, self.classes.n_classes
        return f"Calibrated({counted(rounds, 'round')}, {classes} classes, {counted(self.n_features, 'feature')})"

    @property
    def needs_queries(self) -> bool:
        """Whether the calibration does."""
        return self.calibration.needs_queries

    @property
    def depth(self) -> int:
        """One more than the depth of the deeper of its two parts."""
        return 1 + max(1, self.calibration.depth)

    def first(self, n_rounds: int) -> Self:
        """Return the model of the first rounds only; a calibration fitted to the scores of all rounds is kept."""
        cut = super().first(n_rounds)
        if not isinstance(self.calibration, StandardCalibration):
            return cut
        dropped = float(self.classes.largest.sum() - cut.classes.largest.sum())
        return replace(cut, calibration=replace(self.calibration, total=self.calibration.total - dropped))

    def probabilities(self, X: Any, qid: ArrayLike | None = None, *, n_jobs: int | None = None) -> Doubles:
        """Return the probability of each class, one row per document. Takes the same input as `predict`."""
        if not isinstance(self.calibration, BayesScorer):
            raise InputError(f"A calibration of kind {self.calibration.kind!r} gives gains, not probabilities.")
        features, groups = self._checked(X, qid)
        scores = self.classes._scores(features, groups, resolve_threads(n_jobs))
        return self.calibration.probabilities(np.ascontiguousarray(scores.T))

    def _of_classes(self, scores: Doubles, groups: QueryGroups, n_threads: int) -> Doubles:
        columns: Any = np.ascontiguousarray(scores.T)  # in double precision
        return self.calibration._score(columns, groups, n_threads)

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
        return cls(cls._saved_classes(state), state.child("calibration"))
