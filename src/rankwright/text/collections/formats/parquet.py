"""Parquet files, read in batches of rows."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.data.tables import first_line
from rankwright.text.collections.formats.record import (
    DOCUMENT_IDS,
    QUERY_IDS,
    QUERY_TEXTS,
    Format,
    Options,
    Record,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BATCH_ROWS = 1000


def read_parquet_records(path: Path, options: Options) -> Iterator[Record]:  # noqa: ARG001
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


DOCUMENTS = Format(read_parquet_records, DOCUMENT_IDS, typed=True, tabular=True)
QUERIES = Format(read_parquet_records, QUERY_IDS, QUERY_TEXTS, typed=True, tabular=True)
