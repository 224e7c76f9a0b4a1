"""Values that a parameter may take: each check refuses other values, reads text and describes its range.

Text means the same in Python as after `--set` on the command line: `value` and `parse` read it alike.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import nearest

if TYPE_CHECKING:
    from collections.abc import Callable


WHOLE = int | np.integer
NUMBER = int | float | np.integer | np.floating
LIST = (list, tuple, range, np.ndarray)


@dataclass(frozen=True)
class Check(ABC):
    """A range of values; `str` describes it, as in "None or a positive integer".

    A subclass defines `range`, `accepts` and `read`; `text_range` if the command line spells values otherwise; and
    `_converted` if Python code may also give values in another form than text.

    Parameters
    ----------
    optional
        Whether None is a valid value too.
    """

    optional: bool = field(default=False, kw_only=True)

    @property
    @abstractmethod
    def range(self) -> str:
        """The valid values other than None, as a noun phrase."""

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Return whether a value other than None is valid."""

    @abstractmethod
    def read(self, text: str) -> Any:
        """Return the value that a text spells, or the text itself if it spells no value of this type."""

    @property
    def text_range(self) -> str:
        """The valid values as the command line spells them."""
        return str(self).replace("None", "none")

    def __str__(self) -> str:
        return f"None or {self.range}" if self.optional else self.range

    def require(self, name: str, value: Any) -> None:
        """Refuse a value out of range."""
        if not self._is_valid(value):
            raise InputError(f"{name} must be {self}, not {value!r}.")

    def take(self, name: str, given: Any) -> Any:
        """Return the value that Python code gives, or refuse it."""
        value = self.value(given)
        if not self._is_valid(value):
            raise InputError(f"{parameter(name)} must be {self}, not {given!r}.")
        return value

    def value(self, given: Any) -> Any:
        """Return the value that Python code gives, as text or in another form; what spells none stays as it is."""
        if not isinstance(given, str):
            return self._converted(given)
        return None if self.optional and given.lower() == "none" else self.read(given)

    def _converted(self, given: Any) -> Any:
        """Return the value given in another form than text; by default there is none."""
        return given

    def parse(self, name: str, text: str) -> Any:
        """Return the value that a text on the command line spells."""
        value = self.value(text)
        if not self._is_valid(value):
            raise InputError(f"{name} must be {self.text_range}, not {text!r}.")
        return value

    def _is_valid(self, value: Any) -> bool:
        return self.accepts(value) if value is not None else self.optional


@dataclass(frozen=True)
class Integer(Check):
    """An integer from `least` to `most`."""

    least: int = 1
    most: int | None = None

    @property
    def range(self) -> str:
        if self.most is not None:
            return f"an integer from {self.least} to {self.most}"
        known = {1: "a positive integer", 0: "a non-negative integer"}
        return known.get(self.least, f"an integer of at least {self.least}")

    def accepts(self, value: Any) -> bool:
        whole = isinstance(value, WHOLE) and not isinstance(value, bool)
        return bool(whole and self.least <= value <= (inf if self.most is None else self.most))

    def read(self, text: str) -> Any:
        return _number(int, text)


@dataclass(frozen=True)
class Real(Check):
    """A finite number that is greater than `above`, at least `least` and at most `most`."""

    above: float = -inf
    least: float = -inf
    most: float = inf

    @property
    def range(self) -> str:
        known = {(0.0, -inf, inf): "a positive number", (-inf, 0.0, inf): "a non-negative number"}
        if (self.above, self.least, self.most) in known:
            return known[self.above, self.least, self.most]
        bounds = [f"above {self.above:g}"] if self.above > -inf else []
        bounds += [f"of at least {self.least:g}"] if self.least > -inf else []
        bounds += [f"at most {self.most:g}"] if self.most < inf else []
        return f"a number {' and '.join(bounds)}" if bounds else "a finite number"

    def accepts(self, value: Any) -> bool:
        number = isinstance(value, NUMBER) and not isinstance(value, bool) and isfinite(value)
        return bool(number and value > self.above and self.least <= value <= self.most)

    def read(self, text: str) -> Any:
        return _number(float, text)


def Fraction(*, optional: bool = False) -> Real:  # noqa: N802  # reads like the other checks
    """Return the check of a number above 0 and at most 1."""
    return Real(above=0.0, most=1.0, optional=optional)


@dataclass(frozen=True)
class OneOf(Check):
    """One of several names."""

    choices: tuple[str, ...]

    @property
    def range(self) -> str:
        return _alternatives(*map(repr, self.choices))

    def __str__(self) -> str:
        return _alternatives("None", *map(repr, self.choices)) if self.optional else self.range

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.choices

    def read(self, text: str) -> Any:
        return text


