"""The features of documents as bin codes: what trees, stumps and pairs learn from."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError, parameter
from rankwright.base.resources import available_memory, resolve_threads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

MAX_BINS = 255
EDGES = MAX_BINS - 1  # of a column
# With fewer documents, the splits that coarse bins miss cost more than the time they save.
COARSE_DOCUMENTS = 100_000
SAMPLE_ROWS = 100_000  # from which edges come
DOCUMENT_BYTES = 120  # of labels, scores, gradients, sums and lists of rows, for each document
MEMORY_FRACTION = 0.8  # of what is free

LevelCounts: TypeAlias = "Mapping[int, int]"
"""The number of levels of each feature that trees split as a category, by the feature's number."""

NO_CATEGORIES: LevelCounts = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class BinnedFeatures:
    """The features of a training set as bin codes, with the edges between bins.

    Bin `b` of a feature holds the values with `edges[b - 1] < value <= edges[b]`; missing values have their own
    bin. If a feature has few distinct values each has its own bin, otherwise bins hold about equally many values.
    `sources` has the feature that each column of codes was made of. The levels of a category get codes before each
    tree, in an order fitted to its gradients.
    """

    matrix: _native.BinnedMatrix
    sources: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        X: NDArray[np.float32],
        rows: NDArray[np.int64],
        *,
        max_bins: int = MAX_BINS,
        coarse: bool = False,
        categories: LevelCounts = NO_CATEGORIES,
        sample: NDArray[np.int64] | None = None,
        n_jobs: int | None = None,
    ) -> BinnedFeatures:
        """Bin the given rows, in that order; edges come from all of them, or from a sample, by position.

        `categories` has the number of levels of each feature that is a category.

        If `coarse`, trees search splits in two stages: first on histograms of a few coarse bins per feature, for
        several features at once, then on all bins of the most promising features. That is much faster, and some
        splits differ.
        """
        require_bins(max_bins)
        threads = resolve_threads(n_jobs)
        positions = np.arange(len(rows)) if sample is None else sample
        edges = _native.find_all_edges(X, rows[positions], max_bins, threads)
        for feature in categories:
            edges[feature] = []
        n_levels = [categories.get(feature, 0) for feature in range(X.shape[1])]
        return cls(_native.encode(X, rows, positions, edges, coarse, threads, n_levels), np.arange(X.shape[1]))

    @classmethod
    def exact(
        cls,
        X: NDArray[np.float32],
        rows: NDArray[np.int64],
        *,
        categories: LevelCounts = NO_CATEGORIES,
        n_jobs: int | None = None,
    ) -> BinnedFeatures:
        """Bin the given rows, in that order, with an edge between any two values.

        A feature of many values has several columns, each with other edges; the values below and above them share
        the first and the last bin. Memory grows with the number of distinct values.
        """
        edges, sources = [], []
        for feature, column in enumerate(X[rows].T):
            own = _edges(column[:0] if feature in categories else column)
            parts = [own[first : first + EDGES] for first in range(0, len(own), EDGES)] or [own]
            edges += [part.tolist() for part in parts]
            sources += [feature] * len(parts)
        _require_memory(len(sources) * (X.itemsize * len(X) + len(rows)))
        wide = np.ascontiguousarray(X[:, sources])
        n_levels = [categories.get(feature, 0) for feature in sources]
        codes = _native.encode(wide, rows, rows[:0], edges, False, resolve_threads(n_jobs), n_levels)
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


def smallest(keys: NDArray[np.uint64], n: int) -> NDArray[np.int64]:
    """Return the positions of the n smallest keys, ascending; of all keys if there are no more."""
    if len(keys) <= n:
        return np.arange(len(keys))
    return np.sort(np.argpartition(keys, n - 1)[:n])


def block_rows(max_memory: int | None, n_documents: int, n_features: int, n_bytes: int) -> int:
    """Return how many documents of a mapped file to read at a time within a limit; 0: all, since they fit.

    Two blocks are in memory, the second being read ahead, and two columns; half of the memory is left for them.
    """
    if max_memory is None:
        return 0
    left = max_memory - DOCUMENT_BYTES * n_documents
    if left >= n_documents * (n_bytes + n_features):
        return 0
    rows = (left - 4 * n_documents) // (4 * max(1, n_bytes))
    if rows < 1:
        least = DOCUMENT_BYTES * n_documents + 4 * (n_documents + n_bytes)
        raise InputError(
            f"{parameter('max_memory')} must be at least {least:,} bytes for {n_documents:,} documents, "
            f"not {max_memory:,}."
        )
    return rows


def require_bins(max_bins: int) -> None:
    """Refuse an impossible number of bins."""
    whole = isinstance(max_bins, int | np.integer) and not isinstance(max_bins, bool)
    if not whole or not 2 <= max_bins <= MAX_BINS:
        raise InputError(f"max_bins must be an integer from 2 to {MAX_BINS}, not {max_bins!r}.")
