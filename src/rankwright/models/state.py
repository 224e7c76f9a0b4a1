"""A scorer taken apart into what a file can hold, and the checks for putting it together again."""

from __future__ import annotations

import reprlib
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from rankwright.models.scorer import JSON, Scorer


@dataclass(frozen=True, eq=False)
class State:
    """A scorer as plain JSON fields, named arrays and named scorers inside it."""

    fields: Mapping[str, JSON] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    children: Mapping[str, Scorer] = field(default_factory=dict)

    def names(self) -> set[tuple[str, str]]:
        """Return the name of every part, with what it is."""
        parts = {"field": self.fields, "array": self.arrays, "scorer": self.children}
        return {(part, name) for part, named in parts.items() for name in named}

    def number(self, name: str) -> float:
        """Return a finite number."""
        return checked_number(name, self._get("field", self.fields, name))

    def integer(self, name: str) -> int:
        """Return a whole number."""
        return checked_integer(name, self._get("field", self.fields, name))

    def array(self, name: str, dtype: type[np.generic], n_dimensions: int = 1) -> NDArray[Any]:
        """Return an array that has exactly this type and number of dimensions."""
        values: NDArray[Any] = self._get("array", self.arrays, name)
        if values.dtype != dtype or values.ndim != n_dimensions:
            expected = f"{np.dtype(dtype)} of {n_dimensions} dimension(s)"
            raise InputError(f"{name} is {values.dtype} of {values.ndim} dimension(s), expected {expected}.")
        return values

    def child(self, name: str) -> Scorer:
        """Return a scorer inside this one."""
        scorer: Scorer = self._get("scorer", self.children, name)
        return scorer

    @staticmethod
    def _get(part: str, named: Mapping[str, Any], name: str) -> Any:
        if name not in named:
            raise InputError(f"The {part} {name} is not there.")
        return named[name]


def checked_number(name: str, value: Any) -> float:
    """Return a finite number as a float."""
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not real or not abs(value) <= sys.float_info.max:  # a whole number of JSON may be of any size
        raise InputError(f"{name} must be a finite number, not {shown(value)}.")
    return float(value)


def checked_integer(name: str, value: Any) -> int:
    """Return a whole number as an int."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} must be a whole number, not {shown(value)}.")
    return int(value)


def frozen_numbers(name: str, values: ArrayLike, shape: tuple[int, ...] | None = None) -> NDArray[np.float64]:
    """Return a read-only copy as float64: all finite, of the given shape or, without one, a vector."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers.") from None
    if numbers.ndim != 1 if shape is None else numbers.shape != shape:
        expected = "one row of numbers" if shape is None else f"shape {shape}"
        raise InputError(f"{name} has shape {numbers.shape}, expected {expected}.")
    if not np.isfinite(numbers).all():
        place = int((~np.isfinite(numbers)).argmax())
        raise InputError(f"{name}[{place}] is {numbers.flat[place]}; it must be finite.")
    numbers.flags.writeable = False
    return numbers


def shown(value: Any) -> str:
    """Return a value as text that fits a sentence, whatever a file holds."""
    text = reprlib.repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
