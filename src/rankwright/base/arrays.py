"""Aliases of array types, and read-only arrays."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

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
