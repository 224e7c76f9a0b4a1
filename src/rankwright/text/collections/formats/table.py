"""CSV, TSV and Parquet files, read row by row."""

from __future__ import annotations

import csv
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.data.readers.text_files import MAX_LINE_BYTES
from rankwright.data.tables import first_line
from rankwright.text.collections.formats.records import (
    DOCUMENT_IDS,
    QUERY_IDS,
    QUERY_TEXTS,
    Format,
    ReaderOptions,
    Record,
    read_lines,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WITHOUT_HEADER = ("id", "text")  # the columns of a TSV file without a header, as MS MARCO has them


def read_csv_records(path: Path, options: ReaderOptions) -> Iterator[Record]:
    """Yield the rows of a CSV file with a header."""
    yield from _with_header(path, options, ",")


def read_tsv_records(path: Path, options: ReaderOptions, *, ids: tuple[str, ...]) -> Iterator[Record]:
    """Yield the rows of a TSV file.

    Two columns of which the first line does not name the ids are an id and a text, without header and quotes.
    """
    first = next((line for _, line in read_lines(path, options.encoding) if line.strip()), "")
    names = [name.strip() for name in first.split("\t")]
    if options.id is None and len(names) == len(WITHOUT_HEADER) and not set(names) & set(ids):
        yield from _without_header(path, options)
    else:
        yield from _with_header(path, options, "\t")


def _without_header(path: Path, options: ReaderOptions) -> Iterator[Record]:
    for number, line in read_lines(path, options.encoding):
        if not line.strip():
            continue
        cells = line.split("\t")
        _require_width(path, number, cells, len(WITHOUT_HEADER))
        yield Record(f"{path}, line {number}", dict(zip(WITHOUT_HEADER, cells, strict=True)))


def _with_header(path: Path, options: ReaderOptions, delimiter: str) -> Iterator[Record]:
    rows = _rows(path, options, delimiter)
    number, header = next(rows, (1, []))
    names = _checked_names(path, number, header)
    for number, cells in rows:
        _require_width(path, number, cells, len(names))
        yield Record(f"{path}, line {number}", dict(zip(names, cells, strict=True)))


def _rows(path: Path, options: ReaderOptions, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row, with the line on which the row begins; empty lines are skipped."""
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))  # the default is too short for documents
    lines = (f"{line}\n" for _, line in read_lines(path, options.encoding))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as mistake:
            raise InputError(f"{path}, line {number}: broken row: {mistake} (is a double quote open?).") from None
        if cells:
            yield number, cells


def _checked_names(path: Path, number: int, header: list[str]) -> list[str]:
    names = [name.strip() for name in header]
    if not names:
        raise InputError(f"{path} is empty: expected a line of column names.")
    for name in names:
        if not name or names.count(name) > 1:
            raise InputError(
                f"{path}, line {number}: expected a header with a different name for each column, found {name!r}"
                f"{' twice' if name else ''}."
            )
    return names


def _require_width(path: Path, number: int, cells: list[str], width: int) -> None:
    if len(cells) != width:
        raise InputError(
            f"{path}, line {number}: expected {width} fields as in the first line, found {len(cells)}."
        )


CSV_DOCUMENTS = Format(read_csv_records, DOCUMENT_IDS, tabular=True)
CSV_QUERIES = Format(read_csv_records, QUERY_IDS, QUERY_TEXTS, tabular=True)
TSV_DOCUMENTS = Format(partial(read_tsv_records, ids=DOCUMENT_IDS), DOCUMENT_IDS, tabular=True)
TSV_QUERIES = Format(partial(read_tsv_records, ids=QUERY_IDS), QUERY_IDS, QUERY_TEXTS, tabular=True)


BATCH_ROWS = 1000


def read_parquet_records(path: Path, options: ReaderOptions) -> Iterator[Record]:  # noqa: ARG001
    """Yield one record per row."""
    try:
        parquet = import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise MissingPackageError(
            "Reading a Parquet file needs pyarrow: pip install 'rankwright[pyarrow]'."
        ) from None
    row = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH_ROWS):
                for fields in batch.to_pylist():
                    row += 1
                    yield Record(f"{path}, row {row}", fields)
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}, after row {row}: a column of text is not valid UTF-8.") from None
    except (ValueError, OSError) as error:
        raise InputError(f"{path} is not a readable Parquet file: {first_line(error)}") from None


PARQUET_DOCUMENTS = Format(read_parquet_records, DOCUMENT_IDS, typed=True, tabular=True)
PARQUET_QUERIES = Format(read_parquet_records, QUERY_IDS, QUERY_TEXTS, typed=True, tabular=True)
