"""Tables: which column is the label, the query id, the document id or a feature, whatever holds the columns."""

from __future__ import annotations

from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from rankwright.arrays import sealed
from rankwright.data.dataset import Documents, RankingData
from rankwright.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from rankwright.arrays import Doubles

LABEL, QUERY = "label", "qid"  # the names that columns have by default
WITHOUT_LABELS = "If the documents have no labels, pass label=None."


class Column(Protocol):
    """One column of a table, whatever the library that holds it."""

    @property
    def is_numeric(self) -> bool: ...

    def missing(self) -> NDArray[np.bool_]:
        """Return for each row whether its value is missing."""
        ...

    def numbers(self) -> NDArray[Any]:
        """Return the values as floats, NaN where one is missing."""
        ...

    def ids(self) -> NDArray[Any]:
        """Return the values as integers or strings; called only if none is missing."""
        ...


class Roles(NamedTuple):
    """Which columns are used for what; `label` is None if the documents have no labels."""

    label: str | None
    qid: str
    document_id: str | None
    features: Sequence[str] | None

    @property
    def ids(self) -> list[str]:
        """The columns of ids."""
        return [name for name in (self.qid, self.document_id) if name is not None]

    @property
    def not_features(self) -> set[str]:
        """The columns that are no features unless `features` names them; a label is never one by default."""
        return {self.label or LABEL, *self.ids}


def documents_of(columns: Iterable[tuple[str, Column]], roles: Roles) -> Documents:
    """Return the documents of a table, one per row, with labels if there is a label column."""
    if roles.label in roles.ids:
        raise InputError(f"Column {roles.label!r} cannot hold both the label and an id.")
    table = _by_name(columns)
    labels = None if roles.label is None else _labels(table, roles.label)
    queries = _ids(table, roles.qid)
    if len(queries) == 0:
        raise InputError("The table has no rows.")
    names = _feature_names(table, roles)
    X, ids = _matrix(table, names, len(queries)), _document_ids(table, roles.document_id)
    if labels is None:
        return Documents(X, queries, document_ids=ids, feature_names=names)
    return RankingData(X, labels, queries, document_ids=ids, feature_names=names)


@contextmanager
def naming(path: str | PathLike[str]) -> Iterator[None]:
    """Put the path of the file into error messages that lack it; refuse a path that is not a file."""
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
        raise InputError(f"{path}: {error}") from None


def first_line(error: Exception) -> str:
    """Return the first line of another library's message as a sentence."""
    return str(error).partition("\n")[0].rstrip(".") + "."


def _matrix(table: dict[str, Column], names: Sequence[str], n_rows: int) -> NDArray[np.float32]:
    X = np.empty((n_rows, len(names)), dtype=np.float32)
    with np.errstate(over="ignore"):  # Documents refuses numbers that float32 cannot hold
        for feature, name in enumerate(names):
            X[:, feature] = table[name].numbers()
    return sealed(X)


def _by_name(columns: Iterable[tuple[str, Column]]) -> dict[str, Column]:
    table: dict[str, Column] = {}
    for name, column in columns:
        if name in table:
            raise InputError(f"There are two columns {name!r}.")
        table[name] = column
    return table


def _column(table: dict[str, Column], name: str) -> Column:
    if name in table:
        return table[name]
    near = get_close_matches(name, table, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the table has {', '.join(table) or 'none'}."
    raise InputError(f"There is no column {name!r}; {hint}")


def _labels(table: dict[str, Column], name: str) -> Doubles:
    try:
        column = _complete(table, name)
    except InputError as error:
        raise InputError(f"{error} {WITHOUT_LABELS}") from None
    _require_numeric(column, name)
    return column.numbers()


def _ids(table: dict[str, Column], name: str) -> NDArray[Any]:
    return _complete(table, name).ids()


def _document_ids(table: dict[str, Column], name: str | None) -> NDArray[Any] | None:
    return None if name is None else _ids(table, name)


def _complete(table: dict[str, Column], name: str) -> Column:
    column = _column(table, name)
    missing = column.missing()
    if missing.any():
        raise InputError(f"Row {int(missing.argmax())} has no value in column {name!r}.")
    return column


def _require_numeric(column: Column, name: str) -> None:
    if not column.is_numeric:
        raise InputError(f"Column {name!r} does not hold numbers.")


def _feature_names(table: dict[str, Column], roles: Roles) -> tuple[str, ...]:
    chosen = roles.features
    if chosen is None:
        chosen = [name for name, column in table.items() if name not in roles.not_features and column.is_numeric]
    for name in chosen:
        if name == roles.label or name in roles.ids:
            raise InputError(f"Column {name!r} holds the label or an id; it cannot be a feature too.")
        _require_numeric(_column(table, name), name)
    if not chosen:
        raise InputError("The table has no feature columns.")
    return tuple(chosen)
