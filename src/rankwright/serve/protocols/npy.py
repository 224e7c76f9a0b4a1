"""Matrices in numpy's format (`numpy.save`), read without a copy."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

from rankwright.base.arrays import checked_features
from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Floats

MEDIA_TYPE = "application/x-npy"
MAX_HEADER = 1_000  # bytes; that of a matrix of numbers has 128
MAX_SIZE = 1 << 31  # rows or columns
KINDS = ("f", "i", "u")


def read_matrix(body: bytes) -> Floats:
    """Return the matrix of features in a body, one row per document; anything else is refused."""
    start = _end_of_header(body)
    shape, fortran, dtype = _header(body[:start])
    if dtype.kind not in KINDS or dtype.itemsize > 8:
        raise InputError(f"The matrix must hold floats or integers of at most 64 bits, not {dtype.name}.")
    if len(shape) != 2 or any(type(size) is not int or not 0 < size <= MAX_SIZE for size in shape):
        raise InputError(f"The body must hold a matrix with one row per document, not an array of shape {shape}.")
    if len(body) - start != shape[0] * shape[1] * dtype.itemsize:
        raise InputError(f"The matrix of shape {shape} is cut short, or something follows it.")
    values = np.frombuffer(body, dtype, offset=start)
    matrix = values.reshape(shape[::-1]).T if fortran else values.reshape(shape)
    # Models themselves refuse infinite values, if they must.
    return matrix if dtype == np.float32 else checked_features(matrix, allow_infinite=True)


def write_array(values: NDArray[Any]) -> bytes:
    """Return an array of numbers in numpy's format."""
    return _header_of(values.dtype, values.shape) + values.tobytes()


@lru_cache(maxsize=256)
def _header_of(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    content = io.BytesIO()
    npy.write_array_header_1_0(content, {"descr": dtype.str, "fortran_order": False, "shape": shape})
    return content.getvalue()


def _end_of_header(body: bytes) -> int:
    if len(body) < 10 or not body.startswith(npy.MAGIC_PREFIX) or body[6:8] != b"\x01\x00":
        raise InputError("The body is not an array that numpy.save wrote (.npy, version 1).")
    end = 10 + int.from_bytes(body[8:10], "little")
    if end > min(MAX_HEADER, len(body)):
        raise InputError("The header of the array is longer than that of a matrix of numbers, or cut short.")
    return end


@lru_cache(maxsize=256)
def _header(start: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order and type; cached, since numpy parses slowly."""
    try:
        return npy.read_array_header_1_0(io.BytesIO(start[8:]), max_header_size=MAX_HEADER)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise InputError("The header of the array cannot be read.") from None
