"""Checked access to what another tool's model file holds; the file may be damaged or hostile."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.models.serialisation import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright.base.arrays import Doubles, Integers

HIGHEST_INTEGER = 2**31 - 1  # of the libraries' 32-bit integers


@contextmanager
def reading(library: str) -> Iterator[None]:
    """Name the library in every InputError."""
    try:
        yield
    except InputError as error:
        raise InputError(f"This {library} model cannot be used: {error}") from None


def parsed_json(model: Any) -> Mapping[str, Any]:
    """Return the JSON object that a text holds; a mapping is returned as it is."""
    if isinstance(model, str | bytes | bytearray):
        try:
            model = json.loads(model)
        except (ValueError, RecursionError):
            raise InputError("it is not JSON.") from None
    return checked_object("it", model)


def checked_object(name: str, value: Any) -> Mapping[str, Any]:
    """Return a JSON object."""
    if not isinstance(value, Mapping):
        raise InputError(f"{name} must be a JSON object, not {shown(value)}.")
    return value


def checked_list(name: str, value: Any) -> list[Any]:
    """Return a JSON list."""
    if not isinstance(value, list):
        raise InputError(f"{name} must be a list, not {shown(value)}.")
    return value


def member(name: str, value: Mapping[str, Any]) -> Any:
    """Return a member of a JSON object, which must be there."""
    if name not in value:
        raise InputError(f"{name} is missing.")
    return value[name]


def object_in(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a JSON object that is a member of another."""
    return checked_object(name, member(name, value))


def list_in(value: Mapping[str, Any], name: str) -> list[Any]:
    """Return a list that is a member of a JSON object."""
    return checked_list(name, member(name, value))


def integers(name: str, values: list[Any], highest: int = HIGHEST_INTEGER) -> Integers:
    """Return 32-bit integers, as texts or JSON numbers."""
    try:
        numbers = np.array([_integer(value) for value in values], dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be integers.") from None
    if (np.abs(numbers) > highest).any():
        raise InputError(f"{name} holds integers beyond 32 bits.")
    return numbers


def numbers(name: str, values: list[Any]) -> Doubles:
    """Return numbers, as texts or JSON numbers; they may be infinite, not NaN."""
    try:
        parsed = np.array([_number(value) for value in values], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be numbers.") from None
    if np.isnan(parsed).any():
        raise InputError(f"{name} must be numbers, not NaN.")
    return parsed


def _integer(value: Any) -> int:
    if not isinstance(value, str | int):  # a bool is an int: XGBoost writes false or 0
        raise TypeError
    return int(_plain(value))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError
    return float(_plain(value))


def _plain(value: Any) -> Any:
    """Return a value that is not a text in which only Python sees a number, such as 1_000."""
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        raise ValueError
    return value
