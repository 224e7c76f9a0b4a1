"""Tables of scores, as `predict --out scores.csv` writes them, read as a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.base.errors import InputError
from rankwright.data.columns import DOCUMENT, QUERY, SCORE, Roles, no_column
from rankwright.data.readers.csv import csv_columns
from rankwright.data.readers.parquet import parquet_columns
from rankwright.data.readers.trec import Run
from rankwright.data.tables import naming

if TYPE_CHECKING:
    from os import PathLike

SCORE_COLUMNS = (QUERY, DOCUMENT, SCORE)


def read_scores(path: str | PathLike[str], *, delimiter: str | None) -> Run:
    """Read the columns qid, docid and score of a CSV or TSV file, or of a Parquet file if `delimiter` is None.

    Other columns are ignored.
    """
    with naming(path):
        columns = (
            parquet_columns(path) if delimiter is None else csv_columns(path, Roles(label=SCORE), delimiter)[0]
        )
        table = {column.name: column for column in columns}
        for name in SCORE_COLUMNS:
            if name not in table:
                raise InputError(no_column(name, list(table)))
        table[SCORE].require_complete()
        return Run.of(table[QUERY].ids(), table[DOCUMENT].ids(), table[SCORE].numbers())
