"""Models trained on top of the scores of another model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.models.nested_scorers import WrappingScorer
from rankwright.models.scorer import require_finite_scores
from rankwright.models.serialisation import frozen_numbers

if TYPE_CHECKING:
    from typing import NoReturn

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles, Floats
    from rankwright.data.groups import QueryGroups


@dataclass(frozen=True, eq=False, repr=False)
class ResidualModel(WrappingScorer):
    """A scorer whose scores are added to `init_score`, the scores of the model that training started from.

    No other scorer can contain it, because none could give it `init_score`.

    Parameters
    ----------
    inner
        The scorer that was learned on top of the given scores.
    """

    kind: ClassVar[str] = "correction"  # the name in files of all versions

    @property
    def needs_init_score(self) -> bool:
        """Always."""
        return True

    @property
    def total_gain(self) -> Doubles | None:
        """That of the inner scorer."""
        return self.inner.total_gain

    def _from_start(self, X: Floats, groups: QueryGroups, init_score: ArrayLike | None, n_threads: int) -> Doubles:
        if init_score is None:
            self._refuse()
        start = frozen_numbers("init_score", init_score, (len(groups.rows),))
        with np.errstate(over="ignore", invalid="ignore"):  # refused as not finite
            return require_finite_scores(start + self.inner._finite_scores(X, groups, n_threads))

    def _refuse(self) -> NoReturn:
        raise InputError(
            "This model was trained on top of the scores of another model, which it does not hold: "
            "give those scores as init_score, one per document."
        )

    def _score(self, _X: Floats, _groups: QueryGroups, _threads: int, /) -> Doubles:
        self._refuse()
