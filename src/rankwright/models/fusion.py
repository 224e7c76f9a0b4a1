"""A weighted sum of scores that are brought to one scale within each query."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.fusion import FusionMethod, comparable
from rankwright.models.scorer import Scorer
from rankwright.models.serialisation import State, checked_n_features, frozen_numbers, shown

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.data.groups import QueryGroups


@dataclass(frozen=True, eq=False, repr=False)
class FusionScorer(Scorer):
    """The sum of weight x score over some features, each brought to one scale within the query.

    A feature's contribution is its own summand.

    Parameters
    ----------
    columns
        The features, which are scores of different rankers, counted from 0.
    weights
        One per column, not negative.
    method
        How they are brought to one scale.
    n_features
        Number of features of the data.
    """

    kind: ClassVar[str] = "fusion"
    columns: Integers
    weights: Doubles
    method: FusionMethod
    n_features: int = field(kw_only=True)

    def __post_init__(self) -> None:
        self._set("n_features", checked_n_features(self.n_features))
        columns = np.asarray(self.columns)
        if columns.ndim != 1 or columns.dtype.kind not in "iu" or not len(columns):
            raise InputError("columns of a fusion must be integers, at least one.")
        if np.any(columns < 0) or np.any(columns >= self.n_features) or len(np.unique(columns)) < len(columns):
            raise InputError(f"columns of a fusion must be different features below {self.n_features}.")
        self._set("columns", columns.astype(np.int64))
        self._set("weights", frozen_numbers("weights", self.weights, (len(columns),)))
        if np.any(self.weights < 0):
            raise InputError("weights of a fusion must not be negative.")
        if not isinstance(self.method, FusionMethod):
            raise InputError(f"method must be a FusionMethod, not {shown(self.method)}.")
        super().__post_init__()

    def __repr__(self) -> str:
        weights = ", ".join(f"{weight:.3g}" for weight in self.weights)
        return f"FusionScorer({self.method.value}, weights {weights})"

    @property
    def needs_queries(self) -> bool:
        """Always."""
        return True

    @property
    def used_features(self) -> Integers:
        """Those with a weight."""
        return np.sort(self.columns[self.weights > 0])

    def _score(self, X: Floats, groups: QueryGroups, n_threads: int, /) -> Doubles:
        return np.asarray(self._summands(X, groups, n_threads).sum(axis=1))

    def _contributions(self, X: Floats, groups: QueryGroups, n_threads: int, /) -> Doubles:
        values = np.zeros((len(X), self.n_features + 1))
        values[:, self.columns] = self._summands(X, groups, n_threads)
        return values

    def _summands(self, X: Floats, groups: QueryGroups, n_threads: int) -> Doubles:
        scores = np.ascontiguousarray(X[:, self.columns], np.float32)
        return comparable(scores, groups, self.method, n_threads) * self.weights

    def state(self) -> State:
        """Return columns, weights, method and the number of features."""
        fields = {"method": self.method.value, "n_features": self.n_features}
        return State(fields=fields, arrays={"columns": self.columns, "weights": self.weights})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild a fusion from what `state` returned."""
        known = {method.value: method for method in FusionMethod}
        name = state.plain("method")
        if not isinstance(name, str) or name not in known:
            raise InputError(f"method must be one of {', '.join(known)}, not {shown(name)}.")
        return cls(
            state.array("columns", np.int64),
            state.array("weights", np.float64),
            known[name],
            n_features=state.integer("n_features"),
        )
