"""The columns of pandas and polars data frames, Arrow tables, and what offers itself as one."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, MissingPackageError, parameter
from rankwright.data.tables import DATES, NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Floats
    from rankwright.data.tables import TableColumn

# Types of Arrow whose values numpy can view.
NUMPY_TYPES = {f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
NUMPY_TYPES |= {"float": "float32", "double": "float64"}


def library_of(frame: Any) -> str:
    """Return the library that a data frame belongs to, such as pandas."""
    return type(frame).__module__.partition(".")[0].lstrip("_")


def columns_of(frame: Any) -> Iterator[TableColumn]:
    """Yield the columns of a pandas or polars data frame, an Arrow table, or what offers itself as one."""
    if hasattr(frame, "collect_schema") and hasattr(frame, "collect"):
        warnings.warn("The LazyFrame is collected; collect() it yourself to use it again.", stacklevel=5)
        frame = frame.collect()
    if hasattr(frame, "iloc"):
        for name, series in frame.items():
            yield _PandasColumn(str(name), series)
    elif hasattr(frame, "get_columns"):
        for series in frame.get_columns():
            yield _PolarsColumn(series.name, series)
    else:
        table = _arrow_table(frame)
        for name, values in zip(table.column_names, table.columns, strict=True):
            yield _ArrowColumn(name, values)


def _arrow_table(frame: Any) -> Any:
    if not hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "__arrow_c_array__"):
        hint = "; pass its .arrow()" if hasattr(frame, "arrow") else ""  # as a connection of DuckDB
        raise InputError(f"A data frame or an Arrow table is needed, not {type(frame).__name__}{hint}.")
    try:
        pyarrow = import_module("pyarrow")
        return frame if isinstance(frame, pyarrow.Table) else pyarrow.table(frame)
    except ModuleNotFoundError:
        raise MissingPackageError(
            f"Reading a {type(frame).__name__} needs pyarrow: pip install 'rankwright[pyarrow]'."
        ) from None


@dataclass(frozen=True)
class _FrameColumn(ABC):
    name: str
    values: Any

    @property
    @abstractmethod
    def holds(self) -> str: ...

    @abstractmethod
    def missing(self) -> NDArray[np.bool_]:
        """Return for each row whether its value is missing."""

    @abstractmethod
    def _plain(self) -> list[Any]:
        """Return the values as Python objects."""

    @abstractmethod
    def _doubles(self) -> NDArray[Any]: ...

    @abstractmethod
    def _ids(self) -> NDArray[Any]: ...

    def require_complete(self) -> None:
        missing = self.missing()
        if missing.any():
            raise InputError(f"Row {int(missing.argmax())} has no value in column {self.name!r}.")

    def numbers(self) -> NDArray[Any]:
        if self.holds != NUMBERS:
            hint = f" but dates; name it in {parameter('dates')}" if self.holds == DATES else ""
            raise InputError(f"Column {self.name!r} does not hold numbers{hint}.")
        try:
            return self._doubles()
        except OverflowError:
            raise InputError(f"Column {self.name!r} has an integer that no float can hold.") from None

    def ids(self) -> NDArray[Any]:
        self.require_complete()
        return self._ids()

    def texts(self) -> list[str | None]:
        return [
            None if absent else text_of(value)
            for value, absent in zip(self._plain(), self.missing().tolist(), strict=True)
        ]


def text_of(value: Any) -> str:
    """Return a category as text; 3.0 is 3, because pandas makes floats of integers beside missing values."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


class _PandasColumn(_FrameColumn):
    values: pd.Series[Any]

    @property
    def holds(self) -> str:
        from pandas.api.types import infer_dtype, is_datetime64_any_dtype, is_numeric_dtype

        dtype = self.values.dtype
        if is_numeric_dtype(dtype):
            return "complex numbers" if dtype.kind == "c" else NUMBERS
        if dtype.kind == "O":
            # Decimals, and numbers beside None, come as objects.
            numbers = ("boolean", "decimal", "empty", "floating", "integer", "mixed-integer-float")
            kind = infer_dtype(self.values, skipna=True)
            return NUMBERS if kind in numbers else DATES if "date" in kind else "text"
        if is_datetime64_any_dtype(dtype):
            return DATES
        return {"category": "categories", "str": "text", "string": "text"}.get(dtype.name, dtype.name)

    def missing(self) -> NDArray[np.bool_]:
        return self.values.isna().to_numpy()

    def _plain(self) -> list[Any]:
        return self.values.tolist()

    def _doubles(self) -> Doubles:
        return self.values.to_numpy(dtype=np.float64, na_value=np.nan)

    def _ids(self) -> NDArray[Any]:
        return np.asarray(self.values.to_numpy())


