"""What the readers of text files share: blocks of bytes, limits, ids, and the files beside a data file."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.files import open_bytes
from rankwright.base.resources import available_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Integers

    AnyPath = str | os.PathLike[str]

MAX_LINE_BYTES = 64 << 20  # a line that does not end soon is not a line: it would fill the memory
BLOCK_BYTES = 4 << 20
MEMORY_FRACTION = 0.75  # of the available memory that a matrix may take; the rest is for working with it

# Sizes of queries and weights, as LightGBM and XGBoost keep them beside a data file.
QUERY_SUFFIXES = (".query", ".group")  # of LightGBM, of XGBoost
WEIGHT_SUFFIX = ".weight"


def read_blocks(path: AnyPath) -> Iterator[NDArray[np.uint8]]:
    """Yield the bytes of a file, decompressed, and a final line end; each block overwrites the one before.

    A full block of blanks is refused: a few kilobytes of gzip can hold gigabytes of empty lines.
    """
    block = np.empty(BLOCK_BYTES, dtype=np.uint8)
    with open_bytes(path) as file:
        while size := file.readinto(block.data):
            if size == BLOCK_BYTES and block.tobytes().isspace():
                raise InputError(f"{path} has {BLOCK_BYTES:,} bytes of empty lines in a row; remove them.")
            yield block[:size]
    yield np.frombuffer(b"\n", dtype=np.uint8)


def require_memory(path: AnyPath, n_rows: int, n_features: int, longest_query_id: int) -> None:
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
    if not all(re.fullmatch("0|-?[1-9][0-9]{0,18}", name) for name in ids):
        return None
    try:
        return np.array([int(name) for name in ids], dtype=np.int64)
    except OverflowError:
        return None


def quoted(token: bytes) -> str:
    """Return bytes of a file for use in a message: as text in quotes, shortened."""
    text = token.decode(errors="backslashreplace")
    return repr(text if len(text) <= 60 else text[:57] + "...")


def sizes_file(path: AnyPath) -> Path | None:
    """Return the file with the sizes of the queries of a data file: `train.txt.query` beside `train.txt`."""
    return _beside(path, QUERY_SUFFIXES)


def read_query_ids(sizes: Path, path: AnyPath, n_rows: int) -> Integers:
    """Return the query id of each row of a data file, queries numbered from 1.

    `sizes` holds one number per line, how many rows each query has; the rows of a query are adjacent.
    """
    counts = [_count(sizes, number, line) for number, line in enumerate(sizes.read_bytes().split(b"\n"), start=1)]
    known = np.array([count for count in counts if count is not None], dtype=np.int64)
    if known.sum() != n_rows:
        raise InputError(f"The sizes in {sizes} sum to {known.sum():,}, but {path} has {n_rows:,} documents.")
    return np.repeat(np.arange(1, len(known) + 1), known)


@dataclass(frozen=True)
class QueryColumn:
    """The query ids of a table without a column of them, from the file of the sizes of its queries."""

    name: str
    values: Integers
    holds = "query ids"

    def require_complete(self) -> None:
        """Refuse nothing: every row has a query."""

    def numbers(self) -> NDArray[Any]:
        """Return the ids as they are."""
        return self.values

    def ids(self) -> NDArray[Any]:
        """Return the ids as they are."""
        return self.values

    def texts(self) -> list[str | None]:
        """Return the ids as text."""
        return list(map(str, self.values.tolist()))


def warn_of_weights(path: AnyPath) -> None:
    """Warn that a file of weights beside a data file, which LightGBM and XGBoost would use, is not read."""
    weights = _beside(path, (WEIGHT_SUFFIX,))
    if weights is not None:
        warnings.warn(f"{weights} is not read; pass weights to fit as sample_weight.", stacklevel=3)


def _beside(path: AnyPath, suffixes: tuple[str, ...]) -> Path | None:
    name = os.fspath(path)
    bases = dict.fromkeys([name, name.removesuffix(".gz")])
    candidates = (Path(base + suffix) for base in bases for suffix in suffixes)
    return next((path for path in candidates if path.is_file()), None)


def _count(sizes: Path, number: int, line: bytes) -> int | None:
    text = line.strip()
    if not text:
        return None
    if not text.isdigit() or len(text) > 15:
        raise InputError(
            f"{sizes}, line {number}: expected the number of documents of a query, found {quoted(text)}."
        )
    return int(text)
