"""Exact search for the best combination of two rankers against a grid of alphas, and its cost by query length."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.data.groups import QueryGroups
from rankwright.ensembling.line_search import LineSearch
from rankwright.metrics import AP, ERR, NDCG, RR, Metric

if TYPE_CHECKING:
    from collections.abc import Callable

N_QUERIES = 1_000
LENGTHS = (25, 50, 100, 200)
METRICS = (NDCG(k=10), NDCG(), AP(), RR(), ERR(k=10))
GRID = np.linspace(0.0, 1.0, 101)
REPEATS = 5


def run() -> dict[str, Any]:
    """Sweep on one thread: every metric with 50 documents per query, NDCG@10 with several lengths."""
    kinds = {"alike": 1.0, "unlike": 0.0}
    by_metric = {
        (str(metric), kind): _measure(metric, 50, common) for metric in METRICS for kind, common in kinds.items()
    }
    by_length = {
        (length, kind): _measure(METRICS[0], length, common)
        for length in LENGTHS
        for kind, common in kinds.items()
    }
    return {"metrics": by_metric, "lengths": by_length, "grid": _measure_grid()}


def main() -> None:
    """Print three tables."""
    results = run()
    print(f"Blending: {N_QUERIES:,} queries, one thread, milliseconds of processor time, best of {REPEATS}")
    print("(first two similar rankers, then two unrelated ones; in brackets, the number of steps of the curve)")
    for metric in map(str, METRICS):
        print(f"{metric:<12} x 50 documents {_both(results['metrics'], metric)}")
    for length in LENGTHS:
        print(f"{METRICS[0]!s:<12} x {length:<3} documents{_both(results['lengths'], length)}")
    found, exact, seconds = results["grid"]
    print(
        f"a grid of {len(GRID)} alphas, x 50: {1e3 * seconds:.1f} ms, finds {found:.6f}; the best is {exact:.6f}"
    )


def _both(results: dict[Any, tuple[float, int]], key: Any) -> str:
    cells = (results[key, kind] for kind in ("alike", "unlike"))
    return "".join(f"{1e3 * seconds:>10.1f} ({steps:,})" for seconds, steps in cells)


def _measure(metric: Metric, length: int, common: float) -> tuple[float, int]:
    search, s, t = _search(metric, length, common)
    curve = search.curve(s, t, low=0.0, high=np.inf)
    return _time(lambda: search.curve(s, t, low=0.0, high=np.inf)), len(curve)


def _measure_grid() -> tuple[float, float, float]:
    """Return the best value on the grid, the exact maximum, and the seconds that the grid takes."""
    search, s, t = _search(METRICS[0], 50, 1.0)

    def best_of_grid() -> float:
        return max(search.value((1.0 - alpha) * s + alpha * t) for alpha in GRID)

    exact = search.curve(s, t, low=0.0, high=np.inf).values.max()
    return best_of_grid(), float(exact), _time(best_of_grid)


def _search(metric: Metric, length: int, common: float) -> tuple[LineSearch, Any, Any]:
    rng = np.random.default_rng(0)
    labels = rng.choice(5, p=[0.5, 0.25, 0.15, 0.07, 0.03], size=N_QUERIES * length).astype(float)
    s, t = rng.normal(size=(2, len(labels))) + common * labels
    groups = QueryGroups.of_sizes([length] * N_QUERIES)
    return LineSearch(metric, labels, groups, n_threads=1), s, t


def _time(work: Callable[[], Any]) -> float:
    """Return the least processor seconds of several calls."""
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


if __name__ == "__main__":
    main()
