"""A scorer that looks at the whole query: its features are made within the query first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from rankwright.data.query_features import QueryFeature, with_query_features
from rankwright.errors import InputError
from rankwright.models.scorer import Scorer
from rankwright.models.state import State, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.data.groups import QueryGroups


@dataclass(frozen=True, eq=False, repr=False)
class QueryFeatureScorer(Scorer):
    """Another scorer's scores of the features with columns made within the query beside them.

    A feature's contribution is that of its own column and of all columns made from it.

    Parameters
    ----------
    inner
        The scorer of the widened features.
    columns
        The kinds of columns, in order.
    """

    kind: ClassVar[str] = "query_features"
    inner: Scorer
    columns: tuple[QueryFeature, ...]

    def __post_init__(self) -> None:
        self._set("inner", self.inner.bare())
        width = 1 + len(self.columns)
        if not self.columns or len(set(self.columns)) < len(self.columns) or self.inner.n_features % width:
            raise InputError(f"{self.inner.n_features} features cannot be {width} columns for each.")
        self._set("n_features", self.inner.n_features // width)
        super().__post_init__()

    @property
    def needs_queries(self) -> bool:
        """Always."""
        return True

    @property
    def depth(self) -> int:
        """One more than the inner scorer's."""
        return 1 + self.inner.depth

    @property
    def n_rounds(self) -> int:
        """Those of the inner scorer."""
        return self.inner.n_rounds

    def first(self, n_rounds: int) -> Self:
        """Return the scorer whose inner one is cut."""
        return replace(self, inner=self.inner.first(n_rounds))

    def _score(self, X: NDArray[np.float32], groups: QueryGroups, n_threads: int, /) -> NDArray[np.float64]:
        return self.inner._score(with_query_features(X, groups, self.columns), groups, n_threads)

    def _contributions(
        self, X: NDArray[np.float32], groups: QueryGroups, n_threads: int, /
    ) -> NDArray[np.float64]:
        wide = self.inner._contributions(with_query_features(X, groups, self.columns), groups, n_threads)
        values = wide[:, -self.n_features - 1 :]  # the last kind of columns, and what every score starts from
        for place in range(len(self.columns)):
            values[:, :-1] += wide[:, place * self.n_features : (place + 1) * self.n_features]
        return np.ascontiguousarray(values)

    @property
    def used_features(self) -> NDArray[np.int64]:
        """Those of which the inner scorer uses any column."""
        return np.unique(self.inner.used_features % self.n_features)

    def state(self) -> State:
        """Return the names of the columns and the inner scorer."""
        return State(fields={"columns": [one.value for one in self.columns]}, children={"inner": self.inner})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a scorer from the names of the columns and the inner scorer."""
        names = state.fields.get("columns")
        known = {one.value: one for one in QueryFeature}
        if not isinstance(names, list) or not all(isinstance(name, str) and name in known for name in names):
            raise InputError(f"columns must be a list of {', '.join(known)}, not {shown(names)}.")
        return cls(state.child("inner"), tuple(known[str(name)] for name in names))
