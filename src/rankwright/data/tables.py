"""Makes documents from the columns of a table, whichever library holds them."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import brief_list
from rankwright.data.categories import Category
from rankwright.data.column_roles import LABEL, Columns, Roles, matching, no_column
from rankwright.data.dataset import Documents
from rankwright.data.id_columns import LOOKS_LIKE_ID, id_reason, looks_like_id, rounding, sample_of_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from rankwright.base.arrays import Floats

NUMBERS, DATES = "numbers", "dates"  # what a column may hold
SECONDS_PER_DAY = 86_400
ROWS = 1 << 11  # that are copied together

D = TypeVar("D", bound=Documents)


class ColumnsWarning(UserWarning):
    """Some columns of a table were left out by a rule, or lost digits; the message names them."""


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


class FilledMatrix(NamedTuple):
    """Features that a reader has put into a matrix already, by the names of their columns."""

    names: tuple[str, ...]
    X: Floats


def documents_of(
    columns: Iterable[TableColumn],
    roles: Roles,
    filled: FilledMatrix | None = None,
    known: Mapping[str, Category] | None = None,
) -> Documents:
    """Return the documents of a table, one per row, with labels if there is a label column.

    If `filled` has exactly the features, they are not copied. Categories that are `known` are not made anew.
    """
    table = unique_columns(columns)
    use = _assigned(table, roles)
    labels = None if use.label is None else _labels(table, use.label)
    queries = _column(table, use.qid).ids()
    if len(queries) == 0:
        raise InputError("The table has no rows.")
    ids = None if use.docid is None else _column(table, use.docid).ids()
    known = known or {}
    categories = {name: known.get(name) or Category.of(name, table[name].texts()) for name in use.categorical}
    chosen = roles.features is not None
    judge = rounding if chosen else partial(id_reason, sample=sample_of_documents(len(queries), ids))
    columns = [table[name] for name in use.features]
    X, names, reasons = _matrix(columns, categories, set(use.dates), len(queries), judge, filled)
    if chosen:
        use = replace(use, rounded=reasons)
    elif reasons:
        use = use.without(reasons)
        _require_features(use.features, (), set())
        X = sealed(X[:, [name not in reasons for name in names]])
        names = tuple(name for name in names if name not in reasons)
    named = Documents(X, queries, document_ids=ids, feature_names=names, categories=tuple(categories.values()))
    documents = named if labels is None else named.with_labels(labels)
    shown = {name: table[name].texts() for name in matching(list(table), roles.show)}
    unexpected = tuple(name for name in use.guessed if name not in shown)
    return documents.with_columns(replace(use, guessed=unexpected), shown)


def warned(documents: D) -> D:
    """Return the documents; warn of columns left out by a rule, of features that lost digits, of repeated rows."""
    sentence = None if documents.columns is None else documents.columns.warning
    if sentence is not None:
        warnings.warn(sentence, ColumnsWarning, stacklevel=3)
    if repeated := documents.repeated_rows():
        ids = documents.document_names
        rows = brief_list(f"{first} and {row} ({ids[row]})" for first, row in repeated)
        warnings.warn(
            f"The same document of the same query in rows {rows}, counted from 0: rank and runs refuse them.",
            stacklevel=3,
        )
    return documents


@contextmanager
def naming(path: str | PathLike[str], *, several: bool = False) -> Iterator[None]:
    """Add the path to error messages that lack it; unless it may mean several files, refuse what is not a file."""
    if not several and not Path(path).is_file():
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


def assigned_columns(columns: Iterable[TableColumn], roles: Roles) -> Columns:
    """Return what each column is used for, by its name and type alone."""
    return _assigned(unique_columns(columns), roles)


def unique_columns(columns: Iterable[TableColumn]) -> dict[str, TableColumn]:
    """Return columns by name; two of one name are refused."""
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
    dates = [name for name in matching(names, roles.dates) if name not in dropped]
    guessed: dict[str, str] = {}
    if roles.features is None:
        candidates = [name for name in names if name not in taken and name not in dropped]
        mentioned = {*categorical, *dates}
        guessed = {name: why for name in candidates if name not in mentioned and (why := _why_not(table[name]))}
        features = [name for name in candidates if name not in guessed]
    else:
        asked = [name for name in matching(names, roles.features) if name not in dropped]
        exact = set(roles.features)
        features = [name for name in asked if name in exact or name not in taken]
        features = list(dict.fromkeys([*features, *categorical, *dates]))
    _require_features(features, (*categorical, *dates), {*ids, roles.label})
    if both := set(categorical).intersection(dates):
        raise InputError(f"Column {min(both)!r} cannot hold both categories and dates.")
    reasons = dict.fromkeys(names, "not needed") | guessed
    reasons |= dict.fromkeys(dropped, "dropped") | dict.fromkeys(shown, "shown")
    used, encoded = {*taken, *features}, set(categorical)
    not_used = {name: why for name, why in reasons.items() if name not in used}
    chosen = tuple(name for name in features if name in encoded)
    return Columns(roles.label, roles.qid, docid, tuple(features), chosen, tuple(dates), not_used, tuple(guessed))


def _why_not(column: TableColumn) -> str | None:
    """Return why a column that nobody mentioned is no feature; None if it is one."""
    if column.holds != NUMBERS:
        return column.holds
    return LOOKS_LIKE_ID if looks_like_id(column.name) else None


def _require_features(features: Sequence[str], others: Sequence[str], taken: set[str | None]) -> None:
    for name in (*features, *others):
        if name in taken:
            raise InputError(f"Column {name!r} holds the label or an id; it cannot be a feature too.")
    if not features:
        raise InputError("The table has no feature columns.")


def _matrix(
    columns: Sequence[TableColumn],
    categories: dict[str, Category],
    dates: set[str],
    n_rows: int,
    judge: Callable[[NDArray[Any]], str | None],
    filled: FilledMatrix | None,
) -> tuple[Floats, tuple[str, ...], dict[str, str]]:
    """Return the features of the columns, their names, and what `judge` says against columns of numbers."""
    names = [
        name
        for column in columns
        for name in (categories[column.name].columns if column.name in categories else [column.name])
    ]
    is_filled = filled is not None and filled.names == tuple(names)
    X = filled.X if filled is not None and is_filled else np.empty((n_rows, len(names)), dtype=np.float32)
    reasons: dict[str, str] = {}
    plain: list[tuple[int, NDArray[Any]]] = []  # columns of numbers
    start = 0
    with np.errstate(over="ignore"):  # Documents refuses numbers that float32 cannot hold
        for column in columns:
            if column.name in categories:
                category = categories[column.name]
                width = len(category.columns)
                X[:, start : start + width] = category.encoded(category.codes(column.texts()))
            elif column.name in dates:
                width = 1
                X[:, start] = _days(column)
            else:
                width = 1
                values = column.numbers()
                if not is_filled:
                    plain.append((start, values))
                if why := judge(values):
                    reasons[column.name] = why
            start += width
        for first in range(0, n_rows, ROWS):  # so few that the lines of a column stay in the cache
            for start, values in plain:
                X[first : first + ROWS, start] = values[first : first + ROWS]
    return sealed(X), tuple(names), reasons


def _days(column: TableColumn) -> list[float]:
    """Return dates and times, in a type of their library or as text, as numbers of days since 1970."""
    texts = column.texts()
    days = {text: nan if text is None else days_since_1970(text, column.name) for text in dict.fromkeys(texts)}
    return [days[text] for text in texts]


def is_date(text: str) -> bool:
    """Return whether a text is a date or a time as ISO 8601 writes it."""
    try:
        datetime.fromisoformat(text.strip())
    except ValueError:
        return False
    return True


def days_since_1970(text: str, column: str) -> float:
    """Return a date or a time as a number of days; `column` is named in the refusal of anything else."""
    if not is_date(text):
        raise InputError(
            f"{text[:60]!r} in column {column!r} is not a date such as 2026-03-31 or 2026-03-31 12:30:00."
        )
    moment = datetime.fromisoformat(text.strip())
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() / SECONDS_PER_DAY
