"""Documents from Parquet files."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Unpack, overload

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.data.column_roles import LABEL, QUERY, ColumnOptions, Roles
from rankwright.data.readers.frames import columns_of
from rankwright.data.tables import documents_of, first_line, naming, warned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from rankwright.data.dataset import Documents, RankingData
    from rankwright.data.tables import TableColumn


@overload
def read_parquet(
    path: str | PathLike[str], *, label: str = ..., **options: Unpack[ColumnOptions]
) -> RankingData: ...
@overload
def read_parquet(
    path: str | PathLike[str], *, label: str | None, **options: Unpack[ColumnOptions]
) -> Documents: ...
def read_parquet(
    path: str | PathLike[str],
    *,
    label: str | None = LABEL,
    qid: str = QUERY,
    docid: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    show: Sequence[str] = (),
) -> Documents:
    """Read documents from a Parquet file; needs pyarrow.

    The other parameters and the result are those of `from_pandas`.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"qid": ["hats", "hats"], "label": [1, 0], "bm25": [3.1, 2.0]})
    >>> frame.to_parquet("judged.parquet")
    >>> rw.read_parquet("judged.parquet").feature_names
    ('bm25',)
    """
    roles = Roles(label, qid, docid, features, drop, categorical, show)
    with naming(path):
        return warned(documents_of(parquet_columns(path), roles))


def parquet_columns(path: str | PathLike[str]) -> Iterator[TableColumn]:
    """Return the columns of a file."""
    try:
        parquet = import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise MissingPackageError(
            "Reading a Parquet file needs pyarrow: pip install 'rankwright[pyarrow]'."
        ) from None
    try:
        return columns_of(parquet.read_table(path))
    except ValueError as error:
        raise InputError(f"{path} is not a readable Parquet file: {first_line(error)}") from None
