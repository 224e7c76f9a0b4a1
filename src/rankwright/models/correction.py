"""What is added to the scores of a model that no file of ours can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rankwright.data.ranking import Ranking
from rankwright.errors import InputError
from rankwright.models.scorer import Scorer
from rankwright.models.state import State, frozen_numbers
from rankwright.models.wrapping import WrappingScorer
from rankwright.threads import resolve_threads

if TYPE_CHECKING:
    from typing import NoReturn

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from rankwright.arrays import Doubles
    from rankwright.data.groups import QueryGroups


@dataclass(frozen=True, eq=False, repr=False)
class Correction(WrappingScorer):
    """Another scorer's scores added to those that training started from, which every prediction must be given.

    Parameters
    ----------
    inner
        What was learned on top of the scores given.
    """

    kind: ClassVar[str] = "correction"

    def __post_init__(self) -> None:
        if not isinstance(self.inner, Scorer) or isinstance(self.inner, Correction):
            raise InputError("What a correction adds must be a scorer that scores alone.")
        super().__post_init__()

    def predict(
        self,
        X: Any,
        qid: ArrayLike | None = None,
        *,
        start: ArrayLike | None = None,
        n_threads: int | None = None,
    ) -> Doubles:
        """Return a score for each document: what it starts from, and the correction."""
        features, groups = self._checked(X, qid)
        scores = self._started(start, features.shape[0])
        return scores + self.inner._finite_scores(features, groups, resolve_threads(n_threads))

    def rank(
        self,
        X: Any,
        qid: ArrayLike | None = None,
        *,
        start: ArrayLike | None = None,
        n_threads: int | None = None,
    ) -> NDArray[np.int64]:
        """Return each document's rank within its query, from 1; takes what `predict` takes."""
        _, groups = self._checked(X, qid)
        scores = self.predict(X, qid, start=start, n_threads=n_threads)
        return Ranking.of(scores, groups, n_threads=n_threads).ranks()

    def _started(self, start: ArrayLike | None, n_rows: int) -> Doubles:
        if start is None:
            self._refuse()
        return frozen_numbers("start", start, (n_rows,))

    def _refuse(self) -> NoReturn:
        raise InputError(
            "This model corrects the scores of another, which it does not hold: "
            "give predict those scores, one a document, as start."
        )

    def _score(self, _X: NDArray[np.float32], _groups: QueryGroups, _threads: int, /) -> Doubles:
        self._refuse()

    def state(self) -> State:
        """Return what is added."""
        return State(children={"inner": self.inner})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a correction from what is added."""
        return cls(state.child("inner"))
