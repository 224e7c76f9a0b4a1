"""The models in service; a model is replaced when its file changes."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.base.files import file_state
from rankwright.base.wording import brief_list, closest
from rankwright.data.alignment import columns_by_name
from rankwright.data.categories import source_columns
from rankwright.interop.loading import load
from rankwright.serve.http.exchange import RefusalError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Floats
    from rankwright.base.files import FileState
    from rankwright.data.categories import Category
    from rankwright.models.scorer import Scorer
    from rankwright.serve.settings import ModelSource

REVISION = 12  # hexadecimal digits of the hash of a file


@dataclass(frozen=True)
class ServedModel:
    """A scorer in service; `revision` is the beginning of the SHA-256 of its file."""

    source: ModelSource
    scorer: Scorer
    revision: str
    loaded: float
    state: FileState

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that a document with named features needs; none if the model has no names."""
        return tuple(source_columns(self.scorer.feature_names or (), self.scorer.categories))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the features; numbers from 1, as in LETOR files, if the model has none."""
        return self.scorer.feature_names or tuple(map(str, range(1, self.scorer.n_features + 1)))

    @cached_property
    def limits(self) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """The range of each feature in training, and which features are not made from categories."""
        ranges = self.scorer.ranges
        made = {name for category in self.scorer.categories for name in category.columns}
        is_number = np.array([name not in made for name in self.names])
        if ranges is None:
            whole = np.full(self.scorer.n_features, np.inf, np.float32)
            return -whole, whole, is_number
        return ranges.minimum, ranges.maximum, is_number

    def scores(self, X: Floats) -> Doubles:
        """Return one score per row; the rows are the documents of one query."""
        return self.scorer.predict(X, self._qid, n_jobs=1)

    def contributions(self, X: Floats) -> Doubles:
        """Return the contribution of each feature to each score, and last the base score."""
        return self.scorer.contributions(X, self._qid, n_jobs=1)

    def work(self, n_documents: int) -> int:
        """Return about how many comparisons scoring takes."""
        return n_documents * max(self.scorer.n_trees, self.scorer.n_features)

    @property
    def _qid(self) -> int | None:
        return 1 if self.scorer.needs_queries else None


def order_of(scores: Doubles) -> list[int]:
    """Return the rows of one query, best first."""
    n = len(scores)
    offsets = np.array([0, n] if n else [0])
    order: list[int] = _native.sort_within_queries(offsets, np.arange(n), scores, None, 1).order.tolist()
    return order


def load_model(source: ModelSource) -> ServedModel:
    """Load a model and score one document, so that the first request does not wait for that."""
    scorer, revision, state = _loaded(source.path)
    if scorer.needs_init_score:
        raise InputError(
            f"{source.path} holds a residual model, which needs init_score; add it to its first model."
        )
    model = ServedModel(source, scorer, revision, time.time(), state)
    try:
        model.scores(np.full((1, scorer.n_features), np.nan, np.float32))
    except InputError as error:
        raise InputError(f"{source.path} cannot be served: {error}") from None
    return model


def _loaded(path: Path) -> tuple[Scorer, str, FileState]:
    """Return the scorer in a file, and the hash and state of that file, which may be replaced at any moment."""
    while True:
        state = file_state(path)
        scorer, revision = load(path), _revision(path)
        if file_state(path) == state:
            return scorer, revision, state


def _revision(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:REVISION]
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


class LoadedModels:
    """The models in service by name and version. Only the event loop's thread replaces them."""

    def __init__(self, sources: Sequence[ModelSource]) -> None:
        self._served = {(source.name, source.version): load_model(source) for source in sources}
        self._latest = {source.name: source.version for source in sources}
        self.problems: dict[str, str] = {}
        """Why a model's newest file is not in service, by its reference."""

    def __iter__(self) -> Iterator[ServedModel]:
        return iter(self._served.values())

    def __len__(self) -> int:
        return len(self._served)

    @property
    def names(self) -> list[str]:
        """The names, without versions."""
        return list(self._latest)

    def get(self, name: str | None = None, version: str | None = None) -> ServedModel:
        """Return a model; by default the first, and the last version given."""
        if not self._served:
            raise RefusalError(404, "This service has no model of its own; it searches.")
        if name is None:
            name = next(iter(self._latest))
        if version is None:
            name, at, version = name.partition("@")
            version = version if at else self._latest.get(name, "")
        model = self._served.get((name, version))
        if model is None:
            known = ", ".join(model.source.reference for model in self)
            raise RefusalError(404, f"There is no such model here; there are {known}.")
        return model

    def versions(self, name: str) -> list[str]:
        """Return the versions of a model, in the order in which they were given."""
        return [model.source.version for model in self if model.source.name == name]

    def replace(self, model: ServedModel) -> None:
        """Replace the model of the same name and version."""
        key = (model.source.name, model.source.version)
        _require_same_features(self._served[key], model)
        self._served[key] = model
        self.problems.pop(model.source.reference, None)


