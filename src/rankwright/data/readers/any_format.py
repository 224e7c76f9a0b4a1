"""Reads judged documents, scores and properties of queries from files in any of the known formats."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.data.column_roles import DOCUMENT, QUERY, SCORE, Roles, no_column
from rankwright.data.readers.csv import csv_columns, read_csv
from rankwright.data.readers.letor import read_letor
from rankwright.data.readers.parquet import parquet_columns, read_parquet
from rankwright.data.readers.trec import Run
from rankwright.data.tables import naming

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.data.dataset import RankingData
    from rankwright.data.tables import TableColumn

SCORE_COLUMNS = (QUERY, DOCUMENT, SCORE)


def read_judged(path: str | os.PathLike[str], *, n_jobs: int | None = None) -> RankingData:
    """Read judged documents: .csv, .tsv (each may be .gz too), .parquet, otherwise LETOR text."""
    suffix = Path(os.fspath(path).lower().removesuffix(".gz")).suffix
    if suffix == ".parquet":
        return read_parquet(path)
    if suffix in (".csv", ".tsv"):
        return read_csv(path)
    return read_letor(path, n_jobs=n_jobs)


def read_scores(path: str | os.PathLike[str], *, delimiter: str | None) -> Run:
    """Read a table of scores, as `predict --out scores.csv` writes it: the columns qid, docid and score.

    It is a CSV or TSV file or, if `delimiter` is None, a Parquet file. Other columns are ignored.
    """
    with naming(path):
        table = _table(path, Roles(label=SCORE), delimiter, SCORE_COLUMNS)
        table[SCORE].require_complete()
        return Run.of(table[QUERY].ids(), table[DOCUMENT].ids(), table[SCORE].numbers())


def read_query_values(
    path: str | os.PathLike[str], names: Sequence[str], *, qid: str | None = None, delimiter: str | None
) -> dict[str, dict[str, Any]]:
    """Read columns with one value per query; return each as a mapping from query id to value.

    The rows of one query, one or several, must agree. A column of numbers has numbers, any other has text; None is
    a missing value.

    Parameters
    ----------
    path
        A CSV or TSV file or, if `delimiter` is None, a Parquet file.
    qid
        The column of query ids, by default `qid`.
    """
    with naming(path):
        query = qid or QUERY
        roles = Roles(label=None, qid=query, categorical=list(names))
        table = _table(path, roles, delimiter, (query, *names))
        queries = [str(name) for name in table[query].ids().tolist()]
        return {name: _by_query(name, queries, _numbers_if_all(table[name].texts())) for name in names}


def _table(
    path: str | os.PathLike[str], roles: Roles, delimiter: str | None, needed: Sequence[str]
) -> dict[str, TableColumn]:
    """Return the columns of a file by name; refuse a file without one that is needed."""
    columns = parquet_columns(path) if delimiter is None else csv_columns(path, roles, delimiter)[0]
    table = {column.name: column for column in columns}
    for name in needed:
        if name not in table:
            raise InputError(no_column(name, list(table)))
    return table


def _numbers_if_all(texts: list[str | None]) -> list[Any]:
    try:
        return [None if text is None else float(text) for text in texts]
    except ValueError:
        return list(texts)


def _by_query(name: str, queries: list[str], values: list[Any]) -> dict[str, Any]:
    by_query: dict[str, Any] = {}
    for query, value in zip(queries, values, strict=True):
        if by_query.setdefault(query, value) != value:
            raise InputError(
                f"column {name!r} has more than one value in query {query}: {by_query[query]} and {value}."
            )
    return by_query