@dataclass(frozen=True)
class Flag(Check):
    """True or False."""

    range = "True or False"

    @property
    def text_range(self) -> str:
        return str(self).lower()

    def __str__(self) -> str:
        return "None, True or False" if self.optional else self.range

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_)

    def read(self, text: str) -> Any:
        return {"true": True, "false": False}.get(text.lower(), text)


@dataclass(frozen=True)
class ListOf(Check):
    """A list whose elements all pass another check; spelled with commas, or as JSON.

    Parameters
    ----------
    least
        The smallest number of elements.
    distinct
        Whether equal elements are refused.
    or_one
        Whether a single element is valid in place of a list.
    text
        How the command line spells such a list, if not as values separated by commas.
    """

    element: Check
    least: int = 0
    distinct: bool = False
    or_one: bool = False
    text: str = ""

    @property
    def range(self) -> str:
        if self.or_one:
            return f"{self.element} or a list of them"
        kind = "a non-empty list" if self.least else "a list"
        return f"{kind}{' of distinct values' if self.distinct else ''}, each {self.element}"

    @property
    def text_range(self) -> str:
        kind = "distinct values" if self.distinct else "values"
        return self.text or f"{kind} separated by commas, each {self.element.text_range}"

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, LIST):
            return self.or_one and self.element.accepts(value)
        valid = len(value) >= self.least and all(map(self.element.accepts, value))
        return valid and not (self.distinct and len(set(value)) < len(value))

    def read(self, text: str) -> Any:
        if text.lower() in ("", "none"):
            return ()
        parts = read_json(text) if text.startswith("[") else text.split(",")
        if not isinstance(parts, list):
            return text
        return tuple(self.element.value(part.strip() if isinstance(part, str) else part) for part in parts)

    def _converted(self, given: Any) -> Any:
        if not isinstance(given, LIST):
            return self.element.value(given) if self.or_one else given
        values = tuple(map(self.element.value, given))
        unchanged = all(value is element for value, element in zip(values, given, strict=True))
        return given if unchanged else values


@dataclass(frozen=True)
class Value(Check):
    """An instance of a class, such as a metric.

    Parameters
    ----------
    example
        How Python code writes such a value.
    reader
        Returns the value that a text spells, or that Python code gives in another form such as a dict.
    text
        How the command line spells such a value, as a noun phrase.
    """

    kind: type[Any]
    example: str
    reader: Callable[[Any], Any]
    text: str

    @property
    def range(self) -> str:
        name = self.kind.__name__
        return f"{'an' if name[0] in 'AEIOU' else 'a'} {name} such as {self.example}"

    @property
    def text_range(self) -> str:
        return f"none, or {self.text}" if self.optional else self.text

    def accepts(self, value: Any) -> bool:
        return isinstance(value, self.kind)

    def read(self, text: str) -> Any:
        return self.reader(text)

    def _converted(self, given: Any) -> Any:
        other_form = isinstance(given, Mapping) or callable(given)
        return self.reader(given) if other_form and not isinstance(given, self.kind) else given


@dataclass(frozen=True)
class Duration(Check):
    """A time in seconds; spelled as a number with or without a unit: 90, 90s, 10m, 1.5h."""

    range = "a positive number of seconds, or text such as '10m'"
    UNITS: ClassVar[dict[str, float]] = {"s": 1.0, "m": 60.0, "h": 3600.0}

    def accepts(self, value: Any) -> bool:
        return Real(above=0.0).accepts(value)

    def read(self, text: str) -> Any:
        bare = text.strip().lower()
        unit = self.UNITS.get(bare[-1:])
        seconds = _number(float, bare if unit is None else bare[:-1])
        return seconds * (unit or 1.0) if isinstance(seconds, float) else text


@dataclass(frozen=True)
class PathText(Check):
    """The path of a file or folder."""

    range = "a path"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str | os.PathLike) and bool(os.fspath(value))

    def read(self, text: str) -> Any:
        return text


@dataclass(frozen=True)
class Jobs(Integer):
    """A number of threads: positive, or -1 for all."""

    range = "-1 or a positive integer"
    optional: bool = field(default=True, kw_only=True)

    def __str__(self) -> str:
        return f"None, {self.range}"

    def accepts(self, value: Any) -> bool:
        return super().accepts(value) or (isinstance(value, WHOLE) and value == -1)


def read_record(kind: type) -> Callable[[Any], Any]:
    """Return a reader of dicts, also as JSON text, that hold the fields of a dataclass."""

    def read(given: Any) -> Any:
        values = read_json(given)
        if not isinstance(values, Mapping):
            return given
        known = [known_field.name for known_field in fields(kind)]
        for name in values:
            if name not in known:
                raise InputError(f"{kind.__name__} has no field {name!r}{nearest(name, known)}")
        return kind(**values)

    return read


def read_json(text: Any) -> Any:
    """Return what a text holds as JSON; a text that is not JSON, and anything but text, as it is."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _alternatives(*words: str) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def _number(kind: type, text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        return text
