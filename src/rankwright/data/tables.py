"""Judged documents from data frames, Arrow tables, and Parquet and CSV files."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rankwright.arrays import sealed
from rankwright.data.dataset import RankingData
from rankwright.errors import InputError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from os import PathLike
    from typing import TypeAlias

    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray

    _CsvReader: TypeAlias = Callable[[str | PathLike[str], Sequence[str]], list[tuple[str, "_Column"]]]

# One list for every reader of CSV, so that the same file gives the same data whichever is installed.
_NULL_WORDS = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"]


def from_pandas(
    frame: pd.DataFrame,
    *,
    label: str = "label",
    qid: str = "qid",
    document_id: str | None = None,
    features: Sequence[str] | None = None,
) -> RankingData:
    """Take ranking data from a pandas data frame.

    Parameters
    ----------
    frame
        A row a document; NaN, None and NA are missing values.
    label, qid
        The columns with the label and the query of each document; no value may be missing.
    document_id
        The column that names each document, if there is one.
    features
        The feature columns; None takes every other column that holds numbers, in the order of the table.
    """
    columns = [(str(name), _PandasColumn(series)) for name, series in frame.items()]
    return _ranking_data(columns, label, qid, document_id, features)


def from_polars(
    frame: pl.DataFrame,
    *,
    label: str = "label",
    qid: str = "qid",
    document_id: str | None = None,
    features: Sequence[str] | None = None,
) -> RankingData:
    """Take ranking data from a polars data frame; the parameters are those of `from_pandas`."""
    columns = [(series.name, _PolarsColumn(series)) for series in frame]
    return _ranking_data(columns, label, qid, document_id, features)


def from_arrow(
    table: Any,
    *,
    label: str = "label",
    qid: str = "qid",
    document_id: str | None = None,
    features: Sequence[str] | None = None,
) -> RankingData:
    """Take ranking data from a `pyarrow.Table`; the parameters are those of `from_pandas`."""
    return _ranking_data(_arrow_columns(table), label, qid, document_id, features)


def read_parquet(
    path: str | PathLike[str],
    *,
    label: str = "label",
    qid: str = "qid",
    document_id: str | None = None,
    features: Sequence[str] | None = None,
) -> RankingData:
    """Read ranking data from a Parquet file; the parameters are those of `from_pandas`."""
    try:
        parquet = import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise MissingPackageError(
            "Reading a Parquet file needs pyarrow: pip install 'rankwright[pyarrow]'."
        ) from None
    with _reading(path):
        try:
            table = parquet.read_table(path)
        except ValueError as mistake:
            raise InputError(f"{path} is not a readable Parquet file: {_first_line(mistake)}") from None
        return from_arrow(table, label=label, qid=qid, document_id=document_id, features=features)


def read_csv(
    path: str | PathLike[str],
    *,
    label: str = "label",
    qid: str = "qid",
    document_id: str | None = None,
    features: Sequence[str] | None = None,
) -> RankingData:
    """Read ranking data from a CSV file with a line of column names, `.gz` or not.

    An empty field, NA, NaN, null and their like are missing values. Query ids are integers where all of them
    are written as integers are, and text otherwise. The parameters are those of `from_pandas`.
    """
    ids = [qid] if document_id is None else [qid, document_id]
    reader = _csv_reader()
    with _reading(path):
        data = _ranking_data(reader(path, ids), label, qid, document_id, features)
    return replace(data, qid=_integers_if_written_so(data.qid))


class _Column(Protocol):
    """What is asked of a column, whatever the library that holds it."""

    @property
    def is_numeric(self) -> bool: ...

    def missing(self) -> NDArray[np.bool_]: ...

    def numbers(self) -> NDArray[np.float64]:
        """Return doubles, NaN where a value is missing."""
        ...

    def ids(self) -> NDArray[Any]:
        """Return integers or strings; asked only where none is missing."""
        ...


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

    def numbers(self) -> NDArray[np.float64]:
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

    def numbers(self) -> NDArray[np.float64]:
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

    def numbers(self) -> NDArray[np.float64]:
        from pyarrow import float64, types

        half = types.is_float16(self.values.type)  # which not every version can cast
        plain = self.values if half else self.values.cast(float64())
        return np.asarray(plain.to_numpy(), dtype=np.float64)

    def ids(self) -> NDArray[Any]:
        from pyarrow import types

        encoded = types.is_dictionary(self.values.type)
        plain = self.values.cast(self.values.type.value_type) if encoded else self.values
        return np.asarray(plain.to_numpy())


def _arrow_columns(table: Any) -> list[tuple[str, _Column]]:
    return [(name, _ArrowColumn(table.column(i))) for i, name in enumerate(table.column_names)]


def _ranking_data(
    columns: Iterable[tuple[str, _Column]],
    label: str,
    qid: str,
    document_id: str | None,
    features: Sequence[str] | None,
) -> RankingData:
    table = _by_name(columns)
    special = [name for name in (label, qid, document_id) if name is not None]
    labels, queries = _labels(table, label), _ids(table, qid)
    documents = None if document_id is None else _ids(table, document_id)
    if len(labels) == 0:
        raise InputError("The table has no rows.")
    names = _feature_names(table, special, features)
    X = np.empty((len(labels), len(names)), dtype=np.float32)
    with np.errstate(over="ignore"):  # RankingData refuses what float32 cannot hold
        for feature, name in enumerate(names):
            X[:, feature] = table[name].numbers()
    return RankingData(sealed(X), labels, queries, document_ids=documents, feature_names=names)


def _by_name(columns: Iterable[tuple[str, _Column]]) -> dict[str, _Column]:
    table: dict[str, _Column] = {}
    for name, column in columns:
        if name in table:
            raise InputError(f"There are two columns {name!r}.")
        table[name] = column
    return table


def _column(table: dict[str, _Column], name: str) -> _Column:
    if name in table:
        return table[name]
    near = get_close_matches(name, table, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the table has {', '.join(table) or 'none'}."
    raise InputError(f"There is no column {name!r}; {hint}")


def _labels(table: dict[str, _Column], name: str) -> NDArray[np.float64]:
    column = _complete(table, name)
    _require_numeric(column, name)
    return column.numbers()


def _ids(table: dict[str, _Column], name: str) -> NDArray[Any]:
    return _complete(table, name).ids()


def _complete(table: dict[str, _Column], name: str) -> _Column:
    column = _column(table, name)
    missing = column.missing()
    if missing.any():
        raise InputError(f"Row {int(missing.argmax())} has no value in column {name!r}.")
    return column


def _require_numeric(column: _Column, name: str) -> None:
    if not column.is_numeric:
        raise InputError(f"Column {name!r} does not hold numbers.")


def _feature_names(
    table: dict[str, _Column], special: Sequence[str], chosen: Sequence[str] | None
) -> tuple[str, ...]:
    if chosen is None:
        chosen = [name for name, column in table.items() if name not in special and column.is_numeric]
    for name in chosen:
        _require_numeric(_column(table, name), name)
        if name in special:
            raise InputError(f"Column {name!r} holds the label or an id; it cannot be a feature too.")
    if not chosen:
        raise InputError("The table has no feature columns.")
    return tuple(chosen)


@contextmanager
def _reading(path: str | PathLike[str]) -> Iterator[None]:
    """Name the file in whatever is wrong with it."""
    if not Path(path).is_file():
        is_there = Path(path).exists()
        raise InputError(f"{path} is a folder, not a table." if is_there else f"There is no file {path}.")
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be read: {_first_line(error)}") from None
    except InputError as error:
        if str(path) in str(error):
            raise
        raise InputError(f"{path}: {error}") from None


def _csv_reader() -> _CsvReader:
    readers = {"pyarrow": _csv_by_arrow, "pandas": _csv_by_pandas, "polars": _csv_by_polars}
    for package, reader in readers.items():
        try:
            import_module(package)
        except ModuleNotFoundError:
            continue
        return reader
    raise MissingPackageError("Reading a CSV file needs pyarrow: pip install 'rankwright[pyarrow]'.")


def _csv_by_arrow(path: str | PathLike[str], ids: Sequence[str]) -> list[tuple[str, _Column]]:
    import pyarrow as pa
    from pyarrow import csv

    # The type of a column is guessed from the first block alone; the largest block takes in most files whole.
    whole = csv.ReadOptions(block_size=1 << 30)
    convert = csv.ConvertOptions(
        null_values=_NULL_WORDS, strings_can_be_null=True, column_types=dict.fromkeys(ids, pa.string())
    )
    try:
        table = csv.read_csv(path, read_options=whole, convert_options=convert)
    except pa.ArrowInvalid as mistake:
        raise _unreadable_csv(path, mistake) from None
    return _arrow_columns(table)


def _csv_by_pandas(path: str | PathLike[str], ids: Sequence[str]) -> list[tuple[str, _Column]]:
    import pandas as pd

    try:
        frame = pd.read_csv(
            path,
            na_values=_NULL_WORDS,
            keep_default_na=False,
            dtype=dict.fromkeys(ids, "str"),
            index_col=False,
            low_memory=False,
        )
    except ValueError as mistake:
        raise _unreadable_csv(path, mistake) from None
    return [(str(name), _PandasColumn(series)) for name, series in frame.items()]


def _csv_by_polars(path: str | PathLike[str], ids: Sequence[str]) -> list[tuple[str, _Column]]:
    import polars as pl

    types = dict.fromkeys(ids, pl.String)
    try:
        frame = pl.read_csv(Path(path), null_values=_NULL_WORDS, schema_overrides=types, infer_schema_length=None)
    except pl.exceptions.PolarsError as mistake:
        raise _unreadable_csv(path, mistake) from None
    return [(series.name, _PolarsColumn(series)) for series in frame]


def _unreadable_csv(path: str | PathLike[str], mistake: Exception) -> InputError:
    return InputError(f"{path} is not a readable CSV file: {_first_line(mistake)}")


def _first_line(mistake: Exception) -> str:
    return str(mistake).partition("\n")[0].rstrip(".") + "."


def _integers_if_written_so(ids: NDArray[Any]) -> NDArray[Any]:
    """Return text ids as integers where nothing is lost by it, as it would be of 007."""
    try:
        numbers = ids.astype(np.int64)
    except (ValueError, OverflowError):
        return ids
    return numbers if (numbers.astype(np.str_) == ids).all() else ids
