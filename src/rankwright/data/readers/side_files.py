"""The files that LightGBM and XGBoost keep beside a data file: sizes of queries, and weights."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.readers.text_blocks import quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Integers

QUERY_SUFFIXES = (".query", ".group")  # of LightGBM, of XGBoost
WEIGHT_SUFFIX = ".weight"


def sizes_file(path: str | os.PathLike[str]) -> Path | None:
    """Return the file with the sizes of the queries of a data file: `train.txt.query` beside `train.txt`."""
    return _beside(path, QUERY_SUFFIXES)


def read_query_ids(sizes: Path, path: str | os.PathLike[str], n_rows: int) -> Integers:
    """Return the query id of each row of a data file, queries numbered from 1.

    `sizes` holds one number per line, how many rows each query has; the rows of a query are adjacent.
    """
    counts = [_count(sizes, number, line) for number, line in enumerate(sizes.read_bytes().split(b"\n"), start=1)]
    known = np.array([one for one in counts if one is not None], dtype=np.int64)
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


def warn_of_weights(path: str | os.PathLike[str]) -> None:
    """Warn that a file of weights beside a data file, which LightGBM and XGBoost would use, is not read."""
    weights = _beside(path, (WEIGHT_SUFFIX,))
    if weights is not None:
        warnings.warn(f"{weights} is not read; pass weights to fit as sample_weight.", stacklevel=3)


def _beside(path: str | os.PathLike[str], suffixes: tuple[str, ...]) -> Path | None:
    name = os.fspath(path)
    bases = dict.fromkeys([name, name.removesuffix(".gz")])
    candidates = (Path(base + suffix) for base in bases for suffix in suffixes)
    return next((one for one in candidates if one.is_file()), None)


def _count(sizes: Path, number: int, line: bytes) -> int | None:
    text = line.strip()
    if not text:
        return None
    if not text.isdigit() or len(text) > 15:
        raise InputError(
            f"{sizes}, line {number}: expected the number of documents of a query, found {quoted(text)}."
        )
    return int(text)
