"""Makes documents from the columns of a table, whichever library holds them."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError, parameter
from rankwright.data.categories import Category
from rankwright.data.column_roles import ID_REASON, LABEL, Columns, Roles, looks_like_id, matching, no_column
from rankwright.data.dataset import Documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from rankwright.base.arrays import Floats

NUMBERS = "numbers"  # what the column of a feature holds
LEAST_NUMBERED_ROWS = 20  # in a shorter table, consecutive integers may be a coincidence

D = TypeVar("D", bound=Documents)


class ColumnsWarning(UserWarning):
    """Some columns of a table were left out by a rule; the message names them."""


class TableColumn(Protocol):
    """One column of a table, whatever the library that holds it."""

    @property
    def name(self) -> str: ...

    @property
    def holds(self) -> str:
        """What the column holds: numbers, text, dates, categories ..."""
        ...

    def require_complete(self) -> None:
        """Refuse a missing value."""
        ...

    def numbers(self) -> NDArray[Any]:
        """Return the values as floats, NaN where one is missing; refuse values that are no numbers."""
        ...

    def ids(self) -> NDArray[Any]:
        """Return the values as integers or strings; none may be missing."""
        ...

    def texts(self) -> list[str | None]:
        """Return the values as text, None where one is missing."""
        ...


def documents_of(columns: Iterable[TableColumn], roles: Roles) -> Documents:
    """Return the documents of a table, one per row, with labels if there is a label column."""
    table = _by_name(columns)
    use = _assigned(table, roles)
    labels = None if use.label is None else _labels(table, use.label)
    queries = _column(table, use.qid).ids()
    if len(queries) == 0:
        raise InputError("The table has no rows.")
    ids = None if use.docid is None else _column(table, use.docid).ids()
    categories = {name: Category.of(name, table[name].texts()) for name in use.categorical}
    X, names = _matrix([table[name] for name in use.features], categories, len(queries))
    if roles.features is None:
        X, names, use = _without_row_numbers(X, names, use)
    named = Documents(X, queries, document_ids=ids, feature_names=names, categories=tuple(categories.values()))
    documents = named if labels is None else named.with_labels(labels)
    shown = {name: table[name].texts() for name in matching(list(table), roles.show)}
    return documents.with_columns(use, shown)


def warned(documents: D) -> D:
    """Return the documents; warn if a rule left out columns that the caller did not mention."""
    sentence = None if documents.columns is None else documents.columns.warning
    if sentence is not None:
        warnings.warn(sentence, ColumnsWarning, stacklevel=3)
    return documents


@contextmanager
def naming(path: str | PathLike[str]) -> Iterator[None]:
    """Add the path of the file to error messages that lack it; refuse a path that is not a file."""
    if not Path(path).is_file():
        exists = Path(path).exists()
        raise InputError(f"{path} is a folder, not a table." if exists else f"There is no file {path}.")
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be read: {first_line(error)}") from None
    except InputError as error:
        if str(path) in str(error):
            raise
        raise InputError(f"{path}: {error.marked}") from None


def first_line(error: Exception) -> str:
    """Return the first line of another library's message as a sentence."""
    return str(error).partition("\n")[0].rstrip(".") + "."


def _by_name(columns: Iterable[TableColumn]) -> dict[str, TableColumn]:
    table: dict[str, TableColumn] = {}
    for column in columns:
        if column.name in table:
            raise InputError(f"There are two columns {column.name!r}.")
        table[column.name] = column
    return table


def _column(table: dict[str, TableColumn], name: str) -> TableColumn:
    if name not in table:
        raise InputError(no_column(name, list(table)))
    return table[name]


def _labels(table: dict[str, TableColumn], name: str) -> NDArray[Any]:
    try:
        column = _column(table, name)
        column.require_complete()
    except InputError as error:
        hint = f"If the documents have no labels, {parameter('pass label=None')}."
        raise InputError(f"{error.marked} {hint}") from None
    return column.numbers()


