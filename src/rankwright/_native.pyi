"""Typed face of the C++ core. Every array is contiguous; a query's places are offsets[q] to offsets[q + 1]."""

import numpy as np
from numpy.typing import NDArray

def sort_within_queries(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    scores: NDArray[np.float64],
    tie_break: NDArray[np.float64] | None,
    n_threads: int,
) -> NDArray[np.int64]: ...
def discounted_gains(
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    scores: NDArray[np.float64],
    average_ties: bool,
    gains: NDArray[np.float64],
    discounts: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
def mean_ndcgs(
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    scores: NDArray[np.float64],
    average_ties: bool,
    gains: NDArray[np.float64],
    discounts: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
def ideal_gains(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    gains: NDArray[np.float64],
    discounts: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
def precision_sums(
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    scores: NDArray[np.float64],
    average_ties: bool,
    relevance: NDArray[np.float64],
    depth: int | None,
    n_threads: int,
) -> NDArray[np.float64]: ...
def reciprocal_ranks(
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    scores: NDArray[np.float64],
    average_ties: bool,
    relevance: NDArray[np.float64],
    depth: int | None,
    n_threads: int,
) -> NDArray[np.float64]: ...
def expected_reciprocal_ranks(
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    scores: NDArray[np.float64],
    average_ties: bool,
    stop_probability: NDArray[np.float64],
    depth: int | None,
    n_threads: int,
) -> NDArray[np.float64]: ...
def correct_pairs(
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    scores: NDArray[np.float64],
    average_ties: bool,
    labels: NDArray[np.float64],
    n_threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
