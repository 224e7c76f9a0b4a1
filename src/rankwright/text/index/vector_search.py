"""Nearest neighbours among the vectors of all segments: exact, or by the graphs that segments have."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.text.index.vectors import IntegerVectors, document_integers, query_integers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Floats
    from rankwright.text.index.neighbour_graph import NeighbourGraph

PROPOSED = 2  # documents of a graph that are scored, for each that is asked for
FEWEST = 64


class SearchedSegment(NamedTuple):
    """The vectors of a segment, one bit per removed document (none: empty), and its graph if it has one."""

    vectors: IntegerVectors
    removed: NDArray[np.uint64]
    graph: NeighbourGraph | None


class Nearest(NamedTuple):
    """The documents of all queries, best first, one after another; those of query q begin at offsets[q]."""

    offsets: NDArray[np.int64]
    documents: NDArray[np.int64]
    scores: Doubles

    def by_query(self) -> list[NDArray[np.int64]]:
        """Return the documents of each query."""
        return np.split(self.documents, self.offsets[1:-1])


class VectorSearch:
    """The vectors of one encoder in all segments; documents are numbered consecutively."""

    def __init__(self, segments: Sequence[SearchedSegment]) -> None:
        self._segments = [*segments]
        self._starts = np.cumsum([0, *(len(segment.vectors.rows) for segment in segments)])

    def nearest(self, queries: Floats, n: int, n_threads: int) -> Nearest:
        """Return the n documents with the highest products of each query, by graphs in segments that have one."""
        if not any(segment.graph for segment in self._segments):
            return self.exact(queries, n, n_threads)
        proposed = [
            [numbers + start for numbers in _proposed(segment, queries, n, n_threads)]
            for segment, start in zip(self._segments, self._starts, strict=False)
        ]
        return self._best([np.sort(np.concatenate(lists)) for lists in zip(*proposed, strict=True)], queries, n)

    def exact(self, queries: Floats, n: int, n_threads: int) -> Nearest:
        """Return the n documents with the highest products of each query, by scoring all documents."""
        asked, removed = self._asked(queries), [segment.removed for segment in self._segments]
        nearest = Nearest(*_native.nearest_vectors(*self._arrays(), removed, asked.rows, n=n, n_threads=n_threads))
        return nearest._replace(scores=_scaled(nearest.scores, asked, nearest.offsets))

    def scores(self, queries: Floats, documents: Sequence[NDArray[np.int64]], n_threads: int) -> Doubles:
        """Return the products of each query's documents, one after another; those that `nearest` gives."""
        asked = self._asked(queries)
        offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
        numbers = np.concatenate([np.zeros(0, np.int64), *documents])
        scores = _native.vector_scores(*self._arrays(), asked.rows, offsets, numbers, n_threads)
        return _scaled(scores, asked, offsets)

    def sample(self, n: int) -> Floats:
        """Return the vectors of some documents, as queries to measure with."""
        parts = []
        for rows, scales in (segment.vectors for segment in self._segments):
            filled = np.flatnonzero(scales > 0)
            chosen = np.random.default_rng(0).permutation(filled)[: max(1, n * len(rows) // self._starts[-1])]
            parts.append(rows[chosen] * scales[chosen, None])
        return np.concatenate(parts)

    def _best(self, documents: Sequence[NDArray[np.int64]], queries: Floats, n: int) -> Nearest:
        """Return the n best of each query's documents, which are by number."""
        offsets = np.cumsum([0, *map(len, documents)])
        scores = self.scores(queries, documents, 1)
        orders = [begin + _order(scores[begin:end])[:n] for begin, end in pairwise(offsets)]
        rows = np.concatenate(orders)
        sizes = np.cumsum([0, *map(len, orders)], dtype=np.int64)
        return Nearest(sizes, np.concatenate([*documents])[rows], scores[rows])

    def _arrays(self) -> tuple[list[NDArray[Any]], list[Floats]]:
        vectors = [segment.vectors for segment in self._segments]
        return [part.rows for part in vectors], [part.scales for part in vectors]

    def _asked(self, queries: Floats) -> IntegerVectors:
        dimensions = {segment.vectors.rows.shape[1] for segment in self._segments} | {queries.shape[1]}
        if len(dimensions) > 1:
            raise InputError(f"Vectors of documents and queries differ in length: {sorted(dimensions)}.")
        return query_integers(queries)


def _proposed(segment: SearchedSegment, queries: Floats, n: int, n_threads: int) -> list[NDArray[np.int64]]:
    """Return documents of a segment for each query: the n nearest, or more that its graph takes for near."""
    exact = VectorSearch([segment._replace(graph=None)])
    if segment.graph is None:
        return exact.exact(queries, n, n_threads).by_query()
    kept = _kept(segment)
    n_kept = max(1, int(np.count_nonzero(kept)))
    wanted = max(FEWEST, PROPOSED * n) * len(kept) // n_kept  # removed documents are in the graph too
    lists = segment.graph.nearest(document_integers(queries).rows, min(wanted, len(kept)), n_threads)
    lists = [numbers[kept[numbers]] for numbers in lists]
    for query, numbers in enumerate(lists):
        if len(numbers) < min(n, n_kept):  # the graph does not reach enough of them
            lists[query] = exact.exact(queries[query : query + 1], n, n_threads).documents
    return lists


def _kept(segment: SearchedSegment) -> NDArray[np.bool_]:
    """Return which documents of a segment are not removed."""
    n_documents = len(segment.vectors.rows)
    if not len(segment.removed):
        return np.ones(n_documents, bool)
    bits = np.unpackbits(segment.removed.astype("<u8").view(np.uint8), count=n_documents, bitorder="little")
    return np.logical_not(bits)


def _order(scores: Doubles) -> NDArray[np.int64]:
    if not len(scores):
        return np.zeros(0, np.int64)
    return Ranking.of(scores, QueryGroups.of_sizes([len(scores)])).order


def _scaled(scores: Doubles, asked: IntegerVectors, offsets: NDArray[np.int64]) -> Doubles:
    return scores * np.repeat(asked.scales.astype(np.float64), np.diff(offsets))
