"""Scores standardised within the query, so that scorers of different scales can be mixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from rankwright.data.query_features import standardised
from rankwright.models.state import State
from rankwright.models.wrapping import WrappingScorer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankwright.data.groups import QueryGroups


@dataclass(frozen=True, eq=False, repr=False)
class StandardisedScorer(WrappingScorer):
    """Another scorer's scores minus the query's mean, divided by the query's standard deviation.

    Parameters
    ----------
    inner
        The scorer.
    """

    kind: ClassVar[str] = "standardised"

    @property
    def needs_queries(self) -> bool:
        """Always."""
        return True

    def _score(self, X: NDArray[np.float32], groups: QueryGroups, n_threads: int, /) -> NDArray[np.float64]:
        return standardised(self.inner._score(X, groups, n_threads), groups, n_threads)

    def state(self) -> State:
        """Return the inner scorer."""
        return State(children={"inner": self.inner})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild a scorer from the inner one."""
        return cls(state.child("inner"))
