"""What the readers of text files share: blocks of bytes, limits, and ids."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.files import open_bytes
from rankwright.base.memory import available_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from rankwright.base.arrays import Integers

MAX_LINE_BYTES = 64 << 20  # a line that does not end soon is not a line: it would fill the memory
BLOCK_BYTES = 4 << 20
MEMORY_FRACTION = 0.75  # of the available memory that a matrix may take; the rest is for working with it


def read_blocks(path: str | PathLike[str]) -> Iterator[NDArray[np.uint8]]:
    """Yield the bytes of a file, decompressed, and a final line end; each block overwrites the one before."""
    block = np.empty(BLOCK_BYTES, dtype=np.uint8)
    with open_bytes(path) as file:
        while size := file.readinto(block.data):
            yield block[:size]
    yield np.frombuffer(b"\n", dtype=np.uint8)


def require_memory(path: str | PathLike[str], n_rows: int, n_features: int, longest_query_id: int) -> None:
    """Refuse a file whose matrix and query ids would not fit into the available memory.

    Query ids that are text take the width of the longest one in every row.
    """
    matrix, ids = n_rows * n_features * 4, n_rows * longest_query_id * 4
    usable = MEMORY_FRACTION * available_memory()
    if matrix + ids > usable:
        long_ids = f" and query ids of up to {longest_query_id:,} characters" if ids > matrix else ""
        raise InputError(
            f"{path} has at least {n_rows:,} documents x {n_features:,} features{long_ids}, which take "
            f"{(matrix + ids) / 2**30:,.1f} GiB of memory, and {usable / 2**30:,.1f} GiB can be used: "
            f"{'use shorter ids' if long_ids else 'number the features without gaps'}, split the file, or use "
            "a machine with more memory."
        )


def integer_ids(ids: Sequence[str]) -> Integers | None:
    """Return ids as integers if all of them are written as integers are (007 is not), otherwise None."""
    if not all(re.fullmatch("0|-?[1-9][0-9]{0,18}", one) for one in ids):
        return None
    try:
        return np.array([int(one) for one in ids], dtype=np.int64)
    except OverflowError:
        return None


def quoted(found: bytes) -> str:
    """Return bytes of a file for use in a message: as text in quotes, shortened."""
    text = found.decode(errors="backslashreplace")
    return repr(text if len(text) <= 60 else text[:57] + "...")
