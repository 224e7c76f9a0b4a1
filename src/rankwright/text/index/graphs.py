"""Builds and drops the graphs of neighbours of an index, and measures what they find."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted, measured, percent
from rankwright.reports.result import Result
from rankwright.text.index.changes import segments_of
from rankwright.text.index.neighbour_graph import built_graph
from rankwright.text.index.vectors import write_vectors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rankwright.base.arrays import Floats
    from rankwright.text.index.manifest import Manifest
    from rankwright.text.index.vector_search import VectorSearch
    from rankwright.text.index.vectors import IntegerVectors

N_QUERIES = 200  # documents that stand for queries, where none are given


@dataclass(frozen=True, repr=False)
class GraphRecall(Result):
    """What a graph of neighbours finds of the nearest documents, and how fast.

    Parameters
    ----------
    encoder
        The encoder of the vectors.
    n, n_queries
        The number of nearest documents of each query, and the number of queries.
    recall
        The fraction of the nearest documents that the graph finds: the mean over queries.
    milliseconds, exact_milliseconds
        The time of a query by the graph, and by scoring all documents; one query after another, on one thread.
    """

    encoder: str
    n: int
    n_queries: int
    recall: float
    milliseconds: float
    exact_milliseconds: float

    @property
    def summary(self) -> str:
        return (
            f"The graph of {self.encoder} finds {percent(self.recall)} of the "
            f"{counted(self.n, 'nearest document')} of {counted(self.n_queries, 'query')}, in "
            f"{measured(self.milliseconds)} ms each; scoring all documents takes "
            f"{measured(self.exact_milliseconds)} ms."
        )


def encoders_with_graphs(folder: Path, manifest: Manifest) -> list[str]:
    """Return the encoders with a graph in any segment."""
    segments = segments_of(folder, manifest)
    return [name for name in manifest.encoders if any(segment.vectors[name].has_graph for segment in segments)]


def with_graphs(
    folder: Path,
    manifest: Manifest,
    encoder: str,
    *,
    n_threads: int = 1,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Manifest:
    """Return the manifest with graphs of an encoder's vectors in all segments; their files are written."""

    def graph_of(vectors: IntegerVectors) -> Any:
        return built_graph(vectors.rows, n_threads, on_progress)

    return _rewritten(folder, manifest, encoder, graph_of, has_graph=False)


def without_graphs(folder: Path, manifest: Manifest, encoder: str) -> Manifest:
    """Return the manifest without graphs of an encoder's vectors; new files are written."""
    return _rewritten(folder, manifest, encoder, lambda _: None, has_graph=True)


def _rewritten(
    folder: Path,
    manifest: Manifest,
    encoder: str,
    graph_of: Callable[[IntegerVectors], Any],
    *,
    has_graph: bool,
) -> Manifest:
    """Return the manifest with new files for the segments that have a graph, or for those that have none."""
    entries = []
    for segment in segments_of(folder, manifest):
        entry = segment.entry
        if segment.vectors[encoder].has_graph == has_graph:
            vectors = segment.vectors[encoder].integers
            name, manifest = manifest.new_file("vectors")
            checksum = write_vectors(folder / name, [vectors], graph_of(vectors))
            entry = replace(entry, vectors={**entry.vectors, encoder: [name, checksum]})
        entries.append(entry)
    return replace(manifest, segments=tuple(entries))


def measured_queries(search: VectorSearch, queries: Floats | None) -> Floats:
    """Return the vectors to measure recall with: those of queries, by default of some documents."""
    asked = search.sample(N_QUERIES) if queries is None else queries
    if not len(asked):
        raise InputError("There is nothing to measure recall with: no query, or no document with a vector.")
    return asked


def measured_recall(encoder: str, search: VectorSearch, queries: Floats, n: int) -> GraphRecall:
    """Compare what graphs find with the exact result."""
    nearest, milliseconds = _timed(search.nearest, queries, n)
    exact, exact_milliseconds = _timed(search.exact, queries, n)
    pairs = zip(nearest, exact, strict=True)
    recall = float(np.mean([len({*mine} & {*best}) / max(1, len(best)) for mine, best in pairs]))
    return GraphRecall(encoder, n, len(queries), recall, milliseconds, exact_milliseconds)


def _timed(search: Any, queries: Floats, n: int) -> tuple[list[list[int]], float]:
    """Return the documents of each query, and the mean time of a query in milliseconds."""
    begin = time.perf_counter()
    lists = [search(queries[row : row + 1], n, 1).documents.tolist() for row in range(len(queries))]
    return lists, 1000.0 * (time.perf_counter() - begin) / len(queries)
