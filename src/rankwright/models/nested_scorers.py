"""Scorers that contain other scorers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rankwright.base.errors import InputError
from rankwright.models.scorer import Scorer
from rankwright.models.serialisation import Saved, State

if TYPE_CHECKING:
    from rankwright.base.arrays import Integers


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
