"""Files of named arrays, memory-mapped.

A file holds, in this order and with all numbers little-endian:

- the magic bytes and the format version (uint32);
- the arrays, each at a multiple of 64 bytes;
- the header, JSON in UTF-8: name, type, shape and offset of each array;
- the offset and size of the header (uint64 each), its CRC-32 (uint32) and the magic bytes again.

Opening a file reads the header only and checks that every array is within the file. The values are checked where
they are used.
"""

from __future__ import annotations

import json
import math
import mmap
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

FORMAT_VERSION = 2
MAGIC = b"\x89rwarrays\r\n\x1a\n"
START = struct.Struct("<I")
END = struct.Struct("<QQI")
ALIGNMENT = 64
DTYPES = ("uint8", "uint32", "uint64", "float32")
MOST_DIMENSIONS = 2


class _Entry(NamedTuple):
    dtype: str
    shape: list[int]
    offset: int


class ArrayWriter:
    """Writes arrays to a file, whole or in parts one after another."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._entries: dict[str, _Entry] = {}
        self._filled: dict[str, int] = {}
        file.write(MAGIC + START.pack(FORMAT_VERSION))
        self._end = file.tell()

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Write a whole array."""
        self.reserve(name, array.dtype.name, array.shape)
        self.fill(name, array)

    def reserve(self, name: str, dtype: str, shape: Sequence[int]) -> None:
        """Reserve room for an array that is filled later, in parts."""
        self._reserve(name, dtype, shape)
        self._end += _size_of(dtype, shape)

    def fill(self, name: str, part: NDArray[Any]) -> None:
        """Write the next part of a reserved array."""
        self._file.seek(self._entries[name].offset + self._filled[name])
        self._file.write(np.ascontiguousarray(part).astype(part.dtype.newbyteorder("<"), copy=False).data)
        self._filled[name] += part.nbytes

    def start_stream(self, name: str) -> None:
        """Start an array of bytes of unknown size; nothing else can be written before `end_stream`."""
        self._reserve(name, "uint8", [0])
        self._file.seek(self._end)

    def end_stream(self, name: str, size: int) -> None:
        """End an array of bytes after `size` bytes were written to the file."""
        self._entries[name] = self._entries[name]._replace(shape=[size])
        self._filled[name] = size
        self._end += size

    def finish(self) -> None:
        """Write the header."""
        header = json.dumps(self._entries, separators=(",", ":")).encode()
        self._file.seek(self._end)
        self._file.write(header + END.pack(self._end, len(header), zlib.crc32(header)) + MAGIC)

    def _reserve(self, name: str, dtype: str, shape: Sequence[int]) -> None:
        if dtype not in DTYPES:
            raise TypeError(f"A file of arrays cannot hold {dtype}.")
        self._end += -self._end % ALIGNMENT
        self._entries[name] = _Entry(dtype, [*map(int, shape)], self._end)
        self._filled[name] = 0


class ArrayFile:
    """The arrays of a file, read-only views of its memory-mapped bytes."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._content = _mapped(self._path)
        self._entries = self._checked_entries()

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def array(self, name: str, dtype: str, dimensions: int = 1) -> NDArray[Any]:
        """Return an array; InputError if the file has none of the name and type."""
        entry = self._entries.get(name)
        if entry is None or entry.dtype != dtype or len(entry.shape) != dimensions:
            raise self._damaged(f"it has no array {name} of {dtype}")
        flat = np.frombuffer(
            self._content, np.dtype(dtype).newbyteorder("<"), math.prod(entry.shape), entry.offset
        )
        return flat.astype(dtype, copy=False).reshape(entry.shape)

    def _checked_entries(self) -> dict[str, _Entry]:
        content, size = self._content, len(self._content)
        if content[: len(MAGIC)] != MAGIC:
            raise InputError(f"{self._path} is not a file of an index.")
        if size < len(MAGIC) * 2 + START.size + END.size:
            raise self._cut_short()
        (version,) = START.unpack_from(content, len(MAGIC))
        if version != FORMAT_VERSION:
            raise InputError(
                f"{self._path} has format {version}, this version of rankwright reads format {FORMAT_VERSION}: "
                "build the index again."
            )
        if content[size - len(MAGIC) :] != MAGIC:
            raise self._cut_short()
        return self._entries_from(self._header())

    def _header(self) -> Any:
        end = len(self._content) - len(MAGIC) - END.size
        offset, size, checksum = END.unpack_from(self._content, end)
        header = self._content[offset : offset + size]
        if offset + size != end or zlib.crc32(header) != checksum:
            raise self._damaged("its header does not match its checksum")
        try:
            return json.loads(header)
        except (ValueError, RecursionError):
            raise self._damaged("its header is not JSON") from None

    def _entries_from(self, header: Any) -> dict[str, _Entry]:
        if not isinstance(header, dict):
            raise self._damaged("its header is not an object")
        return {name: self._entry_from(name, entry) for name, entry in header.items()}

    def _entry_from(self, name: str, described: Any) -> _Entry:
        match described:
            case [str(dtype), [*shape], int(offset)] if dtype in DTYPES and 1 <= len(shape) <= MOST_DIMENSIONS:
                is_shape = all(type(side) is int and side >= 0 for side in shape)
                is_aligned = offset >= 0 and offset % ALIGNMENT == 0
                if is_shape and is_aligned and offset + _size_of(dtype, shape) <= len(self._content):
                    return _Entry(dtype, shape, offset)
        raise self._damaged(f"array {name} is not within the file")

    def _cut_short(self) -> InputError:
        return InputError(f"{self._path} is cut short: build the index again.")

    def _damaged(self, what: str) -> InputError:
        return InputError(f"{self._path} is damaged: {what}.")


def _size_of(dtype: str, shape: Sequence[int]) -> int:
    return math.prod(shape) * np.dtype(dtype).itemsize


def _mapped(path: Path) -> mmap.mmap | bytes:
    try:
        with path.open("rb") as file:
            if path.stat().st_size == 0:
                return b""
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise InputError(f"There is no file {path}: the index is not complete.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
