"""Features as 8-bit bin codes, on which trees are grown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.base.memory import available_memory
from rankwright.base.threads import resolve_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_BINS = 255
EDGES = MOST_BINS - 1  # of a column
SAMPLE_ROWS = 100_000
MEMORY_FRACTION = 0.8  # of what is free


@dataclass(frozen=True, eq=False)
class BinnedFeatures:
    """The features of a training set as bin codes, with the edges between bins.

    Bin `b` of a feature holds the values with `edges[b - 1] < value <= edges[b]`; missing values have their own
    bin. If a feature has few distinct values each has its own bin, otherwise bins hold about equally many values.
    `sources` has the feature that each column of codes was made of.
    """

    matrix: _native.BinnedMatrix
    sources: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        X: NDArray[np.float32],
        rows: NDArray[np.int64],
        *,
        max_bins: int = MOST_BINS,
        coarse: bool = False,
        sample_rows: int = SAMPLE_ROWS,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> BinnedFeatures:
        """Bin the given rows, in that order; edges come from all of them, or from a random sample of them.

        If `coarse`, trees search splits in two stages: first on histograms of a few coarse bins per feature, for
        several features at once, then on all bins of the most promising features. That is much faster, and some
        splits differ.
        """
        require_bins(max_bins)
        threads = resolve_threads(n_jobs)
        sample = rows[_sample(len(rows), sample_rows, seed)]
        edges = _native.find_all_edges(X, sample, max_bins, threads)
        return cls(_native.encode(X, rows, edges, coarse, threads), np.arange(X.shape[1]))

    @classmethod
    def exact(
        cls, X: NDArray[np.float32], rows: NDArray[np.int64], *, n_jobs: int | None = None
    ) -> BinnedFeatures:
        """Bin the given rows, in that order, with an edge between any two values.

        A feature of many values has several columns, each with other edges; the values below and above them share
        the first and the last bin. Memory grows with the number of distinct values.
        """
        edges, sources = [], []
        for feature, column in enumerate(X[rows].T):
            own = _edges(column)
            parts = [own[first : first + EDGES] for first in range(0, len(own), EDGES)] or [own]
            edges += [part.tolist() for part in parts]
            sources += [feature] * len(parts)
        _require_memory(len(sources) * (X.itemsize * len(X) + len(rows)))
        wide = np.ascontiguousarray(X[:, sources])
        codes = _native.encode(wide, rows, edges, False, resolve_threads(n_jobs))
        return cls(codes, np.array(sources, dtype=np.int64))

    @property
    def n_rows(self) -> int:
        """Number of documents."""
        return self.matrix.n_rows

    @property
    def n_features(self) -> int:
        """Number of columns of codes."""
        return self.matrix.n_features

    @property
    def n_sources(self) -> int:
        """Number of features that the columns were made of."""
        return int(self.sources.max(initial=-1)) + 1

    def source(self, column: int) -> int:
        """Return the feature that a column was made of."""
        return int(self.sources[column])


def count_exact_codes(X: NDArray[np.float32]) -> int:
    """Return the number of codes of `BinnedFeatures.exact`, one byte each."""
    distinct = np.array([len(np.unique(column[~np.isnan(column)])) for column in X.T], dtype=np.int64)
    return len(X) * int(np.maximum(1, -((1 - distinct) // EDGES)).sum())


def _require_memory(n_bytes: int) -> None:
    """Refuse codes that would not fit into memory: they grow with the documents times their distinct values."""
    usable = MEMORY_FRACTION * available_memory()
    if n_bytes > usable:
        raise InputError(
            f"Every threshold of these features takes {n_bytes / 2**30:,.1f} GiB of memory, and "
            f"{usable / 2**30:,.1f} GiB can be used: leave out all_thresholds, or round the features."
        )


def _edges(column: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the number half way between any two neighbouring values, or the lower one where there is none."""
    values = np.unique(column[~np.isnan(column)])
    low, high = values[:-1], values[1:]
    middle = ((low.astype(np.float64) + high) / 2.0).astype(np.float32)
    return np.where((low <= middle) & (middle < high), middle, low)


def _sample(n_rows: int, most: int, seed: int) -> NDArray[np.int64]:
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, most, replace=False))


def require_bins(max_bins: int) -> None:
    """Refuse an impossible number of bins."""
    whole = isinstance(max_bins, int | np.integer) and not isinstance(max_bins, bool)
    if not whole or not 2 <= max_bins <= MOST_BINS:
        raise InputError(f"max_bins must be an integer from 2 to {MOST_BINS}, not {max_bins!r}.")
