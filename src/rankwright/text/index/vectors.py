"""Vectors of the documents of a segment, in a file of their own: rows of 8-bit integers, each with a scale.

A vector of length 1 is stored as integers from -127 to 127 times its scale. A query has integers of 16 bits. Their
products are sums of integers, which are the same on all processors.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.array_files import ArrayFile, ArrayWriter
from rankwright.base.files import write_whole
from rankwright.text.index.neighbour_graph import NeighbourGraph

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from rankwright.base.arrays import Floats

GRAPH = "graph"  # the array that only some files have
LARGEST = 127  # component of a document
LARGEST_OF_QUERY = (1 << 15) - 1
LARGEST_SUM = ((1 << 31) - 1) // 128  # of the components of a query: products then fit 32 bits


class IntegerVectors(NamedTuple):
    """Rows of integers, each with a scale."""

    rows: NDArray[Any]
    scales: Floats


def document_integers(vectors: Floats) -> IntegerVectors:
    """Return vectors as integers of 8 bits."""
    return _integers(vectors, LARGEST, np.int8)


def query_integers(vectors: Floats) -> IntegerVectors:
    """Return vectors as integers of 16 bits, or fewer if there are very many components."""
    return _integers(vectors, min(LARGEST_OF_QUERY, LARGEST_SUM // vectors.shape[1]), np.int16)


def _integers(vectors: Floats, largest: int, dtype: type[np.signedinteger[Any]]) -> IntegerVectors:
    scales = np.abs(vectors).max(axis=1, initial=0.0).astype(np.float32) / np.float32(largest)
    rows = np.rint(vectors / np.where(scales > 0, scales, 1.0)[:, None]).clip(-largest, largest)
    return IntegerVectors(rows.astype(dtype), scales)


class SegmentVectors:
    """The vectors of a segment, verified when they are first used."""

    def __init__(self, path: Path, checksum: int, n_documents: int) -> None:
        self._file = ArrayFile(path, checksum, "encode the documents again")
        rows, scales = self._file.array("rows", "int8", dimensions=2), self._file.array("scales", "float32")
        if not len(rows) == len(scales) == n_documents:
            raise self._file.damaged("the sizes of its arrays do not match")

    @cached_property
    def integers(self) -> IntegerVectors:
        """The vectors."""
        self._file.verify("rows")
        return IntegerVectors(
            self._file.array("rows", "int8", dimensions=2), self._file.verified("scales", "float32")
        )

    @property
    def has_graph(self) -> bool:
        """Whether the file has a graph of neighbours."""
        return GRAPH in self._file

    @cached_property
    def graph(self) -> NeighbourGraph | None:
        """The graph of neighbours, if there is one."""
        if not self.has_graph:
            return None
        n_documents, dimensions = self._file.array("rows", "int8", dimensions=2).shape
        return NeighbourGraph(self._file.verified(GRAPH, "uint8"), dimensions, n_documents)

    def verify(self) -> None:
        """Verify all vectors; InputError if they are damaged."""
        self._file.verify_all()


def write_vectors(path: Path, parts: Sequence[IntegerVectors], graph: NDArray[np.uint8] | None = None) -> int:
    """Write vectors to a file, with a graph of neighbours if there is one; return its checksum."""
    with write_whole(path) as file:
        writer = ArrayWriter(file)
        writer.reserve("rows", "int8", [sum(len(part.rows) for part in parts), parts[0].rows.shape[1]])
        for part in parts:
            writer.fill("rows", part.rows)
        writer.add("scales", np.concatenate([part.scales for part in parts]))
        if graph is not None:
            writer.add(GRAPH, graph)
        return writer.finish()
