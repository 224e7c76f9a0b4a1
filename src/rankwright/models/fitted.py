"""Scorers, fitted rankers and other libraries' models, used alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from rankwright.errors import InputError
from rankwright.models.scorer import Scorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.data.dataset import Documents


class Fitted(Protocol):
    """A ranker after `fit`."""

    @property
    def model_(self) -> Scorer:
        """The scorer it has learned."""


def scorer_of(model: Any) -> Scorer | None:
    """Return a scorer itself, or the scorer of a fitted ranker; None for another library's model."""
    scorer = model if isinstance(model, Scorer) else getattr(model, "model_", None)
    return scorer if isinstance(scorer, Scorer) else None


def checked_scorers(rankers: Sequence[Any]) -> list[Scorer]:
    """Return the scorers of fitted rankers or scorers, at least one; refuse anything else."""
    if not len(rankers):
        raise InputError("There must be at least one scorer to mix.")
    scorers = []
    for number, ranker in enumerate(rankers, start=1):
        scorer = scorer_of(ranker)
        if scorer is None:
            raise InputError(f"Ranker {number} must be a fitted ranker or a scorer, not {type(ranker).__name__}.")
        scorers.append(scorer)
    return scorers


def scores_by(model: Any, data: Documents, *, n_threads: int) -> Any:
    """Return the scores that a ranker, a scorer or another library's model gives, not yet checked.

    Another library's `predict` is called with the features alone; any error it raises becomes an InputError.
    """
    scorer = scorer_of(model)
    if scorer is not None:
        return scorer.predict(data, n_jobs=n_threads)
    try:
        return model.predict(data.X)
    except Exception as error:
        raise InputError(str(error)) from error
