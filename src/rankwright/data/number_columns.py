"""Columns of numbers in whatever form they come: labels, scores, weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles

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
