"""Writes documents and tables to files; the name of a file says its format."""

from __future__ import annotations

import csv
import gzip
import io
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.files import is_compressed, write_whole
from rankwright.data.column_roles import DOCUMENT, LABEL, QUERY
from rankwright.data.dataset import Documents, RankingData
from rankwright.data.readers.letor import write_letor

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from numpy.typing import NDArray

FIELD_DELIMITERS = {".csv": ",", ".tsv": "\t"}
PARQUET = ".parquet"


def write_documents(data: Documents, path: str | PathLike[str]) -> None:
    """Write documents to a table if the name ends with .csv, .tsv or .parquet, otherwise to a LETOR file.

    A table has columns for query, document id, label if there are labels, and each feature under its name. A LETOR
    file has no names.
    """
    if is_table_name(path):
        write_table(_columns(data), path)
    else:
        write_letor(data, path)


def _columns(data: Documents) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {QUERY: data.qid}
    if data.document_ids is not None:
        columns[DOCUMENT] = data.document_ids
    if isinstance(data, RankingData):
        columns[LABEL] = data.y
    names = data.feature_names or [str(number) for number in range(1, data.n_features + 1)]
    for name, values in zip(names, data.X.T, strict=True):
        if name in columns:
            raise InputError(f"A feature is called {name!r}, as another column of the table is; rename it.")
        columns[name] = values
    return columns


def is_table_name(path: str | PathLike[str]) -> bool:
    """Return whether the name of a file says that it is a table: .csv, .tsv, either with .gz, or .parquet."""
    return _ending(path) in FIELD_DELIMITERS or Path(path).suffix.lower() == PARQUET


def write_table(columns: Mapping[str, NDArray[Any]], path: str | PathLike[str]) -> None:
    """Write columns of equal length to a file whose name ends as `is_table_name` says."""
    if _ending(path) in FIELD_DELIMITERS:
        text = format_table(columns, FIELD_DELIMITERS[_ending(path)]).encode()
        content = gzip.compress(text, mtime=0) if is_compressed(path) else text
        with write_whole(path) as file:
            file.write(content)
        return
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise MissingPackageError(
            "Writing a Parquet file needs pyarrow: pip install 'rankwright[pyarrow]'."
        ) from None
    with write_whole(path) as file:
        parquet.write_table(pyarrow.table(dict(columns)), file)


def format_table(columns: Mapping[str, NDArray[Any]], delimiter: str = ",") -> str:
    """Return columns as the text of a CSV file, with a line of names."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return text.getvalue()


def _ending(path: str | PathLike[str]) -> str:
    return Path(Path(path).name.lower().removesuffix(".gz")).suffix
