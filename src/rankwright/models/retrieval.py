"""A retrieval model, BM25 or a language model, as a scorer of the text of documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.dataset import Documents
from rankwright.models.scorer import Scorer
from rankwright.models.serialisation import Saved, State, checked_n_features, checked_number, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.data.groups import QueryGroups

MAX_ENTRIES = 10_000  # parameters, or fields


@runtime_checkable
class HasText(Protocol):
    """Groups of rows that know their text, as `rankwright.text` makes them."""

    def retrieval_scores(
        self, name: str, parameters: Mapping[str, Any], weights: Mapping[str, float], n_threads: int
    ) -> Doubles:
        """Return the score of each row by a retrieval model."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class RetrievalScorer(Scorer):
    """The score of a retrieval model, as `Index.search` gives it; features are ignored.

    It scores `TextDocuments` and `TextRankingData`, which know their text. Its contribution is the base score.

    Parameters
    ----------
    model
        The model's name in `rankwright.text.retrieval.MODELS`, such as "bm25".
    parameters
        The model's parameters by name; they are checked when text is scored, by the model itself.
    weights
        The weight of each field of the index.
    combined
        Whether fields are searched as one text; files that do not say so sum the scores of fields.
    n_features
        Number of features of the data it was fitted on, so that it can be part of a combination.
    """

    kind: ClassVar[str] = "retrieval"
    saved: ClassVar[Saved] = {
        "model": State.plain,
        "parameters": State.plain,
        "weights": State.plain,
        "combined": lambda state, name: state.fields.get(name, False),
        "n_features": State.integer,
    }
    model: str
    parameters: Mapping[str, float | str]
    weights: Mapping[str, float]
    combined: bool = field(default=True, kw_only=True)
    n_features: int = field(kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.model, str):
            raise InputError(f"model must be the name of a retrieval model, not {shown(self.model)}.")
        self._set("parameters", _checked("parameters", self.parameters, text=True))
        self._set("weights", _checked("weights", self.weights, text=False))
        if any(weight < 0 for weight in self.weights.values()):
            raise InputError("weights must not be negative.")
        if not isinstance(self.combined, bool):
            raise InputError(f"combined must be True or False, not {shown(self.combined)}.")
        self._set("n_features", checked_n_features(self.n_features))
        super().__post_init__()

    def __repr__(self) -> str:
        numbers = [f"{name}={value:g}" for name, value in self.parameters.items() if not isinstance(value, str)]
        return f"RetrievalScorer({', '.join([self.model, *numbers])})"

    def state(self) -> State:
        """Return everything that `from_state` needs, as files say it."""
        state = super().state()
        fields = {name: value for name, value in state.fields.items() if name != "combined" or value}
        return replace(state, fields=fields)

    @property
    def needs_queries(self) -> bool:
        """A score depends on the text of the query."""
        return True

    @property
    def used_features(self) -> Integers:
        """No feature."""
        return np.zeros(0, np.int64)

    def _checked(self, X: Any, qid: ArrayLike | None) -> tuple[Floats, QueryGroups]:
        if not isinstance(X, Documents) or qid is not None:
            raise _without_text(X)
        return X.X, X.groups  # whichever they are

    def _score(self, X: Floats, groups: QueryGroups, n_threads: int, /) -> Doubles:
        if not isinstance(groups, HasText):
            raise _without_text(X)
        if self.combined:
            return groups.retrieval_scores(self.model, self.parameters, self.weights, n_threads)
        scores = np.zeros(len(X))
        for name, weight in self.weights.items():
            scores += weight * groups.retrieval_scores(self.model, self.parameters, {name: 1.0}, n_threads)
        return scores

    def _contributions(self, X: Floats, groups: QueryGroups, n_threads: int, /) -> Doubles:
        values = np.zeros((len(X), X.shape[1] + 1))
        values[:, -1] = self._score(X, groups, n_threads)
        return values


def _without_text(given: Any) -> InputError:
    return InputError(
        "A retrieval model scores text: give TextDocuments or TextRankingData, which rankwright.text.FeatureSet"
        f" makes, not {type(given).__name__} without text."
    )


def _checked(name: str, given: Any, *, text: bool) -> Mapping[str, Any]:
    """Return a mapping of names to finite numbers, or to texts if they are allowed."""
    named = isinstance(given, Mapping) and all(isinstance(key, str) for key in given)
    if not named or len(given) > MAX_ENTRIES:
        raise InputError(f"{name} must be a mapping of names to numbers, not {shown(given)}.")
    return {
        key: value if text and isinstance(value, str) else checked_number(f"{name}[{shown(key)}]", value)
        for key, value in given.items()
    }
