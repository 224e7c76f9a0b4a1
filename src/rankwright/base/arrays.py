"""Arrays: aliases of types, read-only arrays, and checks of numbers that a caller gives in whatever form."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike


Doubles: TypeAlias = NDArray[np.float64]
Floats: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int64]
Array = TypeVar("Array", bound=NDArray[Any])


def sealed(array: Array) -> Array:
    """Make an array that the caller has just created read-only, and return it."""
    array.flags.writeable = False
    return array


def frozen(array: Array, given: object = None, *, copy: bool = True) -> Array:
    """Return the array read-only, as a copy if its memory is writeable elsewhere.

    `given` is the object that the array was made from: an array converted to another type or layout is new and
    needs no second copy. Without `copy` the result is a read-only view of that memory.
    """
    if _is_new(array, given):
        return sealed(array)
    if not copy:
        return sealed(array.view())
    return array if _is_constant(array) else sealed(array.copy())


def _is_new(array: NDArray[Any], given: object) -> bool:
    """Return whether the array certainly does not share the memory of the given object."""
    if isinstance(given, np.ndarray):
        return not np.may_share_memory(array, given)
    return isinstance(given, list | tuple)


def _is_constant(array: NDArray[Any]) -> bool:
    """Return whether no array in the chain of bases, down to the owner of the memory, is writeable."""
    base: object = array
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return False
        base = base.base
    return base is None or isinstance(base, bytes)


BLOCK_VALUES = 1 << 20  # of features that are looked at together

NOT_REAL = "cmM"  # complex numbers, durations and dates, as numpy abbreviates kinds of types


def checked_numbers(values: ArrayLike, name: str) -> Doubles:
    """Return real numbers as contiguous doubles, finite or not; `name` says in messages what they are."""
    refuse_masked(values, name)
    try:
        given = np.asarray(values)
        require_real([given.dtype], name)
        return np.require(given, np.float64, ["C", "A"])
    except InputError:
        raise
    except OverflowError:
        raise InputError(f"{name} must be numbers that a 64-bit float can hold, up to about 1.8e308.") from None
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers.") from None


def require_real(dtypes: Iterable[Any], name: str) -> None:
    """Refuse types that numpy converts to floats although they are no real numbers."""
    for dtype in dtypes:
        if getattr(dtype, "kind", "") in NOT_REAL:
            raise InputError(f"{name} must be real numbers, not {dtype}.")


def refuse_masked(values: Any, name: str) -> None:
    """Refuse a numpy masked array that has masked values."""
    if np.ma.is_masked(values):
        row = int(np.ma.getmaskarray(values).ravel().argmax())
        raise InputError(f"{name} must not be masked, but row {row} is; fill in or remove masked values.")


def checked_features(X: Any, names: Sequence[str] | None = None, *, allow_infinite: bool = False) -> Floats:
    """Return features as a float32 matrix, one row per document; NaN is missing.

    Masked values of a numpy masked array are missing. A float32 array in C order, aligned as the kernels need it,
    is passed on as it is, not copied. `names` are used in messages. Infinite values are refused unless they are
    allowed, finite ones that are too large for 32 bits always.
    """
    try:
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite and is refused below
            features = np.require(_dense(X), np.float32, ["C", "A"])
    except InputError:
        raise
    except OverflowError:
        raise InputError(_too_large(*_overflowing(X), allow_infinite=allow_infinite)) from None
    except (TypeError, ValueError):
        raise InputError(_not_numbers(X)) from None
    if features.ndim != 2:
        raise InputError(f"Features must form a matrix, one row per document, not shape {np.shape(X)}.")
    if not features.flags.aligned:  # as in a buffer cut at any byte; native code may not read that
        features = features.copy()
    if _has_infinite(features):
        _refuse_infinite(features, X, names or feature_names_of(X) or (), allow_infinite=allow_infinite)
    return features


def _has_infinite(features: Floats) -> bool:
    """Return whether any number is infinite; by blocks, as a mask of all would take a quarter of their memory."""
    n_rows = max(1, BLOCK_VALUES // max(1, features.shape[1]))
    return any(bool(np.isinf(features[row : row + n_rows]).any()) for row in range(0, len(features), n_rows))


def _refuse_infinite(features: Floats, X: Any, names: Sequence[str], *, allow_infinite: bool) -> None:
    wrong = np.isinf(features)
    if allow_infinite:
        wrong &= np.isfinite(np.asarray(_dense(X, np.float64), np.float64))
    if wrong.any():
        row, feature = np.argwhere(wrong)[0]
        raise InputError(_too_large(row, feature, names, allow_infinite=allow_infinite))


def _dense(X: Any, dtype: type[np.floating[Any]] = np.float32) -> Any:
    """Return an array: sparse matrices filled with zeros, masked values and pandas' NA as NaN."""
    if hasattr(X, "todense"):
        require_real([X.dtype], "Features")
        return X.astype(dtype).toarray()
    if hasattr(X, "iloc"):
        require_real(X.dtypes, "Features")
        return X.to_numpy(dtype=dtype, na_value=np.nan)
    if isinstance(X, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in X):
        X = np.ma.array(X)
    array = np.asanyarray(X)
    require_real([array.dtype], "Features")
    return np.ma.filled(array.astype(dtype), np.nan) if isinstance(array, np.ma.MaskedArray) else array


def _overflowing(X: Any) -> tuple[int, int]:
    """Return row and feature of the first integer that no float can hold."""
    values = np.atleast_2d(np.asarray(X, dtype=object))
    large = [isinstance(value, int) and abs(value) > sys.float_info.max for value in values.ravel()]
    row, feature = divmod(large.index(True), values.shape[1])
    return row, feature


def _not_numbers(X: Any) -> str:
    """Return the sentence about features that are no numbers; of a data frame it names the first such column."""
    for name in feature_names_of(X) or ():
        try:
            np.asarray(X[name], dtype=np.float32)
        except (TypeError, ValueError):
            return (
                f"Features must be numbers, and column {name[:60]!r} is not; from_pandas leaves out or encodes it."
            )
        except KeyError:  # the name is no string
            break
    return "Features must be numbers."


def _too_large(row: int, feature: int, names: Sequence[str] = (), *, allow_infinite: bool) -> str:
    what = f"Column {names[feature][:60]!r}" if feature < len(names) else f"Feature {feature}"
    infinite = "" if allow_infinite else "infinite or "
    return f"{what} of row {row} is {infinite}too large for a 32-bit float."


def feature_names_of(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame or an Arrow table, or None for anything else."""
    columns = getattr(X, "column_names", getattr(X, "columns", None))
    return None if columns is None else tuple(str(column) for column in columns)


def checked_feature_names(names: Sequence[str], n_features: int) -> tuple[str, ...]:
    """Return feature names as a tuple: strings, one per feature, none twice."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InputError("Feature names must be a list of strings.")
    if len(names) != n_features:
        raise InputError(f"There are {n_features} features but {len(names)} feature names.")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"The feature name {name[:60]!r} is given twice.")
        seen.add(name)
    return tuple(names)
