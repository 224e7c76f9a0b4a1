"""A single feature as the score."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.models.scorer import Scorer
from rankwright.models.serialisation import (
    Saved,
    State,
    checked_integer,
    checked_n_features,
    checked_number,
    shown,
)

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.data.groups import QueryGroups


@dataclass(frozen=True, eq=False, repr=False)
class FeatureScorer(Scorer):
    """The value of one feature, or its negative, as the score; its contribution is the whole score.

    Parameters
    ----------
    feature
        Index of the feature, counted from 0.
    direction
        +1 if a higher value is better, -1 if a lower one is.
    n_features
        Number of features of the data.
    missing
        The value that replaces a missing one: the lowest seen in training, as in LETOR's "min" files.
    """

    kind: ClassVar[str] = "feature"
    saved: ClassVar[Saved] = {
        "feature": State.integer,
        "direction": State.integer,
        "n_features": State.integer,
        "missing": State.number,
    }
    feature: int
    direction: int = 1
    n_features: int = field(kw_only=True)
    missing: float = field(kw_only=True)

    def __post_init__(self) -> None:
        self._set("feature", checked_integer("feature", self.feature))
        self._set("direction", checked_integer("direction", self.direction))
        self._set("n_features", checked_n_features(self.n_features))
        self._set("missing", checked_number("missing", self.missing))
        if not 0 <= self.feature < self.n_features:
            raise InputError(f"feature must be from 0 to {self.n_features - 1}, not {shown(self.feature)}.")
        if self.direction not in (1, -1):
            raise InputError(f"direction must be 1 or -1, not {shown(self.direction)}.")
        super().__post_init__()

    def _score(self, X: Floats, _groups: QueryGroups, _threads: int, /) -> Doubles:
        values = X[:, self.feature].astype(np.float64)
        values[np.isnan(values)] = self.missing
        return self.direction * values

    def _contributions(self, X: Floats, groups: QueryGroups, n_threads: int, /) -> Doubles:
        values = np.zeros((len(X), self.n_features + 1))
        values[:, self.feature] = self._score(X, groups, n_threads)
        return values

    @property
    def used_features(self) -> Integers:
        """That feature."""
        return np.array([self.feature])
