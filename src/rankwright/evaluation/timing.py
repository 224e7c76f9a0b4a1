"""How long scoring a document takes."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankwright.data.dataset import RankingData

SAMPLE = 5_000  # documents that scoring is timed on, or one query if that has more
REPEATS = 7


def timing_sample(data: RankingData) -> RankingData:
    """Return the first queries, with about as many documents as a timing needs."""
    n_queries = int(np.searchsorted(data.groups.offsets[1:], SAMPLE)) + 1
    return data.take_queries(np.arange(min(n_queries, len(data.groups))))


def microseconds_per_document(
    score: Callable[[RankingData], Any], sample: RankingData, *, seconds: float = 0.0
) -> float:
    """Return the microseconds in which documents are scored, each: the fastest of several runs.

    On a busy machine the fastest of few runs may take twice as long as it would alone; with `seconds`, runs go on
    for at least that time.
    """
    runs: list[float] = []
    end = perf_counter() + seconds
    while len(runs) < REPEATS or perf_counter() < end:
        started = perf_counter()
        score(sample)
        runs.append(perf_counter() - started)
    return min(runs) / len(sample) * 1e6