def _require_same_features(old: ServedModel, new: ServedModel) -> None:
    """Refuse a new file that could not answer the requests to the old one."""
    if old.scorer.n_features != new.scorer.n_features or old.columns != new.columns:
        raise InputError(
            f"{new.source.path} has other features than the model in service ({_difference(old, new)}); serve it "
            "under another name or version."
        )


def _difference(old: ServedModel, new: ServedModel) -> str:
    """Say how the features of two models differ."""
    if not old.columns or not new.columns or old.columns == new.columns:
        counts = [f"{model.scorer.n_features}{'' if model.columns else ' without names'}" for model in (new, old)]
        return f"{counts[0]}, not {counts[1]}"
    more = [name for name in new.columns if name not in old.columns]
    fewer = [name for name in old.columns if name not in new.columns]
    parts = [
        f"{word} {brief_list(map(repr, names))}" for word, names in (("with", more), ("without", fewer)) if names
    ]
    return ", ".join(parts) or "the same in another order"


def in_model_order(X: Floats, names: Sequence[str] | None, model: ServedModel) -> Floats:
    """Return the columns of a matrix as the model has them: by name if both have names, otherwise by position."""
    if names is None or model.scorer.feature_names is None:
        if X.shape[1] != model.scorer.n_features:
            raise InputError(
                f"The model {model.source.reference} has {model.scorer.n_features} features, "
                f"the documents of the request have {X.shape[1]}."
            )
        return X
    if len(names) != X.shape[1]:
        raise InputError(f"There are {len(names)} feature_names, but documents have {X.shape[1]} features.")
    position = {name: number for number, name in enumerate(names)}
    if len(position) < len(names):
        raise InputError("A name occurs twice in feature_names.")
    if tuple(names) == model.scorer.feature_names:
        return X
    require_names(position.keys(), model.scorer.feature_names, model)
    return np.ascontiguousarray(X[:, [position[name] for name in model.scorer.feature_names]])


def new_columns(model: ServedModel, other: ServedModel) -> list[str]:
    """Return the named columns that another model has in addition; none if one of the two has no names."""
    return [name for name in other.columns if name not in model.columns] if model.columns else []


def for_other_model(X: Floats, model: ServedModel, other: ServedModel) -> Floats:
    """Return a matrix for one model as the matrix for another, whose categories may have other values."""
    if not model.scorer.categories and not other.scorer.categories:
        return in_model_order(X, model.scorer.feature_names, other)
    require_names(model.columns, other.columns, other)
    return columns_by_name(_Encoded(X, model, other), other.scorer)


class _Encoded:
    """The matrix for one model as the columns of another."""

    def __init__(self, X: Floats, model: ServedModel, other: ServedModel) -> None:
        self._X = X
        self._columns = {name: column for column, name in enumerate(model.names)}
        self._categories = {category.name: category for category in model.scorer.categories}
        self.columns = other.columns
        different = self._categories.keys() ^ {category.name for category in other.scorer.categories}
        mixed = sorted(different.intersection(other.columns))
        if mixed:
            raise InputError(
                f"{brief_list(map(repr, mixed))} holds categories in one of two models, numbers in the other."
            )

    def numbers(self, name: str) -> NDArray[Any]:
        return self._X[:, self._columns[name]]

    def codes(self, category: Category) -> NDArray[np.int64]:
        own = self._categories[category.name]
        return own.recoded(own.decoded(self._X[:, [self._columns[name] for name in own.columns]]), category)


def require_names(given: Any, needed: Sequence[str], model: ServedModel) -> None:
    """Refuse documents without all columns of a model."""
    absent = [name for name in needed if name not in given]
    if absent:
        near = closest(absent[0], [name for name in given if name not in needed])
        hint = f"; did you mean {near!r}?" if near else "."
        raise InputError(
            f"The model {model.source.reference} needs {brief_list(map(repr, absent))}, "
            f"which the request does not have{hint}"
        )
