"""Columns of the user, such as PageRank, prices or clicks, joined by document id."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted, listed
from rankwright.data.readers.frame_columns import columns_of
from rankwright.text.collections.coverage import CoverageWarning
from rankwright.text.collections.fields import id_of
from rankwright.text.collections.formats.recognition import DOCUMENT_FORMATS, format_of_file
from rankwright.text.collections.formats.records import DOCUMENT_IDS, ReaderOptions, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rankwright.base.arrays import Floats

DOCUMENTS = ("document", *DOCUMENT_IDS)
QUERIES = ("query", "qid", "query_id", "query-id")
ID, PAIR = "document", "query and document"

Key: TypeAlias = "str | tuple[str, str]"


@dataclass(frozen=True, eq=False)
class UserColumn:
    """A number per document, or per query and document; documents without one have NaN."""

    name: str
    by_query: bool
    values: Mapping[Any, float]

    def of(self, query: str, documents: Sequence[str]) -> Floats:
        """Return the numbers of a query's documents."""
        keys: Iterable[Key] = ((query, document) for document in documents) if self.by_query else documents
        return np.array([self.values.get(key, math.nan) for key in keys], np.float32)

    def state(self) -> dict[str, Any]:
        """Return the column as JSON has it."""
        keys = [[*key] if self.by_query else key for key in self.values]
        return {"by": PAIR if self.by_query else ID, "ids": keys, "values": [*self.values.values()]}


def require_coverage(columns: Sequence[UserColumn], queries: Sequence[str]) -> None:
    """Refuse a column by query that has no number for any of the queries; count the queries without one."""
    for column in columns:
        if not column.by_query or not queries:
            continue
        known = {query for query, _ in column.values}
        missing = [query for query in queries if query not in known]
        if len(missing) == len(queries):
            raise InputError(
                f"Column {column.name!r} has numbers for none of the queries, such as {missing[0]!r}: they are "
                "for other queries. An encoder makes such a column for any query (Index.encode)."
            )
        if missing:
            warnings.warn(
                f"Column {column.name!r} has no number for {counted(len(missing), 'query')} of {len(queries):,}, "
                f"such as {missing[0]!r}: there it is missing.",
                CoverageWarning,
                stacklevel=2,
            )


def columns_from(given: Any) -> tuple[UserColumn, ...]:
    """Return columns given as a mapping of names to mappings, a data frame, or a file of any known format."""
    if given is None:
        return ()
    if isinstance(given, str | os.PathLike):
        return _of_records(_records(Path(given)))
    if isinstance(given, Mapping):
        return tuple(_of_mapping(name, values) for name, values in given.items())
    if hasattr(given, "columns"):
        return _of_records(_frame_records(given))
    raise InputError(
        "columns must be a mapping of names to mappings of document ids to numbers, a data frame or a file, not "
        f"{type(given).__name__}."
    )


def column_from(name: str, state: Any) -> UserColumn:
    """Return a column that JSON has."""
    match state:
        case {"by": str(by), "ids": [*ids], "values": [*values]} if by in (ID, PAIR) and len(ids) == len(values):
            keys = [tuple(map(str, key)) if isinstance(key, list) else str(key) for key in ids]
            return _of_mapping(name, dict(zip(keys, values, strict=True)), by_query=by == PAIR)
    raise InputError(f"The column {name!r} must have by, ids and values.")


def _of_mapping(name: Any, values: Any, *, by_query: bool | None = None) -> UserColumn:
    if not (isinstance(name, str) and name and isinstance(values, Mapping)):
        raise InputError(f"A column must have a name and a mapping of document ids to numbers, not {name!r}.")
    pairs = [isinstance(key, tuple) and len(key) == 2 for key in values]
    kind = any(pairs) if by_query is None else by_query
    if not all(pair == kind for pair in pairs) or not all(
        isinstance(part, str) for key in values for part in (key if kind else [key])
    ):
        raise InputError(
            f"The keys of column {name!r} must be document ids, or all pairs of query and document id."
        )
    numbers = {key: _number(name, value) for key, value in values.items()}
    return UserColumn(name, kind, {key: number for key, number in numbers.items() if not math.isnan(number)})


def _number(name: str, value: Any) -> float:
    try:
        number = math.nan if value is None or value == "" else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.inf
    if math.isinf(number) or isinstance(value, bool):
        raise InputError(f"Column {name!r} must hold numbers, not {value!r}.")
    return number


def _of_records(records: Iterator[Record]) -> tuple[UserColumn, ...]:
    """Return the columns of a table, by the document id of each row, and by its query id if there is one."""
    columns: dict[str, dict[Key, float]] = {}
    by_query = False
    for number, record in enumerate(records):
        document = _named(record, DOCUMENTS)
        if document is None:
            raise InputError(f"{record.where}: no id: expected a column {listed(DOCUMENTS)}.")
        query = _named(record, QUERIES)
        if number == 0:
            by_query = query is not None
        elif by_query != (query is not None):
            raise InputError(f"{record.where}: either every row has a query id, or none has one.")
        key: Key = (id_of(record, query), id_of(record, document)) if query else id_of(record, document)
        for name, value in record.fields.items():
            if name not in (document, query):
                _add(columns.setdefault(name, {}), key, name, value, record.where)
    return tuple(UserColumn(name, by_query, values) for name, values in columns.items())


def _add(values: dict[Key, float], key: Key, name: str, value: Any, where: str) -> None:
    if key in values:
        raise InputError(f"{where}: column {name!r} has two numbers for {key!r}.")
    try:
        number = _number(name, value)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    if not math.isnan(number):
        values[key] = number


def _named(record: Record, names: Sequence[str]) -> str | None:
    return next((name for name in names if name in record.fields), None)


def _records(path: Path) -> Iterator[Record]:
    return DOCUMENT_FORMATS[format_of_file(path, DOCUMENT_FORMATS)].read(path, ReaderOptions())


def _frame_records(frame: Any) -> Iterator[Record]:
    columns = [*columns_of(frame)]
    values = {
        column.name: column.texts() if column.name in (*DOCUMENTS, *QUERIES) else column.numbers().tolist()
        for column in columns
    }
    for row in range(len(frame)):
        yield Record(f"row {row}", {name: column[row] for name, column in values.items()})
