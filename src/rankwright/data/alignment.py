"""Puts features in the order of a model: by name if model and data have names, otherwise by position."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from rankwright.base.arrays import checked_features, feature_names_of, sealed
from rankwright.base.errors import InputError
from rankwright.base.wording import brief_list, closest
from rankwright.data.categories import source_columns
from rankwright.data.column_roles import DOCUMENT, LABEL, QUERY
from rankwright.data.dataset import Documents
from rankwright.data.readers.frame_columns import columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Floats, Integers
    from rankwright.data.categories import Category

D = TypeVar("D", bound=Documents)


class HasFeatures(Protocol):
    """A model, or the documents that one is learned from."""

    @property
    def n_features(self) -> int: ...

    @property
    def feature_names(self) -> tuple[str, ...] | None: ...

    @property
    def categories(self) -> tuple[Category, ...]: ...


def aligned(data: D, model: HasFeatures) -> D:
    """Return documents with the model's features, in its order; the same object if they have them already.

    Unless both have names, the number of features must be the same. By name, features that the model does not have
    are ignored with a warning.
    """
    if model.feature_names is None or data.feature_names is None:
        require_same_number(model.n_features, data.n_features)
        return data
    if (data.feature_names, data.categories) == (model.feature_names, model.categories):
        return data
    X = _by_name(model, model.feature_names, _EncodedTable(data))
    return data.with_features(sealed(X), model.feature_names, model.categories)


def frame_by_name(frame: Any, model: HasFeatures) -> Floats:
    """Return the features of a model that has names from the columns of a data frame or an Arrow table."""
    assert model.feature_names is not None
    return _by_name(model, model.feature_names, _RawTable(frame))


def columns_by_name(columns: NamedColumns, model: HasFeatures) -> Floats:
    """Return the features of a model that has names from columns of any other kind."""
    assert model.feature_names is not None
    return _by_name(model, model.feature_names, columns)


def named_columns(data: Any) -> _EncodedTable | _RawTable | None:
    """Return the columns of documents, a data frame or an Arrow table; None if they have no names."""
    if isinstance(data, Documents):
        return None if data.feature_names is None else _EncodedTable(data)
    return None if feature_names_of(data) is None else _RawTable(data)


def require_same_number(expected: int, given: int) -> None:
    """Refuse another number of features than the model's."""
    if given != expected:
        raise InputError(f"The model has {expected} features, the data {given}.")


class NamedColumns(Protocol):
    """The source of a model's columns."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns that a model may use, those that hold categories by their own name."""
        ...

    def numbers(self, name: str) -> NDArray[Any]: ...

    def codes(self, category: Category) -> Integers: ...


class _RawTable:
    """A data frame as it is, with categories as text."""

    def __init__(self, frame: Any) -> None:
        self._columns = {column.name: column for column in columns_of(frame)}
        self.columns = list(self._columns)

    def numbers(self, name: str) -> NDArray[Any]:
        return self._columns[name].numbers()

    def texts(self, category: Category) -> list[str | None]:
        return self._columns[category.name].texts()

    def codes(self, category: Category) -> Integers:
        texts = self.texts(category)
        _warn_of_new_values(category, {text for text in texts if text is not None})
        return category.codes(texts)


class _EncodedTable:
    """Documents, whose categories are encoded as when they were read."""

    def __init__(self, data: Documents) -> None:
        assert data.feature_names is not None
        self._X = data.X
        self._column = {name: column for column, name in enumerate(data.feature_names)}
        self._categories = {category.name: category for category in data.categories}
        self.columns = source_columns(data.feature_names, data.categories)

    def numbers(self, name: str) -> NDArray[Any]:
        if name in self._categories:
            raise InputError(f"{name!r} holds numbers in the model, but categories in the data.")
        return self._X[:, self._column[name]]

    def codes(self, category: Category) -> Integers:
        own, codes = self._own_codes(category)
        _warn_of_new_values(category, {own.values[code] for code in np.unique(codes[codes >= 0])})
        return own.recoded(codes, category)

    def texts(self, category: Category) -> list[str | None]:
        own, codes = self._own_codes(category)
        values = (*own.values, None)  # code -1 is missing
        return [values[code] for code in codes.tolist()]

    def _own_codes(self, category: Category) -> tuple[Category, Integers]:
        if category.name not in self._categories:
            raise InputError(
                f"{category.name!r} holds categories in the model, but numbers in the data; "
                "name it in categorical when you read the data."
            )
        own = self._categories[category.name]
        return own, own.decoded(self._X[:, [self._column[name] for name in own.columns]])


def _by_name(model: HasFeatures, names: tuple[str, ...], table: NamedColumns) -> Floats:
    needed = source_columns(names, model.categories)
    require_columns(needed, table.columns)
    made: dict[str, Floats] = {}
    for category in model.categories:
        made |= dict(zip(category.columns, category.encoded(table.codes(category)).T, strict=True))
    columns = [made[name] if name in made else table.numbers(name) for name in names]
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite
        X = np.stack(columns, axis=1, dtype=np.float32, casting="unsafe")
    for column in np.flatnonzero(np.isinf(X).any(axis=0)).tolist():  # refuse what was finite before
        checked_features(columns[column][:, np.newaxis], [names[column]], allow_infinite=True)
    return np.ascontiguousarray(X)


def _warn_of_new_values(category: Category, values: set[str]) -> None:
    new = sorted(values.difference(category.values))
    if new:
        known = f"The model was not trained on these values of {category.name!r}"
        warnings.warn(f"{known}, which count as missing: {brief_list(new)}.", stacklevel=2)


def require_columns(needed: Sequence[str], given: Sequence[str]) -> None:
    """Refuse a table without a column that the model needs; warn of columns that it does not use."""
    known, there = set(needed), set(given)
    absent = [name for name in needed if name not in there]
    if absent:
        close = closest(absent[0], [name for name in given if name not in known])
        hint = f"; did you mean {close!r}?" if close else "."
        raise InputError(f"The model needs {brief_list(map(repr, absent))}, which the data do not have{hint}")
    known |= {LABEL, QUERY, DOCUMENT}  # a frame often has these besides the features
    extra = [name for name in given if name not in known]
    if extra:
        warnings.warn(f"The model does not use {brief_list(extra)}.", stacklevel=2)
