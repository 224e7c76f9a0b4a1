"""Features as 8-bit codes, by which trees are grown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.errors import InputError
from rankwright.threads import resolve_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_BINS = 255
SAMPLE_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class BinnedFeatures:
    """A training set's features as codes, with the edges between them.

    Code `c` of a feature holds the values with `edges[c - 1] < value <= edges[c]`; a missing value has a code of
    its own. Where a feature has few values each has its own code, otherwise codes hold about equally many.
    """

    matrix: _native.BinnedMatrix

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
        """Bin the rows listed, in that order; edges come from all of them, or from a random sample.

        If `coarse`, histograms are made of a few levels a feature, several features at once, and trees look at
        single codes only where those levels promise most: much quicker, and not quite the same splits.
        """
        require_bins(max_bins)
        threads = resolve_threads(n_jobs)
        sample = rows[_sample(len(rows), sample_rows, seed)]
        edges = _native.find_all_edges(X, sample, max_bins, threads)
        return cls(_native.encode(X, rows, edges, coarse, threads))

    @property
    def n_rows(self) -> int:
        """Number of documents."""
        return self.matrix.n_rows

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.matrix.n_features


def _sample(n_rows: int, most: int, seed: int) -> NDArray[np.int64]:
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, most, replace=False))


def require_bins(max_bins: int) -> None:
    """Refuse a number of codes that a feature cannot have."""
    whole = isinstance(max_bins, int | np.integer) and not isinstance(max_bins, bool)
    if not whole or not 2 <= max_bins <= MOST_BINS:
        raise InputError(f"max_bins must be a whole number from 2 to {MOST_BINS}, not {max_bins!r}.")
