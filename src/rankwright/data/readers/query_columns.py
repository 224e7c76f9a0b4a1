"""Properties of queries, read from columns of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.data.columns import QUERY, Roles, no_column
from rankwright.data.readers.csv import csv_columns
from rankwright.data.readers.parquet import parquet_columns
from rankwright.data.tables import naming

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike


def read_query_values(
    path: str | PathLike[str], names: Sequence[str], *, qid: str | None = None, delimiter: str | None
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
        columns = parquet_columns(path) if delimiter is None else csv_columns(path, roles, delimiter)[0]
        table = {column.name: column for column in columns}
        for name in (query, *names):
            if name not in table:
                raise InputError(no_column(name, list(table)))
        queries = [str(one) for one in table[query].ids().tolist()]
        return {name: _by_query(name, queries, _numbers_if_all(table[name].texts())) for name in names}


def _numbers_if_all(texts: list[str | None]) -> list[Any]:
    try:
        return [None if one is None else float(one) for one in texts]
    except ValueError:
        return list(texts)


def _by_query(name: str, queries: list[str], values: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for query, value in zip(queries, values, strict=True):
        if found.setdefault(query, value) != value:
            raise InputError(
                f"column {name!r} has more than one value in query {query}: {found[query]} and {value}."
            )
    return found
