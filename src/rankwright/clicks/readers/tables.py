"""Long tables: one row per impression, in CSV, TSV or Parquet files of any length, read in blocks."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError, MissingPackageError, parameter
from rankwright.clicks.log import ClickLog, Coded
from rankwright.clicks.readers.log_builder import REQUIRED, LogBuilder, as_texts
from rankwright.data.column_roles import no_column
from rankwright.data.readers.csv import MISSING, checked_delimiter, sentence_of_fault
from rankwright.data.readers.parquet import parquet_files
from rankwright.data.readers.text_files import MAX_LINE_BYTES, read_blocks
from rankwright.data.tables import first_line, naming

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.clicks.readers.log_builder import Block

# The usual names of columns; the first that a table has is used.
USUAL_NAMES = {
    "session": ("session", "session_id", "sid", "impression_id", "search_id"),
    "query": ("query", "query_id", "qid", "user_query"),
    "document": ("document", "document_id", "docid", "doc_id", "item", "item_id", "object_id"),
    "position": ("position", "rank", "ordinal"),
    "clicked": ("clicked", "click", "clicks", "label"),
    "propensity": ("propensity",),
    "weight": ("weight",),
    "time": ("time", "timestamp"),
    "policy": ("policy", "ranker"),
}
BLOCK_BYTES = 32 << 20  # of text that is parsed at once
BLOCK_ROWS = 1 << 18
TRUTH = {"true": 1.0, "false": 0.0, "True": 1.0, "False": 0.0}


def read_log(path: str | PathLike[str], *, delimiter: str | None = None, **columns: str) -> ClickLog:
    """Read a table with one row per impression from a CSV, TSV or Parquet file, or from a folder of Parquet files.

    Rows without a position, an id or a value of clicked are left out and counted. Ids are kept as text. Times are
    numbers, or dates and times in ISO 8601.

    Parameters
    ----------
    path
        The file, decompressed if it ends with .gz; or a folder or pattern of Parquet files.
    delimiter
        As in `read_csv`.
    columns
        Which column holds what, such as `clicked="is_click"`: for session, query, document, position, clicked,
        propensity, weight, time and policy. By default columns of these names, or usual ones such as `rank`.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("log.csv").write_text('''session_id,query,docid,rank,clicked
    ... s1,hats,d1,1,0
    ... s1,hats,d2,2,1''')
    >>> rw.clicks.read_log("log.csv")
    ClickLog(2 impressions, 1 list, 1 query, 2 documents, 1 click)
    """
    builder = LogBuilder()
    for block in table_blocks(path, delimiter, columns):
        builder.add(block)
    with naming(path, several=True):
        return builder.log()


def table_blocks(path: str | PathLike[str], delimiter: str | None, columns: Mapping[str, str]) -> Iterator[Block]:
    """Yield the impressions of a table, block by block."""
    for role in columns:
        if role not in USUAL_NAMES:
            raise InputError(f"read_log has no {parameter(role)}; columns are {', '.join(USUAL_NAMES)}.")
    is_parquet = Path(path).suffix.lower() == ".parquet" or Path(path).is_dir()
    with naming(path, several=is_parquet):
        if is_parquet:
            yield from _parquet_blocks(path, columns)
        else:
            yield from _csv_blocks(path, checked_delimiter(path, delimiter), columns)


def roles_of(names: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the column for each role; refuse a table without a column that is needed."""
    roles = {}
    for role, usual in USUAL_NAMES.items():
        given = columns.get(role)
        if given is not None and given not in names:
            raise InputError(no_column(given, list(names)))
        known = next((name for name in usual if name in names), None)
        if role in REQUIRED and given is None and known is None:
            raise InputError(
                f"There is no column {role!r} among {', '.join(names)}; if it has another name, say {role}=NAME "
                f"in {parameter('columns')}."
            )
        if given or known:
            roles[role] = given or str(known)
    return roles


def _csv_blocks(path: str | PathLike[str], delimiter: str, columns: Mapping[str, str]) -> Iterator[Block]:
    header, lines_before = b"", 0
    for text in _whole_records(path):
        if not header:
            header, _, text = text.partition(b"\n")
            if not header.strip():
                raise InputError(f"{path} is empty: expected a line of column names.")
        names = [column.name for column in _parsed(path, header, b"", delimiter, [], 0)]
        roles = roles_of(names, columns)
        parsed = {
            column.name: column
            for column in _parsed(path, header, text, delimiter, list(dict.fromkeys(roles.values())), lines_before)
        }
        lines_before += text.count(b"\n")
        yield {role: _csv_column(role, parsed[name], name) for role, name in roles.items()}