def _assigned(table: dict[str, TableColumn], roles: Roles) -> Columns:
    """Return what each column of the table is used for."""
    names = list(table)
    docid = roles.document_column(names)
    ids = [name for name in (roles.qid, docid) if name is not None]
    if roles.label in ids:
        raise InputError(f"Column {roles.label!r} cannot hold both the label and an id.")
    taken = {*ids, roles.label or LABEL}  # without labels, a column `label` is no feature by default
    dropped, shown = set(matching(names, roles.drop)), set(matching(names, roles.show))
    categorical = [name for name in matching(names, roles.categorical) if name not in dropped]
    guessed: dict[str, str] = {}
    if roles.features is None:
        candidates = [name for name in names if name not in taken | dropped]
        guessed = {name: why for name in candidates if name not in categorical and (why := _why_not(table[name]))}
        features = [name for name in candidates if name not in guessed]
    else:
        asked = [name for name in matching(names, roles.features) if name not in dropped]
        exact = {roles.features} if isinstance(roles.features, str) else set(roles.features)
        features = [name for name in asked if name in exact or name not in taken]
        features += [name for name in categorical if name not in features]
    _require_features(features, categorical, {*ids, roles.label})
    reasons = dict.fromkeys(names, "not needed") | guessed
    reasons |= dict.fromkeys(dropped, "dropped") | dict.fromkeys(shown, "shown")
    not_used = {name: why for name, why in reasons.items() if name not in {*taken, *features}}
    chosen = tuple(name for name in features if name in categorical)
    unexpected = tuple(name for name in guessed if name not in shown)
    return Columns(roles.label, roles.qid, docid, tuple(features), chosen, not_used, unexpected)


def _why_not(column: TableColumn) -> str | None:
    """Return why a column that nobody mentioned is no feature; None if it is one."""
    if column.holds != NUMBERS:
        return column.holds
    return ID_REASON if looks_like_id(column.name) else None


def _require_features(features: Sequence[str], categorical: Sequence[str], taken: set[str | None]) -> None:
    for name in (*features, *categorical):
        if name in taken:
            raise InputError(f"Column {name!r} holds the label or an id; it cannot be a feature too.")
    if not features:
        raise InputError("The table has no feature columns.")


def _matrix(
    columns: Sequence[TableColumn], categories: dict[str, Category], n_rows: int
) -> tuple[Floats, tuple[str, ...]]:
    """Return the features of the columns, and their names."""
    names = [
        name
        for column in columns
        for name in (categories[column.name].columns if column.name in categories else [column.name])
    ]
    X = np.empty((n_rows, len(names)), dtype=np.float32)
    start = 0
    with np.errstate(over="ignore"):  # Documents refuses numbers that float32 cannot hold
        for column in columns:
            if column.name in categories:
                category = categories[column.name]
                width = len(category.columns)
                X[:, start : start + width] = category.encoded(category.codes(column.texts()))
            else:
                width = 1
                X[:, start] = column.numbers()
            start += width
    return sealed(X), tuple(names)


def _without_row_numbers(
    X: Floats, names: tuple[str, ...], use: Columns
) -> tuple[Floats, tuple[str, ...], Columns]:
    """Leave out columns that number the rows: consecutive integers, each once, as an index or a serial id has."""
    if len(X) < LEAST_NUMBERED_ROWS:
        return X, names, use
    span = X.max(axis=0) - X.min(axis=0)  # NaN where a value is missing
    numbering = {
        names[column]: column
        for column in np.flatnonzero(span == len(X) - 1)
        if names[column] not in use.categorical and _numbers_rows(X[:, column])
    }
    if not numbering:
        return X, names, use
    use = use.without(numbering, ID_REASON)
    _require_features(use.features, (), set())
    X = sealed(np.delete(X, list(numbering.values()), axis=1))
    return X, tuple(name for name in names if name not in numbering), use


def _numbers_rows(values: Floats) -> bool:
    return bool((np.rint(values) == values).all()) and len(np.unique(values)) == len(values)
