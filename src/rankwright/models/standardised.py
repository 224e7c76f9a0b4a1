"""Scores on the query's own scale, so that scorers of different scales can be mixed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from rankwright.data.query_features import standardised
from rankwright.models.scorer import Scorer
from rankwright.models.state import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankwright.data.groups import QueryGroups


@dataclass(frozen=True, eq=False, repr=False)
class StandardisedScorer(Scorer):
    """Another scorer's scores as deviations from the query's mean, in standard deviations.

    Parameters
    ----------
    inner
        The scorer.
    """

    kind: ClassVar[str] = "standardised"
    inner: Scorer

    def __post_init__(self) -> None:
        self._set("inner", self.inner.bare())
        self._set("n_features", self.inner.n_features)
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
        return standardised(self.inner._score(X, groups, n_threads), groups)

    @property
    def used_features(self) -> NDArray[np.int64]:
        """Those of the inner scorer."""
        return self.inner.used_features

    def state(self) -> State:
        """Return the inner scorer."""
        return State(children={"inner": self.inner})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a scorer from the inner one."""
        return cls(state.child("inner"))
