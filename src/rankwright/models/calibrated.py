"""Scores of classes that become one score to rank by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rankwright.errors import InputError
from rankwright.models.class_trees import ClassTrees
from rankwright.models.scorer import Scorer
from rankwright.models.state import State
from rankwright.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.data.groups import QueryGroups


@dataclass(frozen=True, eq=False, repr=False)
class Calibrated(Scorer):
    """What another scorer makes of the scores that trees give each class.

    Parameters
    ----------
    classes
        The trees that score each class.
    calibration
        A scorer whose features are the classes' scores; where several calibrations are to be mixed, a
        `Combination` of them, so that the trees are gone through once.
    """

    kind: ClassVar[str] = "calibrated"
    classes: ClassTrees
    calibration: Scorer

    def __post_init__(self) -> None:
        self._set("calibration", self.calibration.bare())
        if self.calibration.n_features != self.classes.n_classes:
            expected, found = self.classes.n_classes, self.calibration.n_features
            raise InputError(f"There are {expected} classes, but the calibration takes {found}.")
        self._set("n_features", self.classes.trees.n_features)
        super().__post_init__()

    def __repr__(self) -> str:
        rounds, classes = self.classes.n_rounds, self.classes.n_classes
        return f"Calibrated({rounds:,} rounds, {classes} classes, {self.n_features} features)"

    @property
    def depth(self) -> int:
        """One more than the deeper of its two parts."""
        return 1 + max(1, self.calibration.depth)

    @property
    def n_rounds(self) -> int:
        """How often every class is scored."""
        return self.classes.n_rounds

    def first(self, n_rounds: int) -> Self:
        """Return the model of the first rounds alone, its calibration left as it is."""
        return replace(self, classes=self.classes.first(n_rounds))

    @property
    def used_features(self) -> NDArray[np.int64]:
        """Those that any split looks at."""
        return self.classes.trees.used_features

    def _score(self, X: Any, groups: QueryGroups, n_threads: int, /) -> NDArray[np.float64]:
        of_classes: Any = np.ascontiguousarray(self.classes._scores(X, groups, n_threads).T)  # in full precision
        return self.calibration._score(of_classes, groups, n_threads)

    def state(self) -> State:
        """Return the trees, the values of their leaves and the calibration."""
        return State(
            fields={"n_classes": self.classes.n_classes},
            arrays={"values": self.classes.values},
            children={"trees": self.classes.trees, "calibration": self.calibration},
        )

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a scorer from its trees, the values of their leaves and the calibration."""
        trees, values = state.child("trees"), state.array("values", np.float64, n_dimensions=2)
        if not isinstance(trees, TreeEnsemble):
            raise InputError(f"The trees must be of kind {TreeEnsemble.kind!r}, not {trees.kind!r}.")
        return cls(ClassTrees(trees, values, state.integer("n_classes")), state.child("calibration"))
