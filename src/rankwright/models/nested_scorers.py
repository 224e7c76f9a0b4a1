"""Scorers that contain other scorers, such as those of columns computed within the query."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.query_features import QueryFeature, with_query_features
from rankwright.models.scorer import Scorer
from rankwright.models.serialisation import Saved, State, shown

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.data.groups import QueryGroups
    from rankwright.data.query_features import Scaling
    from rankwright.models.serialisation import JSON

MAX_COLUMNS_PER_FEATURE = 16
"""The most columns that nested scorers may make of each feature: more would let a small file exhaust memory."""


@dataclass(frozen=True, eq=False, repr=False)
class WrappingScorer(Scorer):
    """A scorer around another scorer, whose properties it has by default.

    Parameters
    ----------
    inner
        The scorer that it contains.
    """

    saved: ClassVar[Saved] = {"inner": State.child}
    inner: Scorer

    def __post_init__(self) -> None:
        self._set("inner", checked_part(self.inner))
        self._set("n_features", self._own_features())
        super().__post_init__()

    def _own_features(self) -> int:
        return self.inner.n_features

    @property
    def needs_queries(self) -> bool:
        """Whether the inner scorer does."""
        return self.inner.needs_queries

    @property
    def columns_per_feature(self) -> int:
        """Those of the inner scorer."""
        return self.inner.columns_per_feature

    @property
    def depth(self) -> int:
        """One more than the inner scorer's."""
        return 1 + self.inner.depth

    @property
    def n_rounds(self) -> int:
        """Those of the inner scorer."""
        return self.inner.n_rounds

    @property
    def n_trees(self) -> int:
        """Those of the inner scorer."""
        return self.inner.n_trees

    def first(self, n_rounds: int) -> Self:
        """Return the scorer with the first rounds of the inner one."""
        return replace(self, inner=self.inner.first(n_rounds))

    @property
    def used_features(self) -> Integers:
        """Those of the inner scorer."""
        return self.inner.used_features


def checked_part(scorer: Any) -> Scorer:
    """Return a scorer as another contains it: without names and facts, and able to score on its own."""
    if not isinstance(scorer, Scorer):
        raise InputError(f"A scorer can contain only scorers, not {type(scorer).__name__}.")
    if scorer.needs_init_score:
        raise InputError(
            "A residual model cannot be part of another scorer: it scores only with init_score, "
            "which the other scorer could not give it."
        )
    return scorer.bare()


@dataclass(frozen=True, eq=False, repr=False)
class QueryFeatureScorer(WrappingScorer):
    """Another scorer's scores of columns computed within the query, beside the features or instead of them.

    A feature's contribution is the sum of those of its own column and of all columns made from it.

    Parameters
    ----------
    inner
        The scorer of the columns; it also handles missing values.
    columns
        The kinds of columns, in order.
    raw
        Whether the features themselves come before them.
    """

    kind: ClassVar[str] = "query_features"
    columns: tuple[QueryFeature, ...]
    raw: bool = True

    def _own_features(self) -> int:
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise InputError("columns must name at least one kind of column, each only once.")
        if self.columns_per_feature > MAX_COLUMNS_PER_FEATURE:
            raise InputError(
                f"Scoring would make {self.columns_per_feature} columns of each feature; "
                f"at most {MAX_COLUMNS_PER_FEATURE} are allowed."
            )
        if self.inner.n_features % self._width:
            raise InputError(f"{self.inner.n_features} columns cannot be {self._width} per feature.")
        return self.inner.n_features // self._width

    @property
    def _width(self) -> int:
        """Number of columns per feature that the inner scorer is given."""
        return self.raw + len(self.columns)

    @property
    def columns_per_feature(self) -> int:
        """Its own, times those that the inner scorer makes of each."""
        return self._width * self.inner.columns_per_feature

    @property
    def needs_queries(self) -> bool:
        """Always."""
        return True

    def _score(self, X: Floats, groups: QueryGroups, n_threads: int, /) -> Doubles:
        return self.inner._score(self._made(X, groups, n_threads), groups, n_threads)

    def _contributions(self, X: Floats, groups: QueryGroups, n_threads: int, /) -> Doubles:
        wide = self.inner._contributions(self._made(X, groups, n_threads), groups, n_threads)
        values = wide[:, -self.n_features - 1 :]  # the last kind of columns, and the base score
        for start in range(0, wide.shape[1] - values.shape[1], self.n_features):
            values[:, :-1] += wide[:, start : start + self.n_features]
        return np.ascontiguousarray(values)

    def _made(self, X: Floats, groups: QueryGroups, n_threads: int) -> Floats:
        return with_query_features(X, groups, self.columns, raw=self.raw, n_threads=n_threads)

    @property
    def total_gain(self) -> Doubles | None:
        """That of each feature's own column and of all columns made from it."""
        gain = self.inner.total_gain
        return None if gain is None else gain.reshape(-1, self.n_features).sum(axis=0)

    @property
    def used_features(self) -> Integers:
        """Those of which the inner scorer uses any column."""
        return np.unique(self.inner.used_features % self.n_features)

    def state(self) -> State:
        """Return the kinds of columns, whether the features come first, and the inner scorer."""
        fields: dict[str, JSON] = {"columns": [column.value for column in self.columns]}
        if not self.raw:  # absent in older files
            fields["raw"] = False
        return State(fields=fields, children={"inner": self.inner})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild a scorer from what `state` returned."""
        names = state.fields.get("columns")
        known = {kind.value: kind for kind in QueryFeature}
        if not isinstance(names, list) or not all(isinstance(name, str) and name in known for name in names):
            raise InputError(f"columns must be a list of {', '.join(known)}, not {shown(names)}.")
        raw = state.fields.get("raw", True)
        if not isinstance(raw, bool):
            raise InputError(f"raw must be true or false, not {shown(raw)}.")
        return cls(state.child("inner"), tuple(known[str(name)] for name in names), raw)


def over_columns(scorer: Scorer, scaling: Scaling) -> Scorer:
    """Return the scorer of features for a scorer of the columns that the scaling applies to."""
    return scorer if scaling.within is None else QueryFeatureScorer(scorer, (scaling.within,), raw=False)
