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
