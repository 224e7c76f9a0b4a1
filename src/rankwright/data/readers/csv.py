"""Documents from CSV and TSV files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from rankwright import _native
from rankwright._native import CsvFault
from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import shortened
from rankwright.data.column_roles import DOCUMENT, LABEL, QUERY, ColumnOptions, Roles, matching
from rankwright.data.readers.text_files import (
    MAX_LINE_BYTES,
    QueryColumn,
    integer_ids,
    quoted,
    read_blocks,
    read_query_ids,
    require_memory,
    sizes_file,
    warn_of_weights,
)
from rankwright.data.tables import NUMBERS, documents_of, is_date, naming, warned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from rankwright.data.dataset import Documents, RankingData
    from rankwright.data.tables import TableColumn

DELIMITERS = (",", ";", "\t")
MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None")  # as in the native parser

EXPECTED = {
    CsvFault.quote_not_closed: "expected a double quote that closes the field, found the end of the file after",
    CsvFault.text_after_quote: "expected a delimiter or a line end after the closing quote of",
    CsvFault.carriage_return: "expected a line feed after the carriage return that follows",
    CsvFault.not_utf8: "expected text in UTF-8 without NUL, found",
    CsvFault.record_too_long: f"expected at most {MAX_LINE_BYTES:,} bytes per record (is a quote open?), found",
}


@overload
def read_csv(
    path: str | PathLike[str],
    *,
    label: str = ...,
    delimiter: str | None = ...,
    **options: Unpack[ColumnOptions],
) -> RankingData: ...
@overload
def read_csv(
    path: str | PathLike[str],
    *,
    label: str | None,
    delimiter: str | None = ...,
    **options: Unpack[ColumnOptions],
) -> Documents: ...
def read_csv(
    path: str | PathLike[str],
    *,
    label: str | None = LABEL,
    qid: str = QUERY,
    docid: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    dates: Sequence[str] = (),
    show: Sequence[str] = (),
    delimiter: str | None = None,
) -> Documents:
    """Read documents from a CSV or TSV file with a header of column names, decompressed if it ends with .gz.

    The text is UTF-8. Fields in double quotes may contain delimiters, line ends and quotes written as two. Every
    record has as many fields as the header and at most 64 MiB; empty lines are skipped. Numbers are decimal;
    `true` and `false` are 1 and 0; an empty field, NA, N/A, NaN, nan, NULL, null and None are missing values. A
    column with more numbers than text must hold numbers only, if it is to be a feature. Query ids become integers
    if all of them are written as integers, otherwise strings.

    Parameters
    ----------
    label, qid, docid, features, drop, categorical, dates, show
        As in `from_pandas`.
    delimiter
        A comma, a semicolon or a tab; by default a tab for .tsv and .tsv.gz, otherwise a comma.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("judged.csv").write_text('''query,grade,bm25,age
    ... hats,2,3.1,4
    ... hats,0,1.0,''')
    >>> rw.read_csv("judged.csv", qid="query", label="grade").feature_names
    ('bm25', 'age')
    """
    roles = Roles(label, qid, docid, features, drop, categorical, dates, show)
    with naming(path):
        columns, n_rows = csv_columns(path, roles, checked_delimiter(path, delimiter))
        sizes = None if any(column.name == qid for column in columns) else sizes_file(path)
        if sizes is not None:
            columns.append(QueryColumn(qid, read_query_ids(sizes, path, n_rows)))
        warn_of_weights(path)
        return warned(documents_of(columns, roles))


@dataclass(frozen=True)
class _CsvColumn:
    """A column whose mistakes are reported with their line."""

    path: str | PathLike[str]
    column: _native.CsvColumn
    is_label: bool
    as_text: _native.CsvColumn

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def holds(self) -> str:
        is_text = self.column.is_id or self.column.n_texts > self.column.n_numbers
        return "text" if is_text else NUMBERS

    def require_complete(self) -> None:
        if self.column.first_missing_line is not None:
            line = self.column.first_missing_line
            raise InputError(f"{self.path}, line {line}: no value in column {self.name!r}.")

    def numbers(self) -> NDArray[Any]:
        if self.column.first_text is not None:
            line, text = self.column.first_text
            hint = "" if self.is_label else "; leave a missing value empty"
            if is_date(text.decode(errors="replace")):
                hint = f"; name a column of dates in {parameter('dates')}"
            raise InputError(
                f"{self.path}, line {line}: {quoted(text)} in column {self.name!r} is not a number{hint}."
            )
        return self.column.numbers()

    def ids(self) -> NDArray[Any]:
        self.require_complete()
        number_of_row, texts = self.column.ids()
        integers = integer_ids(texts)
        return (np.array(texts, dtype=object) if integers is None else integers)[number_of_row]

    def texts(self) -> list[str | None]:
        number_of_row, texts = self.as_text.ids()
        known = [None if text.strip(" \t") in MISSING else text for text in texts]
        return [known[number] for number in number_of_row.tolist()]


def checked_delimiter(path: str | PathLike[str], delimiter: str | None) -> str:
    """Return the delimiter of a file, by default the one that its name says."""
    if delimiter is None:
        return "\t" if os.fspath(path).lower().removesuffix(".gz").endswith(".tsv") else ","
    if delimiter not in DELIMITERS:
        raise InputError(f"delimiter must be a comma, a semicolon or a tab, not {delimiter!r}.")
    return delimiter


def csv_columns(path: str | PathLike[str], roles: Roles, delimiter: str) -> tuple[list[TableColumn], int]:
    """Return the columns of a file and the number of rows."""
    return next(csv_blocks(path, roles, delimiter, None))


def csv_blocks(
    path: str | PathLike[str], roles: Roles, delimiter: str, n_rows: int | None
) -> Iterator[tuple[list[TableColumn], int]]:
    """Yield the columns of a file in blocks of at least `n_rows`, but for the last; None: in one block."""
    texts = [roles.qid, roles.docid or DOCUMENT]
    if roles.categorical or roles.dates:
        header = _header(path, delimiter)
        texts += [*matching(header, roles.categorical), *matching(header, roles.dates)]
    shown: list[str] = matching(_header(path, delimiter), roles.show) if roles.show else []
    blocks = _parsed(path, roles.label, texts, delimiter, n_rows)
    # A column may be a feature and shown, as it is written: its texts are read separately.
    written = _parsed(path, None, shown, delimiter, n_rows) if shown else repeat(None)
    for (columns, size), as_text in zip(blocks, written, strict=False):
        texts_of = columns if as_text is None else as_text[0]
        yield (
            [
                _CsvColumn(path, column, column.name == roles.label, text if column.name in shown else column)
                for column, text in zip(columns, texts_of, strict=True)
            ],
            size,
        )


def _parsed(
    path: str | PathLike[str], label: str | None, texts: list[str], delimiter: str, n_rows: int | None
) -> Iterator[tuple[list[_native.CsvColumn], int]]:
    """Yield the columns of a file in blocks, those of the given names as text, and the number of rows of each."""
    parser, is_first = _native.CsvParser(delimiter, label, texts, MAX_LINE_BYTES), True
    for block in read_blocks(path):
        if error := parser.feed(block):
            raise InputError(sentence_of_fault(path, parser.n_columns, *error))
        if n_rows is None:
            require_memory(path, parser.n_rows, parser.n_columns, 0)
        elif parser.n_rows >= n_rows:
            yield _taken(path, parser)
            is_first = False
    if error := parser.end():
        raise InputError(sentence_of_fault(path, parser.n_columns, *error))
    if is_first or parser.n_rows:
        yield _taken(path, parser)


def _taken(path: str | PathLike[str], parser: _native.CsvParser) -> tuple[list[_native.CsvColumn], int]:
    """Return the columns of the rows that the parser holds, and their number."""
    if parser.n_columns == 0:
        raise InputError(f"{path} is empty: expected a line of column names.")
    n_rows, columns = parser.n_rows, parser.take_columns()
    if len(columns) == 1 and any(other in columns[0].name for other in DELIMITERS):
        given = parameter("delimiter")
        raise InputError(f"{path} has one column, {shortened(columns[0].name)!r}; pass its delimiter as {given}.")
    return columns, n_rows


def _header(path: str | PathLike[str], delimiter: str) -> list[str]:
    """Return the names of the columns; reading the whole file will report what is wrong with them."""
    parser = _native.CsvParser(delimiter, None, [], MAX_LINE_BYTES)
    for block in read_blocks(path):
        if parser.feed(block) or parser.n_columns:
            break
    return [column.name for column in parser.take_columns()]


def sentence_of_fault(path: str | PathLike[str], n_columns: int, line: int, fault: CsvFault, token: bytes) -> str:
    """Return what is wrong with a record, in a sentence."""
    if fault in EXPECTED:
        return f"{path}, line {line}: {EXPECTED[fault]} {quoted(token)}."
    return f"{path}, line {line}: expected {n_columns} fields as in the header, found {token.decode()}."
