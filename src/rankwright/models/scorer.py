"""The base class of all scorers: frozen data that gives each document a score."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, field
from importlib import import_module
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol, Self

import numpy as np

from rankwright.base.arrays import checked_feature_names, checked_features, feature_names_of
from rankwright.base.errors import InputError, require_type
from rankwright.base.resources import resolve_threads
from rankwright.base.wording import brief_list, counted
from rankwright.data.alignment import aligned, frame_by_name, require_same_number
from rankwright.data.categories import checked_categories
from rankwright.data.dataset import Documents
from rankwright.data.groups import QueryGroups, Ranking, checked_query_ids
from rankwright.models.serialisation import Saved, State, checked_about, checked_n_features, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.data.categories import Category
    from rankwright.data.feature_ranges import FeatureRanges
    from rankwright.models.serialisation import JSON

MAX_SHOWN = 300  # of a fact on a card; a file may claim anything


@dataclass(frozen=True, eq=False, repr=False)
class Scorer(ABC):
    """An immutable model that scores documents; a higher score is better.

    A subclass is a frozen dataclass of arrays, plain fields and scorers. It defines `kind` (its name in model
    files), `saved`, `n_features` and `_score`; its constructor checks every value.

    Parameters
    ----------
    feature_names
        One name per feature. From data with names too, the features are taken by name; otherwise by position.
    categories
        How features are made from columns of categories.
    about
        Facts saved with the model (the ranker, its parameters, the metric ...) as plain JSON.
    ranges
        The range of each feature in the training documents, for `drift`; None if they are not known.

    Examples
    --------
    >>> model = rw.AdaRank().fit(rw.synthetic.gaussian_queries(20)).model_
    >>> isinstance(model, rw.Scorer), model.n_features, model.about["ranker"]
    (True, 2, 'AdaRank')
    >>> model.rank([[-1.0, -0.9], [1.1, 0.8]], qid="hats").tolist()
    [2, 1]
    """

    kind: ClassVar[str]
    saved: ClassVar[Saved]
    n_features: int = field(init=False)
    feature_names: tuple[str, ...] | None = field(default=None, kw_only=True)
    categories: tuple[Category, ...] = field(default=(), kw_only=True)
    about: Mapping[str, JSON] = field(default_factory=dict, kw_only=True)
    ranges: FeatureRanges | None = field(default=None, kw_only=True)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        kind = cls.__dict__.get("kind")
        if kind in _kinds:
            raise TypeError(f"{cls.__name__} and {_kinds[kind].__name__} are both of kind {kind!r}.")
        if kind is not None:
            _kinds[kind] = cls

    def __post_init__(self) -> None:
        self._set("n_features", checked_n_features(self.n_features))
        self._set("about", checked_about(self.about))
        if self.feature_names is not None:
            self._set("feature_names", checked_feature_names(self.feature_names, self.n_features))
        if self.categories:
            self._set("categories", checked_categories(self.categories, self.feature_names))
        if self.ranges is not None and len(self.ranges) != self.n_features:
            raise InputError(f"There are ranges of {len(self.ranges)} features, and {self.n_features} features.")

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({counted(self.n_features, 'feature')})"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return a card for a notebook: the kind of scorer, its features and rounds, and the facts about it."""
        from rankwright.reports.blocks import spelled_fact
        from rankwright.reports.notebook import card_html

        names = "" if self.feature_names is None else f": {brief_list(self.feature_names)}"
        facts = {"kind": self.kind, "features": f"{self.n_features:,}{names}"}
        facts |= {"rounds": f"{self.n_rounds:,}"} if self.n_rounds else {}
        for name, fact in self.about.items():
            facts.setdefault(name, spelled_fact(fact))
        short = {name: f"{fact[:MAX_SHOWN]}{'...' * (len(fact) > MAX_SHOWN)}" for name, fact in facts.items()}
        return {"text/plain": repr(self), "text/html": card_html(type(self).__name__, short)}

    @property
    def needs_queries(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return False

    @property
    def needs_init_score(self) -> bool:
        """Whether `predict` needs `init_score`, the scores that training started from."""
        return False

    @property
    def columns_per_feature(self) -> int:
        """Number of columns that scoring makes of each feature; 1 if it uses the features as they are."""
        return 1

    @property
    def allows_infinite(self) -> bool:
        """Whether features may be infinite: only if values are compared, and nothing is computed with them."""
        return False

    @property
    def depth(self) -> int:
        """Levels of nested scorers; 1 if this scorer contains no others."""
        return 1

    @property
    def n_rounds(self) -> int:
        """Number of boosting rounds; 0 if the scorer was not made by boosting."""
        return 0

    @property
    def n_trees(self) -> int:
        """Number of trees, to which scoring time is proportional; 0 if the scorer has none."""
        return 0

    def first(self, n_rounds: int) -> Self:
        """Return the model made by the first `n_rounds` rounds."""
        raise InputError(f"A scorer of kind {self.kind!r} has no rounds, so it cannot be cut to {n_rounds}.")

    def predict(
        self,
        X: Any,
        qid: ArrayLike | None = None,
        *,
        init_score: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> Doubles:
        """Return one score per document, in the order of the input.

        Parameters
        ----------
        X
            Features, one row per document, NaN for a missing value; or `Documents` or `RankingData`, which have
            their own query ids. A model with feature names takes those features, by name, from a data frame or
            from data with names: in any order, whatever else the frame holds, categories as text.
        qid
            Query ids, one per row, or a single id if all rows belong to one query. A model that scores documents
            relative to their query (`needs_queries`) needs them; other models ignore them.
        init_score
            The scores that training started from; only a residual model (`needs_init_score`) takes them.
        n_jobs
            Number of threads, None for all that this process may use; scores do not depend on it.
        """
        features, groups = self._checked(X, qid)
        return self._from_start(features, groups, init_score, resolve_threads(n_jobs))

    def outputs(self, data: Documents, *, n_jobs: int | None = None) -> Doubles:
        """Return the scores, which this scorer adds to an ensemble as a weak model."""
        return self.predict(data, n_jobs=n_jobs)

    def rank(
        self,
        X: Any,
        qid: ArrayLike | None = None,
        *,
        init_score: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> Integers:
        """Return each document's rank within its query, 1 for the best.

        Takes what `predict` takes, but always needs query ids.
        """
        if qid is None and not isinstance(X, Documents):
            _refuse_without_queries("Documents are ranked within their query")
        features, groups = self._checked(X, qid)
        scores = self._from_start(features, groups, init_score, resolve_threads(n_jobs))
        return Ranking.of(scores, groups, n_jobs=n_jobs).ranks()

    def contributions(self, X: Any, qid: ArrayLike | None = None, *, n_jobs: int | None = None) -> Doubles:
        """Return one row per document: the contribution of each feature to its score, and last the base score.

        A row sums to the document's score. Takes what `predict` takes. The base score, to which contributions
        are relative, depends on the kind of scorer: see its class.
        """
        features, groups = self._checked(X, qid)
        with np.errstate(over="ignore", invalid="ignore"):  # refused below, with the row
            values = self._contributions(features, groups, resolve_threads(n_jobs))
        if not np.isfinite(values).all():
            row = int((~np.isfinite(values)).any(axis=1).argmax())
            raise InputError(f"A contribution in row {row} is not finite: the model's numbers are too large.")
        return values

    @property
    def used_features(self) -> Integers:
        """The features that can change a score, in ascending order; all of them unless a subclass knows better."""
        return np.arange(self.n_features)

    @property
    def total_gain(self) -> Doubles | None:
        """The total gain of the splits on each feature and on columns made from it; None if not all is trees."""
        return None

    def described(
        self,
        *,
        feature_names: Sequence[str] | None = None,
        categories: Sequence[Category] | None = None,
        about: Mapping[str, JSON] | None = None,
        ranges: FeatureRanges | None = None,
    ) -> Self:
        """Return a copy with these feature names, categories, facts and ranges; None keeps the present ones."""
        return self._with(
            feature_names=self.feature_names if feature_names is None else tuple(feature_names),
            categories=self.categories if categories is None else tuple(categories),
            about=self.about if about is None else about,
            ranges=self.ranges if ranges is None else ranges,
        )

    def bare(self) -> Self:
        """Return this scorer without names, categories, facts and ranges, as another scorer contains it."""
        if self.feature_names or self.about or self.ranges:
            return self._with(feature_names=None, categories=(), about={}, ranges=None)
        return self

    def _with(self, **description: Any) -> Self:
        scorer = copy.copy(self)
        for name, value in description.items():
            scorer._set(name, value)
        Scorer.__post_init__(scorer)  # only these have changed
        return scorer

    @abstractmethod
    def _score(self, X: Floats, groups: QueryGroups, n_threads: int, /) -> Doubles:
        """Score checked features; a row's score may depend on its own query, never on the other queries."""

    def _contributions(self, _X: Floats, _groups: QueryGroups, _threads: int, /) -> Doubles:
        """Return contributions to the scores of checked features; not every kind of scorer has them."""
        raise InputError(f"A scorer of kind {self.kind!r} cannot compute contributions of features.")

    def state(self) -> State:
        """Return everything that `from_state` needs to rebuild this scorer, except names and facts."""
        values = {name: getattr(self, name) for name in self.saved}
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        children = {name: value for name, value in values.items() if isinstance(value, Scorer)}
        fields = {name: value for name, value in values.items() if not isinstance(value, np.ndarray | Scorer)}
        return State(fields, arrays, children)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild a scorer from its state; InputError if anything is wrong, for the file may be hostile."""
        return cls(**{name: read(state, name) for name, read in cls.saved.items()})

    def _checked(self, X: Any, qid: ArrayLike | None) -> tuple[Floats, QueryGroups]:
        """Return checked features and queries; without query ids, if allowed, all rows are one query."""
        if isinstance(X, Documents):
            if qid is not None:
                raise InputError(f"{type(X).__name__} has its own query ids; do not give qid as well.")
            return aligned(X, self).X, X.groups
        if qid is None and self.needs_queries:
            _refuse_without_queries("This model scores documents relative to their query")
        features = self._opened(self._by_name(X))
        require_same_number(self.n_features, features.shape[1])
        return features, _groups_of(qid, features.shape[0])

    def _by_name(self, X: Any) -> Any:
        """Return the features of a data frame by name, if the model has names; anything else as it is."""
        given = None if self.feature_names is None else feature_names_of(X)
        if given is None or (given == self.feature_names and not self.categories):
            return X
        return frame_by_name(X, self)

    def _opened(self, X: Any) -> Any:
        """Return features in a form that `_score` takes; a subclass may leave checks to `_score`."""
        return checked_features(X, allow_infinite=self.allows_infinite)

    def _from_start(self, X: Floats, groups: QueryGroups, init_score: ArrayLike | None, n_threads: int) -> Doubles:
        """Return the scores; a residual model adds them to `init_score`, and any other refuses it."""
        if init_score is not None:
            raise InputError("This model needs no init_score: only a residual model takes it.")
        return self._finite_scores(X, groups, n_threads)

    def _finite_scores(self, X: Floats, groups: QueryGroups, n_threads: int) -> Doubles:
        with np.errstate(over="ignore", invalid="ignore"):  # refused below, with the row
            return require_finite_scores(self._score(X, groups, n_threads))


_kinds: dict[str, type[Scorer]] = {}

MODULES = {
    "calibrated": "calibrated",
    "combination": "combination",
    "correction": "residual",
    "expected_relevance": "class_trees",
    "feature": "feature",
    "fusion": "fusion",
    "hidden_layer": "regression_calibrations",
    "linear": "linear",
    "logistic_calibration": "probability_calibrations",
    "network": "network",
    "polynomial": "regression_calibrations",
    "query_features": "nested_scorers",
    "radial_basis": "regression_calibrations",
    "rescaled": "regression_calibrations",
    "retrieval": "retrieval",
    "sigmoid_calibration": "probability_calibrations",
    "standard_calibration": "probability_calibrations",
    "standardised": "combination",
    "trees": "trees",
}
"""The module that defines each kind of scorer, so that loading a model imports only what it holds."""


def scorer_class(kind: Any) -> type[Scorer]:
    """Return the class of scorers of this kind."""
    if isinstance(kind, str) and kind in MODULES:
        import_module(f"rankwright.models.{MODULES[kind]}")
    if not isinstance(kind, str) or kind not in _kinds:
        known = ", ".join(sorted({*MODULES, *_kinds}))
        raise InputError(f"this version knows no scorer of kind {shown(kind)}, only {known}.")
    return _kinds[kind]


def require_finite_scores(scores: Doubles) -> Doubles:
    """Return the scores, or refuse them if one is infinite or NaN; for callers that ignore numpy's warnings."""
    # The sum is faster, and finite only if all scores are; it may overflow where none of them is infinite.
    if not isfinite(np.add.reduce(scores)) and not np.isfinite(scores).all():
        row = int((~np.isfinite(scores)).argmax())
        raise InputError(f"The score of row {row} is not finite: the model's numbers are too large.")
    return scores


def _refuse_without_queries(reason: str) -> NoReturn:
    raise InputError(
        f"{reason}, so query ids are needed: give qid, one id per row, or a single id such as qid=1 "
        "if all rows belong to one query."
    )


def _groups_of(qid: ArrayLike | None, n_rows: int) -> QueryGroups:
    if qid is None:
        return QueryGroups.of_one(n_rows)
    if isinstance(qid, str | int | np.integer):
        checked_query_ids(np.array([qid]))
        return QueryGroups.of_one(n_rows)
    groups = QueryGroups.of(qid)
    if groups.n_rows != n_rows:
        raise InputError(f"There are {n_rows} documents but {groups.n_rows} query ids.")
    return groups


class Fitted(Protocol):
    """A ranker after `fit`."""

    @property
    def model_(self) -> Scorer:
        """The scorer it has learned."""


def scorer_of(model: Any) -> Scorer | None:
    """Return a scorer itself, or the scorer of a fitted ranker or search; None for another library's model."""
    model = best_of(model)
    scorer = model if isinstance(model, Scorer) else getattr(model, "model_", None)
    return scorer if isinstance(scorer, Scorer) else None


def name_of(model: Any) -> str:
    """Return a name for a model in a report: its ranker, or its class."""
    model = best_of(model)
    ranker = model.about.get("ranker", model.kind) if isinstance(model, Scorer) else type(model).__name__
    return str(ranker)


def checked_scorers(rankers: Sequence[Any]) -> list[Scorer]:
    """Return the scorers of fitted rankers or scorers, at least one; refuse anything else."""
    require_type(rankers, Collection, "Give a list of fitted rankers or scorers")
    if not len(rankers):
        raise InputError("There must be at least one scorer to mix.")
    scorers = []
    for number, ranker in enumerate(rankers, start=1):
        scorer = scorer_of(ranker)
        if scorer is None:
            raise InputError(f"Ranker {number} must be a fitted ranker or a scorer, not {type(ranker).__name__}.")
        scorers.append(scorer)
    return scorers


def best_of(model: Any) -> Any:
    """Return the estimator that a search of scikit-learn found; anything else as it is."""
    return getattr(model, "best_estimator_", model)
