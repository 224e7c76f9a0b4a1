"""Files of named arrays, memory-mapped.

A file holds, in this order and with all numbers little-endian:

- the magic bytes and the format version (uint32);
- the arrays, each at a multiple of 64 bytes;
- the checksums: the CRC-32 (uint32) of each block of 16 KiB of each array, in the order of the header;
- the header, JSON in UTF-8: name, type, shape and offset of each array;
- the offset of the checksums and the size of the header (uint64 each), the CRC-32 of both (uint32), which is the
  checksum of the file, and the magic bytes again.

Opening a file reads checksums and header only. A block of an array is verified when it is first used.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
import zlib
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from weakref import finalize

import numpy as np

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future, ThreadPoolExecutor

    from numpy.typing import NDArray

FORMAT_VERSION = 3
MAGIC = b"\x89rwarrays\r\n\x1a\n"
START = struct.Struct("<I")
END = struct.Struct("<QQI")
ALIGNMENT = 64
BLOCK = 1 << 14
LARGE = 1 << 24  # bytes: as many are read in parts
PART = 1 << 20
DTYPES = ("int8", "uint8", "uint32", "uint64", "int64", "float32", "float64")
MAX_DIMENSIONS = 2


class _Entry(NamedTuple):
    dtype: str
    shape: list[int]
    offset: int


class _Part(NamedTuple):
    content: bytearray
    begin: int
    end: int


class ArrayWriter:
    """Writes arrays to a file, whole or in parts one after another."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._entries: dict[str, _Entry] = {}
        self._checksums: dict[str, _BlockChecksums] = {}
        file.write(MAGIC + START.pack(FORMAT_VERSION))
        self._end = file.tell()

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Write a whole array."""
        self.reserve(name, array.dtype.name, array.shape)
        self.fill(name, array)

    def reserve(self, name: str, dtype: str, shape: Sequence[int]) -> None:
        """Reserve room for an array that is filled later, in parts."""
        if dtype not in DTYPES:
            raise TypeError(f"A file of arrays cannot hold {dtype}.")
        self._end += -self._end % ALIGNMENT
        self._entries[name] = _Entry(dtype, [*map(int, shape)], self._end)
        self._checksums[name] = _BlockChecksums()
        self._end += _size_of(dtype, shape)

    def fill(self, name: str, part: NDArray[Any]) -> None:
        """Write the next part of a reserved array."""
        content = np.ascontiguousarray(part).astype(part.dtype.newbyteorder("<"), copy=False).reshape(-1)
        self._file.seek(self._entries[name].offset + self._checksums[name].size)
        self._file.write(content.data)
        self._checksums[name].extend(content.view(np.uint8).data)

    def end_stream(self, name: str) -> None:
        """End an array of bytes that was reserved without room, as the last one, and then filled."""
        size = self._checksums[name].size
        self._entries[name] = self._entries[name]._replace(shape=[size])
        self._end += size

    def finish(self) -> int:
        """Write checksums and header; return the checksum of the file."""
        header = json.dumps(self._entries, separators=(",", ":")).encode()
        blocks = [value for checksums in self._checksums.values() for value in checksums.values]
        ending = np.array(blocks, "<u4").tobytes() + header
        checksum = zlib.crc32(ending)
        self._file.seek(self._end)
        self._file.write(ending + END.pack(self._end, len(header), checksum) + MAGIC)
        return checksum


class _BlockChecksums:
    """The checksums of the blocks of an array that is written in parts."""

    def __init__(self) -> None:
        self.size = 0
        self.values: list[int] = []

    def extend(self, content: memoryview) -> None:
        start = 0
        while start < len(content):
            within = self.size % BLOCK
            part = content[start : start + BLOCK - within]
            self.values.append(zlib.crc32(part, self.values.pop() if within else 0))
            start += len(part)
            self.size += len(part)


class _Reader:
    """The bytes of a mapped file, which are read in order if they are many and the system can.

    That takes a third of the processor time of using what is mapped, where the system finds one missing page after
    another. A thread reads the next part while this one is used.
    """

    def __init__(self, content: mmap.mmap | bytes, descriptor: int, n_bytes: int) -> None:
        self._content, self._descriptor = memoryview(content), descriptor
        self._thread: ThreadPoolExecutor | None = None
        if n_bytes <= LARGE or not hasattr(os, "preadv"):
            return
        from concurrent.futures import ThreadPoolExecutor  # which imports much that a search does not need

        self._thread = ThreadPoolExecutor(1)
        self._part, self._spare = _Part(bytearray(PART), 0, 0), bytearray(PART)
        self._next: Future[_Part] | None = None

    def bytes_of(self, begin: int, end: int) -> memoryview:
        """Return some bytes, at most those of a block; the next call may overwrite them."""
        if self._thread is None:
            return self._content[begin:end]
        if not self._part.begin <= begin <= end <= self._part.end:
            self._advance(begin, end, self._thread)
            if end > self._part.end:  # the system may read fewer
                return self._content[begin:end]
        return memoryview(self._part.content)[begin - self._part.begin : end - self._part.begin]

    def _advance(self, begin: int, end: int, thread: ThreadPoolExecutor) -> None:
        """Take the part with these bytes, and have the one after it read, from its last block on."""
        used, part = self._part.content, None if self._next is None else self._next.result()
        if part is None or not part.begin <= begin <= end <= part.end:
            part = self._read(self._spare, begin)
        self._part, self._spare = part, used
        self._next = thread.submit(self._read, used, max(begin, part.end - BLOCK))

    def _read(self, content: bytearray, begin: int) -> _Part:
        return _Part(content, begin, begin + os.preadv(self._descriptor, [content], begin))


class ArrayFile:
    """The arrays of a file, read-only views of its memory-mapped bytes.

    Parameters
    ----------
    path
        The file.
    checksum
        The checksum that the file must have; None: the one that it states.
    remedy
        What to do about a file that is damaged.
    """

    def __init__(
        self, path: str | os.PathLike[str], checksum: int | None, remedy: str = "build the index again"
    ) -> None:
        self._path = Path(path)
        self._remedy = remedy
        self._content, self._descriptor = self._opened()
        if self._descriptor >= 0:
            finalize(self, os.close, self._descriptor)
        self._checksum, self.checksum = checksum, 0
        self._entries, self._checksums = self._checked_ending()
        self._verified = {name: np.zeros(len(values), bool) for name, values in self._checksums.items()}

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def array(self, name: str, dtype: str, dimensions: int = 1) -> NDArray[Any]:
        """Return an array that is not verified yet; InputError if the file has none of the name and type."""
        entry = self._entries.get(name)
        if entry is None or entry.dtype != dtype or len(entry.shape) != dimensions:
            raise self.damaged(f"it has no array {name} of {dtype}")
        flat = np.frombuffer(
            self._content, np.dtype(dtype).newbyteorder("<"), math.prod(entry.shape), entry.offset
        )
        return flat.astype(dtype, copy=False).reshape(entry.shape)

    def verify(self, name: str, first: int = 0, end: int | None = None, *, reader: _Reader | None = None) -> None:
        """Verify the blocks of some rows of an array, by default all; InputError if they are damaged."""
        entry, verified = self._entries[name], self._verified[name]
        row = _size_of(entry.dtype, entry.shape[1:])
        blocks = slice(first * row // BLOCK, None if end is None else -(-end * row // BLOCK))
        if verified[blocks].all():
            return
        size = _size_of(entry.dtype, entry.shape)
        reader = reader or self._reader((size if end is None else end * row) - first * row)
        for block in (np.flatnonzero(~verified[blocks]) + blocks.start).tolist():
            begin = block * BLOCK
            content = reader.bytes_of(entry.offset + begin, entry.offset + min(begin + BLOCK, size))
            if zlib.crc32(content) != self._checksums[name][block]:
                raise self.damaged(f"its array {name} does not match its checksum")
            verified[block] = True

    def stacked(self, names: Sequence[str], dtype: str) -> NDArray[Any]:
        """Return arrays of equal length, which follow each other in the file, as the rows of a matrix."""
        rows = [self.array(name, dtype) for name in names]
        size = rows[0].nbytes if rows else 0
        offsets = [self._entries[name].offset for name in names]
        if any(row.nbytes != size for row in rows) or any(b - a != size for a, b in pairwise(offsets)):
            raise self.damaged(f"{names[0]} and the arrays after it are not the rows of a matrix")
        count = len(rows) * len(rows[0]) if rows else 0
        return np.frombuffer(self._content, dtype, count, offsets[0]).reshape(len(rows), -1)

    def verified(self, name: str, dtype: str) -> NDArray[Any]:
        """Return an array that is verified as a whole."""
        array = self.array(name, dtype)
        self.verify(name)
        return array

    def verify_all(self) -> None:
        """Verify all arrays, which follow each other in the file."""
        reader = self._reader(len(self._content))
        for name in self._entries:
            self.verify(name, reader=reader)

    def damaged(self, what: str) -> InputError:
        """Return the error that says what is wrong with the file."""
        return InputError(f"{self._path} is damaged: {what}; {self._remedy}.")

    def _reader(self, n_bytes: int) -> _Reader:
        return _Reader(self._content, self._descriptor, n_bytes)

    def _opened(self) -> tuple[mmap.mmap | bytes, int]:
        """Return the mapped bytes of the file and a descriptor of it; -1 if it is empty."""
        try:
            with self._path.open("rb") as file:
                if self._path.stat().st_size == 0:
                    return b"", -1
                content, descriptor = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), os.dup(file.fileno())
        except FileNotFoundError:
            raise InputError(f"There is no file {self._path}: {self._remedy}.") from None
        except OSError as error:
            raise InputError(f"{self._path} cannot be read: {error.strerror or error}.") from error
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_SEQUENTIAL)
        return content, descriptor

    def _checked_ending(self) -> tuple[dict[str, _Entry], dict[str, NDArray[np.uint32]]]:
        """Return the arrays and the checksums of their blocks."""
        content, size = self._content, len(self._content)
        if content[: len(MAGIC)] != MAGIC:
            raise InputError(f"{self._path} is not a file of arrays; {self._remedy}.")
        if size < len(MAGIC) * 2 + START.size + END.size:
            raise self._cut_short()
        (version,) = START.unpack_from(content, len(MAGIC))
        if version != FORMAT_VERSION:
            raise InputError(
                f"{self._path} has format {version}, this version of rankwright reads format {FORMAT_VERSION}: "
                f"{self._remedy}."
            )
        if content[size - len(MAGIC) :] != MAGIC:
            raise self._cut_short()
        end = size - len(MAGIC) - END.size
        offset, header_size, checksum = END.unpack_from(content, end)
        expected = checksum if self._checksum is None else self._checksum
        if not checksum == expected == zlib.crc32(content[offset:end]) or header_size > end - offset:
            raise self.damaged("its checksum is another one")
        self.checksum = checksum
        entries = self._entries_from(content[end - header_size : end])
        return entries, self._checksums_of(entries, offset, end - header_size)

    def _checksums_of(self, entries: dict[str, _Entry], offset: int, end: int) -> dict[str, NDArray[np.uint32]]:
        counts = [-(-_size_of(entry.dtype, entry.shape) // BLOCK) for entry in entries.values()]
        if offset + 4 * sum(counts) != end:
            raise self.damaged("it has another number of checksums than blocks")
        values = np.frombuffer(self._content, "<u4", sum(counts), offset).astype(np.uint32, copy=False)
        ranges = pairwise(accumulate(counts, initial=0))
        return {name: values[first:last] for name, (first, last) in zip(entries, ranges, strict=True)}

    def _entries_from(self, header: bytes) -> dict[str, _Entry]:
        try:
            described = json.loads(header)
        except (ValueError, RecursionError):
            described = None
        if not isinstance(described, dict):
            raise self.damaged("its header is not a JSON object")
        return {name: self._entry_from(name, entry) for name, entry in described.items()}

    def _entry_from(self, name: str, described: Any) -> _Entry:
        match described:
            case [str(dtype), [*shape], int(offset)] if dtype in DTYPES and 1 <= len(shape) <= MAX_DIMENSIONS:
                is_shape = all(type(side) is int and side >= 0 for side in shape)
                is_aligned = offset >= 0 and offset % ALIGNMENT == 0
                if is_shape and is_aligned and offset + _size_of(dtype, shape) <= len(self._content):
                    return _Entry(dtype, shape, offset)
        raise self.damaged(f"array {name} is not within the file")

    def _cut_short(self) -> InputError:
        return InputError(f"{self._path} is cut short: {self._remedy}.")


def _size_of(dtype: str, shape: Sequence[int]) -> int:
    return math.prod(shape) * np.dtype(dtype).itemsize
