"""UBJSON (draft 12), the binary form of JSON that XGBoost writes, as plain Python values.

Every value starts with a byte that names its type. Lists and objects may name the type of all their values (`$`)
and their number (`#`) in advance. Numbers are big-endian.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from rankwright.base.errors import InputError

MAX_DEPTH = 64
INTEGERS = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8"}
NUMBERS = INTEGERS | {b"d": ">f4", b"D": ">f8"}
CONSTANTS = {b"Z": None, b"T": True, b"F": False}
NO_OPERATION = b"N"


def is_ubjson(content: bytes) -> bool:
    """Return whether bytes start as an object of UBJSON: with the type of a length, where JSON has a quote."""
    return content[:1] == b"{" and content[1:2] in (*INTEGERS, b"$", b"#", NO_OPERATION)


def parsed_ubjson(content: bytes) -> Any:
    """Return the value that UBJSON bytes hold; InputError if they are damaged."""
    reader = _Reader(content)
    try:
        value = reader.value(reader.marker(), MAX_DEPTH)
    except (UnicodeDecodeError, struct.error):
        raise InputError("it is not UBJSON.") from None
    if reader.position != len(content):
        raise InputError(f"it is not UBJSON: {len(content) - reader.position} bytes follow its end.")
    return value


class _Reader:
    """The bytes of a file, read from front to back."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.position = 0
        self.n_claimed = 0  # values without bytes of their own

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        if not 0 <= size <= len(self.content) - self.position:
            raise InputError("it is cut short.")
        self.position += size
        return self.content[self.position - size : self.position]

    def marker(self) -> bytes:
        """Return the next byte that names a type."""
        byte = self.take(1)
        while byte == NO_OPERATION:
            byte = self.take(1)
        return byte

    def value(self, marker: bytes, depth: int) -> Any:
        """Return the value of this type that comes next, nested at most this deep."""
        if not depth:
            raise InputError(f"it is nested more than {MAX_DEPTH} levels deep.")
        if marker in NUMBERS:
            return self._numbers(marker, 1)[0]
        if marker in CONSTANTS:
            return CONSTANTS[marker]
        if marker == b"S":
            return self._text()
        if marker == b"C":
            return self.take(1).decode("ascii")
        if marker == b"H":
            return _number(self._text())
        if marker == b"[":
            return self._list(depth - 1)
        if marker == b"{":
            return self._object(depth - 1)
        raise InputError(f"it is not UBJSON: no type is called {marker!r}.")

    def _numbers(self, marker: bytes, count: int) -> list[Any]:
        dtype = np.dtype(NUMBERS[marker])
        numbers: list[Any] = np.frombuffer(self.take(count * dtype.itemsize), dtype).tolist()
        return numbers

    def _length(self) -> int:
        marker = self.marker()
        if marker not in INTEGERS:
            raise InputError(f"it is not UBJSON: a length cannot be of type {marker!r}.")
        length = int(self._numbers(marker, 1)[0])
        if length < 0:
            raise InputError("it is not UBJSON: a length is negative.")
        return length

    def _text(self) -> str:
        return self.take(self._length()).decode()

    def _header(self) -> tuple[bytes | None, int | None]:
        """Return the type of all values and their number, each None if it is not said."""
        kind = None
        if self._next() == b"$":
            self.take(1)
            kind = self.marker()
        if self._next() == b"#":
            self.take(1)
            return kind, self._length()
        if kind is not None:
            raise InputError("it is not UBJSON: a list has a type and no length.")
        return None, None

    def _next(self) -> bytes:
        return self.content[self.position : self.position + 1]

    def _list(self, depth: int) -> list[Any]:
        kind, count = self._header()
        if kind in NUMBERS and count is not None:
            return self._numbers(kind, count)
        if kind in CONSTANTS and count is not None:
            self.n_claimed += count
            if self.n_claimed > len(self.content):  # more could be claimed without end
                raise InputError("it is cut short.")
            return [CONSTANTS[kind]] * count
        values: list[Any] = []
        while self._continues(b"]", count, len(values)):
            values.append(self.value(kind or self.marker(), depth))
        return values

    def _object(self, depth: int) -> dict[str, Any]:
        kind, count = self._header()
        values: dict[str, Any] = {}
        while self._continues(b"}", count, len(values)):
            name = self._text()
            if name in values:
                raise InputError(f"it names {name[:40]!r} twice.")
            values[name] = self.value(kind or self.marker(), depth)
        return values

    def _continues(self, end: bytes, count: int | None, n_read: int) -> bool:
        """Return whether another value follows; takes the byte that ends a list of unknown length."""
        if count is not None:
            return n_read < count
        while self._next() == NO_OPERATION:
            self.take(1)
        if self._next() != end:
            return True
        self.take(1)
        return False


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError("it holds a number that is none.") from None
