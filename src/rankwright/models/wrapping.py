"""What scorers that ask one other scorer share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from rankwright.models.scorer import Scorer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class WrappingScorer(Scorer):
    """A scorer around another; unless a subclass says otherwise, it is what that one is.

    Parameters
    ----------
    inner
        The scorer that is asked.
    """

    inner: Scorer

    def __post_init__(self) -> None:
        self._set("inner", self.inner.bare())
        self._set("n_features", self._own_features())
        super().__post_init__()

    def _own_features(self) -> int:
        return self.inner.n_features

    @property
    def needs_queries(self) -> bool:
        """Whether the inner scorer does."""
        return self.inner.needs_queries

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

    @property
    def used_features(self) -> NDArray[np.int64]:
        """Those of the inner scorer."""
        return self.inner.used_features
