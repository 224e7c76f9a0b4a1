"""What every scorer is: pure data that gives each document a score."""

from __future__ import annotations

import copy
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np

from rankwright.data.dataset import Documents
from rankwright.data.features import (
    checked_feature_names,
    checked_features,
    feature_names_of,
    require_same_features,
)
from rankwright.data.groups import QueryGroups
from rankwright.data.ranking import Ranking
from rankwright.errors import InputError
from rankwright.models.state import shown
from rankwright.threads import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.models.state import State

JSON: TypeAlias = "Mapping[str, JSON] | Sequence[JSON] | str | int | float | bool | None"


@dataclass(frozen=True, eq=False, repr=False)
class Scorer(ABC):
    """A frozen value that scores documents, higher is better.

    A subclass is a frozen dataclass of arrays and plain fields. It names its `kind` (its name in a model
    file) and gives `n_features`, `_score`, `state` and `from_state`; its constructor checks every value.

    Parameters
    ----------
    feature_names
        A name for each feature; data with other names are refused.
    about
        Facts that travel with the model (the ranker, its parameters, the metric ...) as plain JSON.
    """

    kind: ClassVar[str]
    n_features: int = field(init=False)
    feature_names: tuple[str, ...] | None = field(default=None, kw_only=True)
    about: Mapping[str, JSON] = field(default_factory=dict, kw_only=True)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        kind = cls.__dict__.get("kind")
        if kind in _kinds:
            raise TypeError(f"{cls.__name__} and {_kinds[kind].__name__} are both of kind {kind!r}.")
        if kind is not None:
            _kinds[kind] = cls

    def __post_init__(self) -> None:
        self._set("about", checked_about(self.about))
        if self.feature_names is not None:
            self._set("feature_names", checked_feature_names(self.feature_names, self.n_features))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_features} features)"

    @property
    def needs_queries(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return False

    @property
    def depth(self) -> int:
        """How many scorers deep this one is; 1 if it is made of no others."""
        return 1

    @property
    def n_rounds(self) -> int:
        """How many rounds of boosting `first` may keep; 0 if it is not made of rounds."""
        return 0

    def first(self, n_rounds: int) -> Self:
        """Return the model of its first rounds alone."""
        raise InputError(f"A scorer of kind {self.kind!r} has no rounds, so that it has no first {n_rounds}.")

    def predict(
        self, X: Any, qid: ArrayLike | None = None, *, n_threads: int | None = None
    ) -> NDArray[np.float64]:
        """Return a score for each document, in the order of the input.

        Parameters
        ----------
        X
            Features, one row per document, NaN for a missing value; or `Documents` or `RankingData`, which have
            their own query ids and feature names.
        qid
            The query of each document; without it all of them belong to one query.
        n_threads
            Number of threads, None for all that this process may use; scores do not depend on it.
        """
        features, groups = self._checked(X, qid)
        return self._finite_scores(features, groups, resolve_threads(n_threads))

    def outputs(self, data: Documents, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Return what boosting adds up where this is a weak model: its scores."""
        return self.predict(data, n_threads=n_threads)

    def rank(self, X: Any, qid: ArrayLike | None = None, *, n_threads: int | None = None) -> NDArray[np.int64]:
        """Return each document's rank within its query, from 1; takes what `predict` takes."""
        features, groups = self._checked(X, qid)
        scores = self._finite_scores(features, groups, resolve_threads(n_threads))
        return Ranking.of(scores, groups, n_threads=n_threads).ranks()

    def contributions(
        self, X: Any, qid: ArrayLike | None = None, *, n_threads: int | None = None
    ) -> NDArray[np.float64]:
        """Return a row a document: what each feature adds to its score, and last what every score starts from.

        A row's sum is the document's score. Takes what `predict` takes. What a score starts from, and so what a
        feature's value is compared with, is the scorer's own: see its class.
        """
        features, groups = self._checked(X, qid)
        with np.errstate(over="ignore", invalid="ignore"):  # told below, with the row
            values = self._contributions(features, groups, resolve_threads(n_threads))
        if not np.isfinite(values).all():
            row = int((~np.isfinite(values)).any(axis=1).argmax())
            raise InputError(f"The model's numbers are too large: a contribution to row {row} is not finite.")
        return values

    @property
    def used_features(self) -> NDArray[np.int64]:
        """The features that can change a score, ascending; all of them unless a scorer knows better."""
        return np.arange(self.n_features)

    def described(
        self, *, feature_names: Sequence[str] | None = None, about: Mapping[str, JSON] | None = None
    ) -> Self:
        """Return a copy with these feature names and facts; None leaves those it has."""
        names = self.feature_names if feature_names is None else tuple(feature_names)
        return self._with(names, self.about if about is None else about)

    def bare(self) -> Self:
        """Return this scorer without feature names and facts, as it is kept inside another."""
        return self._with(None, {}) if self.feature_names or self.about else self

    def _with(self, names: tuple[str, ...] | None, about: Mapping[str, JSON]) -> Self:
        scorer = copy.copy(self)
        scorer._set("feature_names", names)
        scorer._set("about", about)
        Scorer.__post_init__(scorer)  # only these two have changed
        return scorer

    @abstractmethod
    def _score(self, X: NDArray[np.float32], groups: QueryGroups, n_threads: int, /) -> NDArray[np.float64]:
        """Score checked features; a row's score may depend on its own query alone, never on the batch."""

    def _contributions(
        self, _X: NDArray[np.float32], _groups: QueryGroups, _threads: int, /
    ) -> NDArray[np.float64]:
        """Return contributions to the scores of checked features; not every kind of scorer has them."""
        raise InputError(f"A scorer of kind {self.kind!r} cannot tell what each feature adds to its scores.")

    @abstractmethod
    def state(self) -> State:
        """Return all that `from_state` needs to make this scorer again, names and facts aside."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: State) -> Self:
        """Make a scorer from its state, which may come from a hostile file: InputError if anything is off."""

    def _checked(self, X: Any, qid: ArrayLike | None) -> tuple[NDArray[np.float32], QueryGroups]:
        if isinstance(X, Documents):
            if qid is not None:
                raise InputError(f"{type(X).__name__} has its own query ids; give no qid beside it.")
            require_same_features(self.n_features, self.feature_names, X.X, X.feature_names)
            return X.X, X.groups
        features = self._opened(X)
        require_same_features(self.n_features, self.feature_names, features, feature_names_of(X))
        return features, _groups_of(qid, features.shape[0])

    def _opened(self, X: Any) -> Any:
        """Return features as `_score` takes them: checked, unless it checks them on its way."""
        return checked_features(X)

    def _finite_scores(self, X: NDArray[np.float32], groups: QueryGroups, n_threads: int) -> NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):  # told below, with the row
            scores = self._score(X, groups, n_threads)
        if not np.isfinite(scores).all():
            row = int((~np.isfinite(scores)).argmax())
            raise InputError(f"The model's numbers are too large: the score of row {row} is not finite.")
        return scores


_kinds: dict[str, type[Scorer]] = {}


def scorer_class(kind: Any) -> type[Scorer]:
    """Return the class of scorers of this kind."""
    if not isinstance(kind, str) or kind not in _kinds:
        raise InputError(f"this version knows no scorer of kind {shown(kind)}, only {', '.join(_kinds)}.")
    return _kinds[kind]


def checked_about(about: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return a copy of the facts that nobody else can change, once they have proved to be plain JSON."""
    try:
        facts = json.loads(json.dumps(about, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"about must hold plain JSON: {error}.") from None
    if not isinstance(facts, dict):
        raise InputError(f"about must be a mapping of facts by name, not {type(about).__name__}.")
    return facts


def _groups_of(qid: ArrayLike | None, n_rows: int) -> QueryGroups:
    if qid is None:
        return QueryGroups.of_one(n_rows)
    groups = QueryGroups.of(qid)
    if groups.n_rows != n_rows:
        raise InputError(f"There are {n_rows} documents but {groups.n_rows} query ids.")
    return groups


def scorer_of(model: Any) -> Scorer | None:
    """Return the scorer that this is, or that a fitted ranker holds; None for another library's model."""
    scorer = model if isinstance(model, Scorer) else getattr(model, "model_", None)
    return scorer if isinstance(scorer, Scorer) else None


def checked_scorers(rankers: Sequence[Any]) -> list[Scorer]:
    """Return the scorers of fitted rankers, or scorers; refuse anything else, and nothing."""
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
    """Return what a ranker, a scorer or another library's model says of documents; its scores are not checked.

    Another library's `predict` takes features alone; what it has against them becomes one sentence.
    """
    scorer = scorer_of(model)
    if scorer is not None:
        return scorer.predict(data, n_threads=n_threads)
    try:
        return model.predict(data.X)
    except Exception as error:
        raise InputError(str(error)) from error
