"""The start of boosting: the submodel of LambdaSMART (Wu, Burges, Svore & Gao 2010, step 2 of Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.arrays import refuse_masked, require_real
from rankwright.base.errors import InputError, parameter
from rankwright.models.combination import Combination
from rankwright.models.nested_scorers import QueryFeatureScorer
from rankwright.models.other_libraries import scores_by
from rankwright.models.residual import ResidualModel
from rankwright.models.scorer import scorer_of
from rankwright.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.models.scorer import Scorer


@dataclass(frozen=True, eq=False)
class Start:
    """The scores of the documents before the first round, in the order of the input.

    `scorer` is the model that gave them; None for another library's model or plain scores, which no model file can
    hold.
    """

    name: str
    train: Doubles
    validation: Doubles | None
    scorer: Scorer | None

    def plus(self, trees: Scorer) -> Scorer:
        """Return the model that adds the learned trees to the start."""
        return ResidualModel(trees) if self.scorer is None else _sum_of(self.scorer, trees)


def checked_start(
    start: Any, validation_start: Any, train: RankingData, validation: RankingData | None, n_threads: int
) -> Start:
    """Return the start that a model, or columns of scores, gives for the training and validation documents."""
    if not hasattr(start, "predict"):
        return _columns(start, validation_start, train, validation)
    if validation_start is not None:
        raise InputError("validation_start goes with a column of scores; this start is a model.")
    of_train = _predicted(start, train, "training", n_threads)
    of_validation = None
    if validation is not None:
        of_validation = _predicted(start, validation, "validation", n_threads)
    return Start(type(start).__name__, of_train, of_validation, scorer_of(start))


def _columns(start: Any, validation_start: Any, train: RankingData, validation: RankingData | None) -> Start:
    if validation is not None and validation_start is None:
        raise InputError(
            "start is a column of scores, so validation_start is needed: the same model's scores of the "
            "validation documents."
        )
    if validation is None and validation_start is not None:
        raise InputError("validation_start needs validation documents.")
    of_validation = None
    if validation is not None:
        of_validation = _checked_scores("validation_start", validation_start, len(validation))
    return Start("scores", _checked_scores("start", start, len(train)), of_validation, None)


def _predicted(start: Any, data: RankingData, part: str, n_threads: int) -> Doubles:
    """Return a model's scores of a part of the data."""
    try:
        scores = scores_by(start, data, n_threads=n_threads)
    except InputError as error:
        kind = type(start).__name__
        raise InputError(f"{parameter('start')}, a {kind}, cannot score the {part} documents: {error}") from error
    return _checked_scores(f"The scores by start of the {part} documents", scores, len(data))


def _checked_scores(name: str, scores: Any, length: int) -> Doubles:
    refuse_masked(scores, name)
    try:
        given = np.asarray(scores)
        require_real([given.dtype], name)
        numbers = given.astype(np.float64)
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be scores, or a model that predicts them, not {scores!r:.60}.") from None
    if numbers.shape != (length,):
        raise InputError(f"{name} must be {length} scores, one per document, not shape {numbers.shape}.")
    if not np.isfinite(numbers).all():
        row = int((~np.isfinite(numbers)).argmax())
        raise InputError(f"{name} must be finite scores, but that of row {row} is {numbers[row]}.")
    return numbers


def _sum_of(start: Scorer, trees: Scorer) -> Scorer:
    """Return both as one scorer: one ensemble if both are trees of the same columns."""
    match start, trees:
        case TreeEnsemble(), TreeEnsemble():
            return TreeEnsemble.concatenate([start.bare(), trees])
        case QueryFeatureScorer(), QueryFeatureScorer() if _same_columns(start, trees):
            return QueryFeatureScorer(_sum_of(start.inner, trees.inner), trees.columns, trees.raw)
    return Combination((start.bare(), trees), np.ones(2))


def _same_columns(first: QueryFeatureScorer, second: QueryFeatureScorer) -> bool:
    return (first.columns, first.raw) == (second.columns, second.raw)