def _whole_records(path: str | PathLike[str]) -> Iterator[bytes]:
    """Yield the text of a file in parts that end where records end: after a line end outside of quotes."""
    pending = bytearray()
    for block in chain(read_blocks(path), [None]):
        if block is not None:
            pending += block.tobytes()
        if block is None or len(pending) >= BLOCK_BYTES:
            end = len(pending) if block is None else _end_of_records(pending)
            if end:
                yield bytes(pending[:end])
                del pending[:end]


def _end_of_records(text: bytearray) -> int:
    """Return the end of the last whole record; 0 if there is none."""
    end = text.rfind(b"\n") + 1
    n_quotes = text.count(b'"', 0, end)
    while end and n_quotes % 2:  # this line end is inside of a quoted field
        before = text.rfind(b"\n", 0, end - 1) + 1
        n_quotes -= text.count(b'"', before, end)
        end = before
    return end


def _parsed(
    path: str | PathLike[str], header: bytes, text: bytes, delimiter: str, names: list[str], lines_before: int
) -> list[_native.CsvColumn]:
    parser = _native.CsvParser(delimiter, None, names, MAX_LINE_BYTES)
    for part in (header + b"\n", text):
        if error := parser.feed(np.frombuffer(part, dtype=np.uint8)) if part else None:
            raise InputError(sentence_of_fault(path, parser.n_columns, error[0] + lines_before, *error[1:]))
    if error := parser.end():
        raise InputError(sentence_of_fault(path, parser.n_columns, error[0] + lines_before, *error[1:]))
    return parser.take_columns()


def _csv_column(role: str, column: _native.CsvColumn, name: str) -> Coded | Doubles:
    codes, texts = column.ids()
    known = ["" if text.strip(" \t") in MISSING else text for text in texts]
    if role not in ("session", "query", "document", "policy"):
        read = _seconds if role == "time" else _number
        return np.array([read(text, name) for text in known] or [0.0])[codes]
    ids = np.empty(len(known), dtype=object)
    ids[:] = known
    return Coded(codes.astype(np.int32), ids)


def _number(text: str, column: str) -> float:
    if text in TRUTH:
        return TRUTH[text]
    try:
        return float(text) if text else np.nan
    except ValueError:
        raise InputError(f"{text[:60]!r} in column {column!r} is not a number.") from None


def _seconds(text: str, column: str) -> float:
    """Return a time: a number, or seconds since 1970 of a date and time in ISO 8601, which is UTC by default."""
    try:
        return _number(text, column)
    except InputError:
        with suppress(ValueError):
            moment = datetime.fromisoformat(text)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        raise


def _parquet_blocks(path: str | PathLike[str], columns: Mapping[str, str]) -> Iterator[Block]:
    try:
        parquet = import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise MissingPackageError(
            "Reading a Parquet file needs pyarrow: pip install 'rankwright[pyarrow]'."
        ) from None
    files = [str(path)] if Path(path).is_file() else parquet_files(path)
    try:
        for file in map(parquet.ParquetFile, files):
            roles = roles_of(file.schema_arrow.names, columns)
            names = list(dict.fromkeys(roles.values()))
            for batch in file.iter_batches(BLOCK_ROWS, columns=names):
                yield {role: _arrow_column(role, batch.column(name), name) for role, name in roles.items()}
    except InputError:
        raise
    except (ValueError, TypeError, NotImplementedError) as error:
        raise InputError(f"{path} is not a readable Parquet file: {first_line(error)}") from None


def _arrow_column(role: str, column: Any, name: str) -> Coded | Doubles:
    if role in ("session", "query", "document", "policy"):
        encoded = column if hasattr(column, "dictionary") else column.dictionary_encode(null_encoding="encode")
        ids = np.empty(len(encoded.dictionary), dtype=object)
        ids[:] = as_texts(encoded.dictionary.to_pylist())
        return Coded(np.asarray(encoded.indices, dtype=np.int32), ids)
    if str(column.type).startswith(("timestamp", "date")):
        values: NDArray[Any] = column.cast("timestamp[us]").cast("int64").to_numpy(zero_copy_only=False) / 1e6
    elif role == "time" and str(column.type).endswith("string"):
        values = np.array([_seconds(text, name) for text in as_texts(column.to_pylist())])
    else:
        values = column.to_numpy(zero_copy_only=False)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"Column {name!r} holds no numbers.") from None
