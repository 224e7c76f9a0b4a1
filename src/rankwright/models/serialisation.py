"""A scorer as plain values that a file can hold, and the checks for rebuilding it."""

from __future__ import annotations

import json
import reprlib
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles

JSON: TypeAlias = "Mapping[str, JSON] | Sequence[JSON] | str | int | float | bool | None"

MAX_FEATURES = 2**24
"""The most features a model may have: a file may claim them without holding anything per feature."""

MAX_FACTS_DEPTH = 32
"""Levels of nested objects and lists in the facts: what reads them may recurse safely."""


@dataclass(frozen=True, eq=False)
class State:
    """A scorer as plain JSON fields, named arrays and the named scorers it contains."""

    fields: Mapping[str, JSON] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    children: Mapping[str, Any] = field(default_factory=dict)

    def names(self) -> set[tuple[str, str]]:
        """Return the kind and name of every part."""
        parts = {"field": self.fields, "array": self.arrays, "scorer": self.children}
        return {(part, name) for part, named in parts.items() for name in named}

    def plain(self, name: str) -> Any:
        """Return a field, which the scorer itself checks."""
        return self._get("field", self.fields, name)

    def number(self, name: str) -> float:
        """Return a finite number."""
        return checked_number(name, self.plain(name))

    def integer(self, name: str) -> int:
        """Return an integer."""
        return checked_integer(name, self.plain(name))

    def array(self, name: str, dtype: type[np.generic], n_dimensions: int = 1) -> NDArray[Any]:
        """Return an array of exactly this type and number of dimensions."""
        values: NDArray[Any] = self._get("array", self.arrays, name)
        if values.dtype != dtype or values.ndim != n_dimensions:
            expected = f"{np.dtype(dtype)} of {n_dimensions} dimension(s)"
            raise InputError(f"{name} is {values.dtype} of {values.ndim} dimension(s), expected {expected}.")
        return values

    def vector(self, name: str) -> Doubles:
        """Return an array of doubles of one dimension."""
        return self.array(name, np.float64)

    def matrix(self, name: str) -> Doubles:
        """Return an array of doubles of two dimensions."""
        return self.array(name, np.float64, n_dimensions=2)

    def child(self, name: str) -> Any:
        """Return a scorer that this one contains."""
        return self._get("scorer", self.children, name)

    @staticmethod
    def _get(part: str, named: Mapping[str, Any], name: str) -> Any:
        if name not in named:
            raise InputError(f"The {part} {name} is missing.")
        return named[name]


Saved: TypeAlias = "Mapping[str, Callable[[State, str], Any]]"
"""The fields of a scorer that a file holds, in order, and how each is read."""


def checked_number(name: str, value: Any) -> float:
    """Return a finite number as a float."""
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not real or not abs(value) <= sys.float_info.max:  # an integer of JSON may have any size
        raise InputError(f"{name} must be a finite number, not {shown(value)}.")
    return float(value)


def checked_integer(name: str, value: Any) -> int:
    """Return an integer as an int."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} must be an integer, not {shown(value)}.")
    return int(value)


def checked_n_features(value: Any) -> int:
    """Return a number of features that a model may have."""
    number = checked_integer("n_features", value)
    if not 1 <= number <= MAX_FEATURES:
        raise InputError(f"n_features must be from 1 to {MAX_FEATURES}, not {shown(number)}.")
    return number


def frozen_numbers(
    name: str, values: ArrayLike, shape: tuple[int, ...] | None = None, *, allow_infinite: bool = False
) -> Doubles:
    """Return a read-only float64 copy: all values finite, of the given shape or else one-dimensional."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers.") from None
    if numbers.ndim != 1 if shape is None else numbers.shape != shape:
        expected = "one dimension" if shape is None else f"shape {shape}"
        raise InputError(f"{name} has shape {numbers.shape}, expected {expected}.")
    wrong = np.isnan(numbers) if allow_infinite else ~np.isfinite(numbers)
    if wrong.any():
        index, must = int(wrong.argmax()), "a number" if allow_infinite else "finite"
        raise InputError(f"{name}[{index}] is {numbers.flat[index]}; it must be {must}.")
    numbers.flags.writeable = False
    return numbers


def shown(value: Any) -> str:
    """Return any value as text that is short enough for a message."""
    text = reprlib.repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def checked_about(about: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return an independent copy of the facts; refuse anything that is not plain JSON."""
    try:
        facts = json.loads(json.dumps(about, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"about must hold plain JSON: {error}.") from None
    if not isinstance(facts, dict):
        raise InputError(f"about must be a mapping of facts by name, not {type(about).__name__}.")
    _require_shallow(facts)
    return facts


def _require_shallow(facts: dict[str, JSON]) -> None:
    level: list[JSON] = [facts]
    for _ in range(MAX_FACTS_DEPTH):  # level by level, for recursion could itself go too deep
        level = [part for value in level for part in _parts(value)]
    if any(isinstance(value, dict | list) for value in level):
        raise InputError(f"about must not be nested more than {MAX_FACTS_DEPTH} levels deep.")


def _parts(value: JSON) -> Sequence[JSON]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else ()
