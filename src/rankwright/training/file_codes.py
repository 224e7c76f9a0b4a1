"""The second pass over files of judged documents: codes of features, in canonical order, to a file of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.base.files import scratch_folder
from rankwright.base.resources import available_memory
from rankwright.data.dataset import content_hashes, query_hashes
from rankwright.training.file_survey import weights_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from rankwright.base.array_files import ArrayWriter
    from rankwright.data.dataset import RankingData
    from rankwright.training.file_survey import Bins, Survey

BUCKET_BYTES = 128 << 20  # of records that are sorted in memory, or so much of the memory
BUCKET_FRACTION = 1 / 32
ALIGNED = 64  # documents; columns of codes are padded to a multiple
NO_LEVEL = 0xFFFFFFFF  # as in native code


class Binner:
    """The second pass: codes go to buckets of adjacent queries, and each bucket, sorted, to the file."""

    def __init__(self, known: Survey, bins: Bins, n_threads: int, *, coarse: bool) -> None:
        self._known, self._bins, self._n_threads = known, bins, n_threads
        self._binning = bins.binning(coarse=coarse)
        self._levelled = [feature for feature, rows in enumerate(bins.level_rows) if rows]
        order = known.queries.canonical_order()
        self._sizes = known.queries.sizes[order]
        self._position = np.empty(len(order), np.int64)  # of each query in canonical order
        self._position[order] = np.arange(len(order))
        self._record = np.dtype(
            [
                ("query", "<i8"),
                ("content", "<u8"),
                ("label", "<f8"),
                ("weight", "<f8", (int(known.weight is not None),)),
                ("levels", "<u4", (len(self._levelled),)),
                ("codes", "u1", (len(bins.edges),)),
            ]
        )
        n_documents = np.cumsum(self._sizes) - self._sizes
        bucket_bytes = max(BUCKET_BYTES, int(BUCKET_FRACTION * available_memory()))
        self._bucket = n_documents * self._record.itemsize // bucket_bytes  # of each query in canonical order

    def write(
        self, blocks: Iterable[RankingData], folder: Path, writer: ArrayWriter, about: NDArray[np.uint8]
    ) -> None:
        """Write the file; `about` is what it says of itself."""
        self._add_small_arrays(writer)
        n_documents, n_features = self._known.n_documents, len(self._bins.edges)
        stride = n_documents + -n_documents % ALIGNED
        for name in self._columns():
            writer.reserve(name, "uint32" if name.startswith("level") else "float64", [n_documents])
        writer.reserve("rows", "uint8", [n_documents * self._binning.n_bytes + _native.ROW_PADDING])
        for feature in range(n_features):
            writer.reserve(f"column{feature}", "uint8", [stride])
        for records in self._buckets(self._records(blocks), folder):
            self._write_bucket(records, writer)
        writer.fill("rows", np.zeros(_native.ROW_PADDING, np.uint8))
        for feature in range(n_features):
            writer.fill(f"column{feature}", np.zeros(stride - n_documents, np.uint8))
        writer.add("about", about)
        writer.finish()

    def _columns(self) -> list[str]:
        """Return the names of the arrays with one number per document."""
        weights = [] if self._known.weight is None else ["weights"]
        return ["labels", *weights, *(f"level{feature}" for feature in self._levelled)]

    def _add_small_arrays(self, writer: ArrayWriter) -> None:
        edges, ranges = self._bins.edges, self._known.ranges
        writer.add("sizes", self._sizes)
        writer.add("edges", np.concatenate([np.array(part, np.float32) for part in edges]))
        writer.add("n_edges", np.array([len(part) for part in edges], np.int64))
        writer.add("frequencies", self._bins.frequencies)
        n_raw = self._known.n_raw  # the others are query features
        for name in ("minimum", "maximum", "missing"):
            writer.add(name, getattr(ranges, name)[:n_raw])

    def _buckets(self, blocks: Iterable[NDArray[np.void]], folder: Path) -> Iterator[NDArray[np.void]]:
        """Yield the records bucket by bucket, by way of files unless one bucket has all of them."""
        with scratch_folder(folder, ".binning-") as buckets:
            if self._bucket[-1] == 0:
                yield np.concatenate(list(blocks))
                return
            for records in blocks:
                of_row = self._bucket[records["query"]]
                for bucket in np.unique(of_row):
                    with (buckets / str(bucket)).open("ab") as file:
                        file.write(records[of_row == bucket].data)
            for bucket in np.unique(self._bucket):
                path = buckets / str(bucket)
                records = np.fromfile(path, self._record)
                path.unlink()
                yield records

    def _records(self, blocks: Iterable[RankingData]) -> Iterator[NDArray[np.void]]:
        """Yield the documents of each block with their codes; refuse others than those of the first pass."""
        queries, hashes = self._known.queries, np.zeros(len(self._position), np.uint64)
        for block in blocks:
            content, numbers = content_hashes(block), queries.numbers_of(block)
            if len(queries) > len(hashes):
                raise _changed()
            hashes[numbers] += query_hashes(content, block.groups)
            records = np.empty(len(block), self._record)
            records["query"] = self._position[numbers][block.groups.query_of_row]
            records["content"] = content
            records["label"] = block.y
            if self._known.weight is not None:
                records["weight"][:, 0] = weights_of(block, self._known.weight)
            levels = block.X[:, self._levelled]
            records["levels"] = np.where(np.isnan(levels), NO_LEVEL, np.nan_to_num(levels).astype(np.int64))
            records["codes"] = self._binning.encode(block.X, self._n_threads)
            yield records
        if not np.array_equal(hashes, queries.hashes[: len(hashes)]):
            raise _changed()

    def _write_bucket(self, records: NDArray[np.void], writer: ArrayWriter) -> None:
        order = np.lexsort((records["content"], records["query"]))
        fields = [records["label"], *records["weight"].T, *records["levels"].T]
        for name, field in zip(self._columns(), fields, strict=True):
            writer.fill(name, field[order])
        codes = np.ascontiguousarray(records["codes"])
        columns, rows = self._binning.arrange(codes, order, self._n_threads)
        writer.fill("rows", rows)
        for feature, column in enumerate(columns):
            writer.fill(f"column{feature}", column)


def _changed() -> InputError:
    return InputError("The files changed while they were binned.")