class _PolarsColumn(_FrameColumn):
    values: pl.Series

    @property
    def holds(self) -> str:
        import polars as pl

        dtype = self.values.dtype
        if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
            return NUMBERS
        if dtype.is_temporal():
            return DATES
        if dtype in (pl.Categorical, pl.Enum):
            return "categories"
        return "text" if dtype == pl.String else str(dtype)

    def missing(self) -> NDArray[np.bool_]:
        absent = self.values.is_null()
        return (absent | self.values.is_nan() if self.values.dtype.is_float() else absent).to_numpy()

    def _plain(self) -> list[Any]:
        return self.values.to_list()

    def _doubles(self) -> Doubles:
        import polars as pl

        return self.values.cast(pl.Float64).to_numpy()

    def _ids(self) -> NDArray[Any]:
        import polars as pl

        named = self.values.dtype in (pl.Categorical, pl.Enum)
        return (self.values.cast(pl.String) if named else self.values).to_numpy()


class MatrixColumn(_FrameColumn):
    """A column of a matrix of float32."""

    values: Floats
    holds = NUMBERS

    def missing(self) -> NDArray[np.bool_]:
        return np.isnan(self.values)

    def _plain(self) -> list[Any]:
        plain: list[Any] = self.values.tolist()
        return plain

    def _doubles(self) -> NDArray[Any]:
        return self.values

    def _ids(self) -> NDArray[Any]:
        return self.values


class _ArrowColumn(_FrameColumn):
    @property
    def holds(self) -> str:
        from pyarrow import types

        kind = self.values.type
        numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
        if any(is_kind(kind) for is_kind in numbers):
            return NUMBERS
        if types.is_temporal(kind):
            return DATES
        if types.is_dictionary(kind):
            return "categories"
        return "text" if types.is_string(kind) or types.is_large_string(kind) else str(kind)

    def missing(self) -> NDArray[np.bool_]:
        numbers = self._mapped()
        if numbers is not None:
            return np.asarray(np.isnan(numbers))
        absent: NDArray[np.bool_] = self.values.is_null(nan_is_null=True).to_numpy()
        return absent

    def _mapped(self) -> NDArray[Any] | None:
        """Return numbers as they are in memory, if none is null; pyarrow itself would import pandas first."""
        dtype = NUMPY_TYPES.get(str(self.values.type))
        if dtype is None or self.values.null_count:
            return None
        chunks = [
            np.frombuffer(chunk.buffers()[1], dtype, len(chunk), chunk.offset * np.dtype(dtype).itemsize)
            for chunk in self.values.chunks
            if len(chunk)
        ]
        return chunks[0] if len(chunks) == 1 else np.concatenate([np.empty(0, dtype), *chunks])

    def _plain(self) -> list[Any]:
        plain: list[Any] = self.values.to_pylist()
        return plain

    def _doubles(self) -> Doubles:
        from pyarrow import float64, types

        numbers = self._mapped()
        if numbers is not None:
            return numbers if numbers.dtype == np.float32 else numbers.astype(np.float64)  # as features are kept
        if types.is_float32(self.values.type):
            return np.asarray(self.values.to_numpy())
        half = types.is_float16(self.values.type)  # which not every version can cast
        plain = self.values if half else self.values.cast(float64(), safe=False)
        return np.asarray(plain.to_numpy(), dtype=np.float64)

    def _ids(self) -> NDArray[Any]:
        from pyarrow import types

        numbers = self._mapped()
        if numbers is not None:
            return numbers
        encoded = types.is_dictionary(self.values.type)
        plain = self.values.cast(self.values.type.value_type) if encoded else self.values
        return np.asarray(plain.to_numpy())
