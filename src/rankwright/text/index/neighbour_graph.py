"""Graphs of neighbours (HNSW, by usearch): approximate search in large segments.

A graph is kept in the file of a segment's vectors. It proposes documents, which are then scored like all others:
scores are exact, and only which documents are found is approximate.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

BLOCK = 4096  # documents that are added together


class NeighbourGraph:
    """The graph of a segment, viewed in its memory-mapped file."""

    def __init__(self, content: NDArray[np.uint8], dimensions: int, n_documents: int) -> None:
        self._content = content
        self._graph = _new_graph(dimensions)
        self._lock = Lock()  # two searches at once would use the same buffers of usearch
        with suppress(RuntimeError):
            self._graph.view(content.data)
        if not 0 < len(self._graph) <= n_documents or self._graph.ndim != dimensions:
            raise InputError(
                "This version of usearch cannot read the graph of neighbours: drop it (Index.drop_graph, index "
                "--no-graph) and build it again."
            )

    def nearest(self, queries: NDArray[np.int8], n: int, n_threads: int) -> list[NDArray[np.int64]]:
        """Return the numbers of about the n nearest documents of each query, in no particular order."""
        with self._lock:
            matches = self._graph.search(queries, n, threads=n_threads)
        if len(queries) == 1:
            return [np.asarray(matches.keys, np.int64)]
        return [keys[:count].astype(np.int64) for keys, count in zip(matches.keys, matches.counts, strict=True)]


def built_graph(rows: NDArray[np.int8], n_threads: int, on_progress: Callable[[int], None]) -> Any:
    """Return the graph of vectors as bytes, None if all are zero; with one thread it is always the same."""
    graph = _new_graph(rows.shape[1])
    numbers = np.flatnonzero(rows.any(axis=1))  # documents without text have no neighbours
    for first in range(0, len(numbers), BLOCK):
        block = numbers[first : first + BLOCK]
        graph.add(block.astype(np.uint64), rows[block], threads=n_threads)
        on_progress(len(block))
    return np.frombuffer(graph.save(), np.uint8) if len(numbers) else None


def _new_graph(dimensions: int) -> Any:
    with suppress(ImportError):
        import_module("onnxruntime")  # imported after usearch, which an encoder may do, it crashes
    try:
        return import_module("usearch.index").Index(ndim=dimensions, metric="cos", dtype="i8")
    except ModuleNotFoundError:
        raise MissingPackageError(
            "The graph of neighbours needs usearch: pip install 'rankwright[graph]', or drop the graph "
            "(Index.drop_graph, index --no-graph)."
        ) from None
