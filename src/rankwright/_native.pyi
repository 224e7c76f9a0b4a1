"""Typed face of the C++ core. Every array is contiguous; query q's places are offsets[q] to offsets[q + 1]."""

import numpy as np
from numpy.typing import NDArray

def sort_within_queries(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    scores: NDArray[np.float64],
    tie_break: NDArray[np.float64] | None,
    n_threads: int,
) -> NDArray[np.int64]: ...
def widest_path() -> int: ...
def count_above(scores: NDArray[np.float64], path: int) -> NDArray[np.int64]: ...
def discounted_gains(
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    scores: NDArray[np.float64],
    average_ties: bool,
    gains: NDArray[np.float64],
    discounts: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
def ndcgs(
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
def average_precisions(
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    scores: NDArray[np.float64],
    average_ties: bool,
    labels: NDArray[np.float64],
    threshold: float,
    depth: int | None,
    capped: bool,
    n_threads: int,
) -> NDArray[np.float64]: ...
def reciprocal_ranks(
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    scores: NDArray[np.float64],
    average_ties: bool,
    labels: NDArray[np.float64],
    threshold: float,
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
def pair_accuracies(
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    scores: NDArray[np.float64],
    average_ties: bool,
    labels: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
