"""Nearest neighbours beside faiss's flat index, in one run: time, memory, and the recall of a graph.

`python -m benchmarks.nearest` searches the 100 nearest of 200,000 vectors of 384 components for 1,000 queries, on
two threads. Ours are integers of 8 bits, faiss's floats of 32 bits: recall is how many of its documents are ours.
Vectors are points around 500 centres, since those of texts are not all equally far apart; `--random` takes random
ones. It needs faiss-cpu. `--graph` builds a graph of neighbours too (usearch), which takes minutes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.text.index.graphs import measured_recall
from rankwright.text.index.neighbour_graph import NeighbourGraph, built_graph
from rankwright.text.index.vector_search import SearchedSegment, VectorSearch
from rankwright.text.index.vectors import document_integers

if TYPE_CHECKING:
    from rankwright.base.arrays import Floats
    from rankwright.text.index.vectors import IntegerVectors

N_DOCUMENTS, N_QUERIES, DIMENSIONS, NEAREST, THREADS, REPEATS = 200_000, 1_000, 384, 100, 2, 5
N_CENTRES, RANK = 500, 32
MEGABYTE = 1e6


def main() -> None:
    """Print the best time of each, their ratio, the recall, and the memory of vectors and search."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", action="store_true")
    parser.add_argument("--graph", action="store_true")
    options = parser.parse_args()
    points = unit(np.random.default_rng(0), N_DOCUMENTS + N_QUERIES, is_random=options.random)
    documents, queries = points[:N_DOCUMENTS], points[N_DOCUMENTS:]
    vectors = document_integers(documents)
    search = searched(vectors)
    extra = peak(lambda: search.exact(queries, NEAREST, THREADS))
    beside_faiss(search, documents, queries)
    size = vectors.rows.nbytes + vectors.scales.nbytes
    print(
        f"vectors of {size / MEGABYTE:.0f} MB, those of faiss {documents.nbytes / MEGABYTE:.0f} MB; "
        f"searching took {extra / MEGABYTE:.0f} MB more"
    )
    if options.graph:
        begin = time.perf_counter()
        graph = built_graph(vectors.rows, 1, lambda _: None)
        print(f"graph of {graph.nbytes / MEGABYTE:.0f} MB, built in {time.perf_counter() - begin:.0f} s")
        approximate = searched(vectors, NeighbourGraph(graph, DIMENSIONS, N_DOCUMENTS))
        for n in (10, NEAREST):
            print(measured_recall("points", approximate, queries, n).summary)


def searched(vectors: IntegerVectors, graph: NeighbourGraph | None = None) -> VectorSearch:
    """Return the search in one segment."""
    return VectorSearch([SearchedSegment(vectors, np.zeros(0, np.uint64), graph)])


def beside_faiss(search: VectorSearch, documents: Floats, queries: Floats) -> None:
    """Print the times of both, alternating, and the recall of ours."""
    import faiss

    faiss.omp_set_num_threads(THREADS)
    flat = faiss.IndexFlatIP(DIMENSIONS)
    flat.add(documents)
    seconds: dict[str, list[float]] = {"faiss": [], "rankwright": []}
    for _ in range(REPEATS):
        begin = time.perf_counter()
        _, expected = flat.search(queries, NEAREST)
        middle = time.perf_counter()
        nearest = search.exact(queries, NEAREST, THREADS)
        seconds["faiss"].append(middle - begin)
        seconds["rankwright"].append(time.perf_counter() - middle)
    rows = zip(nearest.by_query(), expected.tolist(), strict=True)
    recall = np.mean([len({*mine.tolist()} & {*theirs}) / NEAREST for mine, theirs in rows])
    ratio = min(seconds["faiss"]) / min(seconds["rankwright"])
    print(f"faiss {min(seconds['faiss']):.2f} s, rankwright {min(seconds['rankwright']):.2f} s: ratio {ratio:.2f}")
    print(f"recall {recall:.4f}")


def peak(work: Any) -> int:
    """Return how many bytes this process has more at most while it works; Linux only."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _status("VmRSS")
    work()
    return _status("VmHWM") - before


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def unit(random: np.random.Generator, size: int, *, is_random: bool) -> Floats:
    """Return vectors of length 1."""
    vectors = random.standard_normal((size, DIMENSIONS), dtype=np.float32)
    if not is_random:
        centres = random.standard_normal((N_CENTRES, RANK), dtype=np.float32)
        around = 0.7 * random.standard_normal((size, RANK), dtype=np.float32)
        axes = random.standard_normal((RANK, DIMENSIONS), dtype=np.float32)
        vectors += (centres[random.integers(0, N_CENTRES, size)] + around) @ axes
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


if __name__ == "__main__":
    main()
