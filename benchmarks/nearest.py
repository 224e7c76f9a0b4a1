"""Exact nearest neighbours beside faiss's flat index, in one run.

`python -m benchmarks.nearest` searches the 100 nearest of 200,000 random vectors of 384 components for 1,000
queries, on two threads. Ours are integers of 8 bits, faiss's floats of 32 bits: recall says how many of its
documents are ours. It needs faiss-cpu.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from rankwright import _native
from rankwright.text.index.vectors import document_integers, query_integers

N_DOCUMENTS, N_QUERIES, DIMENSIONS, NEAREST, THREADS, REPEATS = 200_000, 1_000, 384, 100, 2, 5


def main() -> None:
    """Print the best time of each, their ratio, the recall and the sizes of the vectors."""
    import faiss

    random = np.random.default_rng(0)
    documents, queries = (unit(random, size) for size in (N_DOCUMENTS, N_QUERIES))
    vectors, asked = document_integers(documents), query_integers(queries)
    faiss.omp_set_num_threads(THREADS)
    flat = faiss.IndexFlatIP(DIMENSIONS)
    flat.add(documents)
    arrays: Any = ([vectors.rows], [vectors.scales], [np.zeros(0, np.uint64)])
    seconds: dict[str, list[float]] = {"faiss": [], "rankwright": []}
    for _ in range(REPEATS):
        begin = time.perf_counter()
        _, expected = flat.search(queries, NEAREST)
        middle = time.perf_counter()
        _, nearest, _ = _native.nearest_vectors(*arrays, asked.rows, NEAREST, THREADS)
        seconds["faiss"].append(middle - begin)
        seconds["rankwright"].append(time.perf_counter() - middle)
    rows = zip(nearest.reshape(N_QUERIES, NEAREST).tolist(), expected.tolist(), strict=True)
    recall = np.mean([len({*mine} & {*theirs}) / NEAREST for mine, theirs in rows])
    ratio = min(seconds["faiss"]) / min(seconds["rankwright"])
    size = vectors.rows.nbytes + vectors.scales.nbytes
    print(f"faiss {min(seconds['faiss']):.2f} s, rankwright {min(seconds['rankwright']):.2f} s: ratio {ratio:.2f}")
    print(f"recall {recall:.4f}; vectors of {size / 1e6:.0f} MB, those of faiss {documents.nbytes / 1e6:.0f} MB")


def unit(random: np.random.Generator, size: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return random vectors of length 1."""
    vectors = random.standard_normal((size, DIMENSIONS), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


if __name__ == "__main__":
    main()
