"""Writes documents with features to a file of any format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.data.columns import DOCUMENT, LABEL, QUERY
from rankwright.data.dataset import Documents, RankingData
from rankwright.data.readers.letor import write_letor
from rankwright.data.table_writers import is_table_name, write_table

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray


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
