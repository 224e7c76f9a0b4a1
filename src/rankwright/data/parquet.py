"""Documents from Parquet files."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, overload

from rankwright.data.frames import from_arrow
from rankwright.data.tables import LABEL, QUERY, first_line, naming
from rankwright.errors import InputError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from rankwright.data.dataset import Documents, RankingData


@overload
def read_parquet(
    path: str | PathLike[str],
    *,
    label: str = ...,
    qid: str = ...,
    document_id: str | None = ...,
    features: Sequence[str] | None = ...,
) -> RankingData: ...
@overload
def read_parquet(
    path: str | PathLike[str],
    *,
    label: str | None,
    qid: str = ...,
    document_id: str | None = ...,
    features: Sequence[str] | None = ...,
) -> Documents: ...
def read_parquet(
    path: str | PathLike[str],
    *,
    label: str | None = LABEL,
    qid: str = QUERY,
    document_id: str | None = None,
    features: Sequence[str] | None = None,
) -> Documents:
    """Read documents from a Parquet file; needs pyarrow.

    The other parameters and the result are those of `from_pandas`.
    """
    try:
        parquet = import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise MissingPackageError(
            "Reading a Parquet file needs pyarrow: pip install 'rankwright[pyarrow]'."
        ) from None
    with naming(path):
        try:
            table = parquet.read_table(path)
        except ValueError as error:
            raise InputError(f"{path} is not a readable Parquet file: {first_line(error)}") from None
        return from_arrow(table, label=label, qid=qid, document_id=document_id, features=features)
