"""The flat arrays of a tree ensemble, and the checks that they form binary trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.models.state import frozen_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles, Floats, Integers

MAX_SPLITS = 2**25 - 1
DTYPES: dict[str, type[np.generic]] = {
    "splits": np.int64,
    "feature": np.int32,
    "threshold": np.float32,
    "missing_left": np.uint8,
    "left": np.int32,
    "right": np.int32,
    "leaf_value": np.float64,
    "gain": np.float64,
    "cover": np.float64,
}
PER_SPLIT = ("feature", "threshold", "missing_left", "left", "right", "gain")
PER_LEAF = ("leaf_value", "cover")


def checked_arrays(given: Mapping[str, ArrayLike], n_features: int) -> dict[str, NDArray[Any]]:
    """Return read-only arrays of the right types, once they have been found to form binary trees."""
    arrays: dict[str, NDArray[Any]] = {
        name: _frozen_integers(name, given[name])
        for name in ("splits", "feature", "missing_left", "left", "right")
    }
    splits, n_splits = arrays["splits"], len(arrays["feature"])
    _require(n_splits <= MAX_SPLITS, f"There may be at most {MAX_SPLITS} splits.")
    _require_offsets(splits, n_splits)
    sizes = dict.fromkeys(PER_SPLIT, n_splits) | dict.fromkeys(PER_LEAF, n_splits + len(splits) - 1)
    for name in ("leaf_value", "gain", "cover"):
        arrays[name] = frozen_numbers(name, given[name], (sizes[name],))
    arrays["threshold"] = _rounded_down(
        frozen_numbers("threshold", given["threshold"], (n_splits,), allow_infinite=True)
    )
    for name in ("missing_left", "left", "right"):
        _require(len(arrays[name]) == n_splits, f"{name} must have one value per split.")
    _require_range("feature", arrays["feature"], n_features - 1)
    _require_range("missing_left", arrays["missing_left"], 1)
    _require((arrays["cover"] >= 0).all(), "cover must not be negative.")
    require_trees(splits, arrays["left"], arrays["right"])
    return arrays


def _require(holds: bool | np.bool_, sentence: str) -> None:
    if not holds:
        raise InputError(sentence)


def _frozen_integers(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return a read-only copy as integers of the array's type."""
    given, dtype = np.asarray(values), DTYPES[name]
    if given.ndim != 1:
        raise InputError(f"{name} has shape {given.shape}, expected one dimension.")
    if given.dtype.kind not in "iu" and given.size:
        raise InputError(f"{name} must be integers, not {given.dtype}.")
    numbers = given.astype(dtype)
    if not (numbers == given).all():
        raise InputError(f"{name} holds numbers too large for {np.dtype(dtype)}.")
    numbers.flags.writeable = False
    return numbers


def _rounded_down(numbers: Doubles) -> Floats:
    """Return the highest 32-bit floats that are not above: 32-bit values compare with them as with the numbers."""
    with np.errstate(over="ignore"):
        nearest = numbers.astype(np.float32)
        down = np.where(nearest > numbers, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    down.flags.writeable = False
    return down


def _require_range(name: str, values: NDArray[Any], highest: int) -> None:
    wrong = (values < 0) | (values > highest)
    if wrong.any():
        place = int(wrong.argmax())
        raise InputError(f"{name}[{place}] is {values[place]}; it must be from 0 to {highest}.")


def _require_offsets(splits: Integers, n_splits: int) -> None:
    _require(len(splits) > 0 and splits[0] == 0, "splits must begin with 0.")
    _require((splits[1:] >= splits[:-1]).all(), "splits must not decrease.")
    _require(splits[-1] == n_splits, f"splits must end with the number of splits, {n_splits}, not {splits[-1]}.")


def require_trees(splits: Integers, left: NDArray[np.int32], right: NDArray[np.int32]) -> None:
    """Refuse children that do not form binary trees.

    If every child comes after its parent, and every leaf and every split but the root is the child of exactly
    one split, then all of them are reached from the root. A tree of n splits names 2n children and has as many
    splits and leaves besides the root, so it is enough that no child is named twice.
    """
    sizes = np.diff(splits)
    tree = np.repeat(np.arange(len(sizes)), sizes)
    place, size = np.arange(len(left)) - splits[tree], sizes[tree]
    filled = np.zeros(2 * len(left) + len(sizes), dtype=np.uint8)  # all splits, then all leaves
    for name, child in (("left", left.astype(np.int64)), ("right", right.astype(np.int64))):
        wrong = np.where(child < 0, -1 - child > size, (child <= place) | (child >= size))
        if wrong.any():
            split = int(wrong.argmax())
            raise InputError(f"{name}[{split}] is {child[split]}: neither a later split nor a leaf of its tree.")
        target = np.where(child < 0, len(left) + splits[tree] + tree - 1 - child, splits[tree] + child)
        _require(not filled[target].any(), f"{name} names a child that has a parent already.")
        filled[target] = 1
        _require(filled.sum() == (1 if name == "left" else 2) * len(left), f"{name} names a child twice.")
