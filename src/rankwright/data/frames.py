"""Documents from pandas and polars data frames and Arrow tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rankwright.data.tables import LABEL, QUERY, Roles, documents_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray

    from rankwright.arrays import Doubles
    from rankwright.data.dataset import Documents, RankingData


@overload
def from_pandas(
    frame: pd.DataFrame,
    *,
    label: str = ...,
    qid: str = ...,
    document_id: str | None = ...,
    features: Sequence[str] | None = ...,
) -> RankingData: ...
@overload
def from_pandas(
    frame: pd.DataFrame,
    *,
    label: str | None,
    qid: str = ...,
    document_id: str | None = ...,
    features: Sequence[str] | None = ...,
) -> Documents: ...
def from_pandas(
    frame: pd.DataFrame,
    *,
    label: str | None = LABEL,
    qid: str = QUERY,
    document_id: str | None = None,
    features: Sequence[str] | None = None,
) -> Documents:
    """Return the documents of a pandas data frame.

    Parameters
    ----------
    frame
        One row per document; NaN, None and NA are missing values.
    label
        The column with the label of each document; no value may be missing. With None the documents have no
        labels, the result is `Documents`, and a column `label` is ignored.
    qid
        The column with the query id of each document: integers or strings; no value may be missing.
    document_id
        The column with the id of each document, if there is one.
    features
        The feature columns; by default every other column that holds numbers, in the order of the table.
    """
    columns = ((str(name), _PandasColumn(series)) for name, series in frame.items())
    return documents_of(columns, Roles(label, qid, document_id, features))


@overload
def from_polars(
    frame: pl.DataFrame,
    *,
    label: str = ...,
    qid: str = ...,
    document_id: str | None = ...,
    features: Sequence[str] | None = ...,
) -> RankingData: ...
@overload
def from_polars(
    frame: pl.DataFrame,
    *,
    label: str | None,
    qid: str = ...,
    document_id: str | None = ...,
    features: Sequence[str] | None = ...,
) -> Documents: ...
def from_polars(
    frame: pl.DataFrame,
    *,
    label: str | None = LABEL,
    qid: str = QUERY,
    document_id: str | None = None,
    features: Sequence[str] | None = None,
) -> Documents:
    """Return the documents of a polars data frame.

    The parameters and the result are those of `from_pandas`.
    """
    columns = ((series.name, _PolarsColumn(series)) for series in frame)
    return documents_of(columns, Roles(label, qid, document_id, features))


@overload
def from_arrow(
    table: Any,
    *,
    label: str = ...,
    qid: str = ...,
    document_id: str | None = ...,
    features: Sequence[str] | None = ...,
) -> RankingData: ...
@overload
def from_arrow(
    table: Any,
    *,
    label: str | None,
    qid: str = ...,
    document_id: str | None = ...,
    features: Sequence[str] | None = ...,
) -> Documents: ...
def from_arrow(
    table: Any,
    *,
    label: str | None = LABEL,
    qid: str = QUERY,
    document_id: str | None = None,
    features: Sequence[str] | None = None,
) -> Documents:
    """Return the documents of a `pyarrow.Table`.

    The parameters and the result are those of `from_pandas`.
    """
    columns = ((name, _ArrowColumn(table.column(i))) for i, name in enumerate(table.column_names))
    return documents_of(columns, Roles(label, qid, document_id, features))


@dataclass(frozen=True)
class _PandasColumn:
    series: pd.Series[Any]

    @property
    def is_numeric(self) -> bool:
        from pandas.api.types import infer_dtype, is_numeric_dtype

        if is_numeric_dtype(self.series.dtype):
            return True
        # Decimals, and numbers beside None, come as objects.
        numbers = ("boolean", "decimal", "empty", "floating", "integer", "mixed-integer-float")
        return self.series.dtype == object and infer_dtype(self.series, skipna=True) in numbers

    def missing(self) -> NDArray[np.bool_]:
        return self.series.isna().to_numpy()

    def numbers(self) -> Doubles:
        return self.series.to_numpy(dtype=np.float64, na_value=np.nan)

    def ids(self) -> NDArray[Any]:
        return np.asarray(self.series.to_numpy())


@dataclass(frozen=True)
class _PolarsColumn:
    series: pl.Series

    @property
    def is_numeric(self) -> bool:
        import polars as pl

        return self.series.dtype.is_numeric() or self.series.dtype in (pl.Boolean, pl.Null)

    def missing(self) -> NDArray[np.bool_]:
        absent = self.series.is_null()
        return (absent | self.series.is_nan() if self.series.dtype.is_float() else absent).to_numpy()

    def numbers(self) -> Doubles:
        import polars as pl

        return self.series.cast(pl.Float64).to_numpy()

    def ids(self) -> NDArray[Any]:
        import polars as pl

        named = self.series.dtype in (pl.Categorical, pl.Enum)
        return (self.series.cast(pl.String) if named else self.series).to_numpy()


@dataclass(frozen=True)
class _ArrowColumn:
    values: Any

    @property
    def is_numeric(self) -> bool:
        from pyarrow import types

        kinds = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
        return any(is_kind(self.values.type) for is_kind in kinds)

    def missing(self) -> NDArray[np.bool_]:
        absent: NDArray[np.bool_] = self.values.is_null(nan_is_null=True).to_numpy()
        return absent

    def numbers(self) -> Doubles:
        from pyarrow import float64, types

        half = types.is_float16(self.values.type)  # which not every version can cast
        plain = self.values if half else self.values.cast(float64())
        return np.asarray(plain.to_numpy(), dtype=np.float64)

    def ids(self) -> NDArray[Any]:
        from pyarrow import types

        encoded = types.is_dictionary(self.values.type)
        plain = self.values.cast(self.values.type.value_type) if encoded else self.values
        return np.asarray(plain.to_numpy())
