"""Documents from CSV and TSV files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rankwright import _native
from rankwright._native import CsvFault
from rankwright.data.tables import LABEL, QUERY, Roles, documents_of, naming
from rankwright.data.text_files import MAX_LINE_BYTES, integer_ids, quoted, read_blocks, require_memory
from rankwright.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from rankwright.data.dataset import Documents, RankingData

DELIMITERS = (",", ";", "\t")

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
    qid: str = ...,
    document_id: str | None = ...,
    features: Sequence[str] | None = ...,
    delimiter: str | None = ...,
) -> RankingData: ...
@overload
def read_csv(
    path: str | PathLike[str],
    *,
    label: str | None,
    qid: str = ...,
    document_id: str | None = ...,
    features: Sequence[str] | None = ...,
    delimiter: str | None = ...,
) -> Documents: ...
def read_csv(
    path: str | PathLike[str],
    *,
    label: str | None = LABEL,
    qid: str = QUERY,
    document_id: str | None = None,
    features: Sequence[str] | None = None,
    delimiter: str | None = None,
) -> Documents:
    """Read documents from a CSV or TSV file with a header of column names, decompressed if it ends with .gz.

    The text is UTF-8. Fields in double quotes may contain delimiters, line ends and quotes written as two. Every
    record has as many fields as the header and at most 64 MiB; empty lines are skipped. Numbers are decimal;
    `true` and `false` are 1 and 0; an empty field, NA, N/A, NaN, nan, NULL, null and None are missing values. A
    column with more numbers than text must hold numbers only, unless `features` leaves it out. Query ids become
    integers if all of them are written as integers, otherwise strings.

    Parameters
    ----------
    label, qid, document_id, features
        As in `from_pandas`.
    delimiter
        A comma, a semicolon or a tab; by default a tab for .tsv and .tsv.gz, otherwise a comma.
    """
    roles = Roles(label, qid, document_id, features)
    with naming(path):
        columns = _read_columns(path, roles, _checked_delimiter(path, delimiter))
        _check_columns(path, columns, roles)
        return documents_of(((column.name, _CsvColumn(column)) for column in columns), roles)


@dataclass(frozen=True)
class _CsvColumn:
    column: _native.CsvColumn

    @property
    def is_numeric(self) -> bool:
        return not self.column.is_id and self.column.n_texts == 0

    def missing(self) -> NDArray[np.bool_]:
        return np.zeros(0, dtype=np.bool_)  # _check_columns has refused them, with the line

    def numbers(self) -> NDArray[Any]:
        return self.column.numbers()

    def ids(self) -> NDArray[Any]:
        number_of_row, texts = self.column.ids()
        integers = integer_ids(texts)
        return (np.array(texts, dtype=object) if integers is None else integers)[number_of_row]


def _checked_delimiter(path: str | PathLike[str], delimiter: str | None) -> str:
    if delimiter is None:
        return "\t" if os.fspath(path).lower().removesuffix(".gz").endswith(".tsv") else ","
    if delimiter not in DELIMITERS:
        raise InputError(f"delimiter must be a comma, a semicolon or a tab, not {delimiter!r}.")
    return delimiter


def _read_columns(path: str | PathLike[str], roles: Roles, delimiter: str) -> list[_native.CsvColumn]:
    parser = _native.CsvParser(delimiter, roles.label, roles.ids, MAX_LINE_BYTES)
    for block in read_blocks(path):
        if error := parser.feed(block):
            raise InputError(_sentence(path, parser.n_columns, *error))
        require_memory(path, parser.n_rows, parser.n_columns, 0)
    if error := parser.end():
        raise InputError(_sentence(path, parser.n_columns, *error))
    if parser.n_columns == 0:
        raise InputError(f"{path} is empty: expected a line of column names.")
    return parser.take_columns()


def _sentence(path: str | PathLike[str], n_columns: int, line: int, fault: CsvFault, found: bytes) -> str:
    if fault in EXPECTED:
        return f"{path}, line {line}: {EXPECTED[fault]} {quoted(found)}."
    return f"{path}, line {line}: expected {n_columns} fields as in the header, found {found.decode()}."


def _check_columns(path: str | PathLike[str], columns: Sequence[_native.CsvColumn], roles: Roles) -> None:
    """Refuse missing labels and ids, and text among numbers, with the line where they are."""
    for column in columns:
        is_required = column.name == roles.label or column.is_id
        if is_required and column.first_missing_line is not None:
            raise InputError(f"{path}, line {column.first_missing_line}: no value in column {column.name!r}.")
        if _must_be_numeric(column, roles) and column.first_text is not None:
            line, text = column.first_text
            hint = "" if column.name == roles.label else "; leave a missing value empty"
            raise InputError(
                f"{path}, line {line}: {quoted(text)} in column {column.name!r} is not a number{hint}."
            )


def _must_be_numeric(column: _native.CsvColumn, roles: Roles) -> bool:
    if column.is_id:
        return False
    if column.name == roles.label:
        return True
    if roles.features is not None:
        return column.name in roles.features
    return column.name not in roles.not_features and column.n_numbers > column.n_texts
