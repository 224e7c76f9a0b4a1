"""Judged documents as bin codes in a memory-mapped file: training data that need not fit into memory.

The file is a file of arrays (`base/array_files.py`). The same documents give the same file, in whichever order and
files they are read: queries and their documents are in canonical order.
"""

from __future__ import annotations

import json
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from rankwright import _native
from rankwright.base.array_files import ArrayFile, ArrayWriter
from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.base.resources import available_memory, resolve_threads
from rankwright.base.wording import counted
from rankwright.data.column_roles import Roles
from rankwright.data.dataset import RankingData, content_hashes, query_hashes
from rankwright.data.feature_ranges import FeatureRanges
from rankwright.data.groups import QueryGroups
from rankwright.data.readers.blocks import judged_files
from rankwright.training.binned_features import (
    COARSE_DOCUMENTS,
    NO_CATEGORIES,
    BinnedFeatures,
    LevelCounts,
    block_rows,
    require_bins,
)
from rankwright.training.file_survey import Bins, KeptBlocks, Survey, survey
from rankwright.training.training_set import QueryLabels, TrainingSet

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.query_features import QueryFeature

    AnyPath = str | os.PathLike[str]

VERSION = 1
REMEDY = "bin the files again"
BUCKET_BYTES = 128 << 20  # of records that are sorted in memory, or so much of the memory
BUCKET_FRACTION = 1 / 32
ALIGNED = 64  # documents; columns of codes are padded to a multiple


class BinnedDocuments(RankingData):
    """Judged documents whose features are known as bin codes only."""

    def __init__(self, y: Doubles, groups: QueryGroups, n_features: int, names: tuple[str, ...] | None) -> None:
        for name, value in {"y": y, "feature_names": names, "document_ids": None, "columns": None}.items():
            self._set(name, value)
        self._set("groups", groups)
        self._set("categories", ())
        self._set("shown", {})
        self._set("_n_features", n_features)

    @property
    def X(self) -> Never:  # noqa: N802  # as documents call their features
        """Refuse: there are no values."""
        raise InputError(
            "Binned data hold bins of features, not their values: LambdaMART, MART, McRank, AdaBoostMH, RankBoost "
            "and MPBoost learn from them, without query_features; other rankers need the documents."
        )

    @property
    def qid(self) -> Integers:
        """The number of each document's query."""
        return self.groups.query_of_row

    @property
    def n_features(self) -> int:
        return self._n_features  # type: ignore[attr-defined, no-any-return]

    def __len__(self) -> int:
        return len(self.y)


class BinnedData(TrainingSet):
    """Judged documents as bin codes in a file, which rankers of trees learn from without reading it into memory.

    Labels, scores and gradients of documents are in memory; their codes stay in the file. The model is the same,
    byte for byte, as that of the documents in memory.

    Parameters
    ----------
    path
        A file that `BinnedData.create` or `rankwright bin` made.
    max_memory
        Bytes that a fit may add to those of this process: about 120 per document, and blocks of codes, which are
        then read in order. None: codes stay in memory as long as the system keeps them there.

    Examples
    --------
    >>> judged = rw.synthetic.polynomial_queries(20, n_documents=10, n_features=6, n_active=4)
    >>> rw.write_letor(judged, "judged.txt")
    >>> binned = rw.BinnedData.create("judged.txt", "judged.binned")
    >>> binned
    BinnedData(200 documents, 20 queries, 6 features)
    >>> rw.LambdaMART(rounds=5).fit(binned).model_.n_trees
    5
    """

    def __init__(self, path: AnyPath, *, max_memory: int | None = None) -> None:
        self.path, self._max_memory = Path(path), max_memory
        self._file = ArrayFile(self.path, None, REMEDY)
        about = self._about()
        y = self._file.verified("labels", "float64")
        sizes = self._file.verified("sizes", "int64")
        if sizes.sum() != len(y) or (sizes <= 0).any():
            raise self._file.damaged("its queries do not have its documents")
        self.max_bins: int = about["max_bins"]
        self.coarse: bool = about["coarse"]
        names = about["feature_names"]
        groups = QueryGroups.of_sizes(sizes)
        super().__init__(BinnedDocuments(y, groups, about["n_features"], None if names is None else tuple(names)))
        self._varies_within_queries: bool = about["varies"]

    @classmethod
    def create(
        cls,
        files: AnyPath | Sequence[AnyPath],
        path: AnyPath,
        *,
        max_bins: int = 255,
        coarse: bool | None = None,
        label: str = "label",
        qid: str = "qid",
        features: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        dates: Sequence[str] = (),
        delimiter: str | None = None,
        n_features: int | None = None,
        n_jobs: int | None = None,
        on_block: Callable[[int, int], None] | None = None,
    ) -> BinnedData:
        """Bin the judged documents of files that may be larger than memory; read them twice, in blocks.

        Parameters
        ----------
        files
            LETOR text, CSV or Parquet: a file, a folder of Parquet files, a pattern such as `part-*.csv`, or
            several of them. The documents of a query may be anywhere in them, best together.
        path
            The file to write, whole or not at all.
        max_bins
            Maximum number of bins per feature. Their edges come from a sample of 100,000 documents.
        coarse
            Whether rankers may search splits in two stages; None: from 100,000 documents on.
        label, qid, features, drop, dates, delimiter
            Those of `read_csv`.
        n_features
            The number of features of LETOR text, if the first documents leave out the last ones.
        on_block
            Called with the number of the pass, 1 or 2, and the number of documents read so far.
        """
        require_bins(max_bins)
        threads = resolve_threads(n_jobs)
        roles = Roles(label, qid, None, features, drop, (), dates)
        blocks = KeptBlocks(judged_files(files, roles, delimiter=delimiter, n_features=n_features))
        known = survey(_Counted(blocks, 1, on_block))
        is_coarse = known.n_documents >= COARSE_DOCUMENTS if coarse is None else coarse
        bins = known.bins(max_bins, threads)
        with write_whole(path) as file:
            writer = ArrayWriter(file)
            _Binner(known, bins, threads, coarse=is_coarse).write(
                _Counted(blocks, 2, on_block), Path(path).parent, writer
            )
            about = {
                "version": VERSION,
                "n_features": len(bins.edges),
                "feature_names": blocks.files.first.feature_names,
                "max_bins": max_bins,
                "coarse": is_coarse,
                "varies": known.varies,
            }
            writer.add("about", np.frombuffer(json.dumps(about).encode(), np.uint8))
            writer.finish()
        return cls(path)

    def fingerprint(self) -> str:
        """Return the checksum of the file, which differs for other documents."""
        return f"{self._file.checksum:08x}"

    def __repr__(self) -> str:
        counts = {"document": len(self), "query": len(self.data.groups), "feature": self.n_features}
        return f"BinnedData({', '.join(counted(number, noun) for noun, number in counts.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(BinnedData, max_memory=self._max_memory), (str(self.path),)

    def _about(self) -> dict[str, Any]:
        """Return what the file says of itself."""
        try:
            about = json.loads(self._file.verified("about", "uint8").tobytes())
            version = about["version"]
        except (ValueError, TypeError, KeyError):
            raise self._file.damaged("it does not say what it holds") from None
        if version != VERSION:
            raise InputError(
                f"{self.path} has version {version}, this version of rankwright reads {VERSION}: {REMEDY}."
            )
        kinds = {"n_features": int, "max_bins": int, "coarse": bool, "varies": bool}
        names = about.get("feature_names")
        is_named = names is None or (isinstance(names, list) and all(isinstance(name, str) for name in names))
        if not is_named or any(type(about.get(key)) is not kind for key, kind in kinds.items()):
            raise self._file.damaged("it does not say what it holds")
        return dict(about)

    @cached_property
    def canonical_rows(self) -> NDArray[np.int64]:
        """The rows are in canonical order."""
        return np.arange(len(self))

    @property
    def canonical_queries(self) -> NDArray[np.int64]:
        return np.arange(len(self.data.groups))

    def _labels(self) -> QueryLabels:
        return QueryLabels(self.data.y, self.data.groups)

    @property
    def level_counts(self) -> LevelCounts:
        return NO_CATEGORIES

    @property
    def varies(self) -> bool:
        return self._varies_within_queries

    @cached_property
    def ranges(self) -> FeatureRanges:
        """The range of each feature."""
        lowest, highest = (self._file.verified(name, "float32") for name in ("minimum", "maximum"))
        return FeatureRanges(lowest, highest, self._file.verified("missing", "float64"))

    def binned(
        self,
        max_bins: int,
        n_jobs: int | None = None,  # noqa: ARG002  # the file has the codes
        *,
        coarse: bool = False,
        sets: bool = False,  # noqa: ARG002  # there are no categories
        rows: tuple[int, int] | None = None,
    ) -> BinnedFeatures:
        """Return the codes of the file, which must have been made with these settings.

        If only some `rows`, from the first to before the second, will be used, no others are verified.
        """
        if (max_bins, coarse) != (self.max_bins, self.coarse):
            raise InputError(
                f"{self.path} was made with max_bins={self.max_bins} and coarse={self.coarse}, and the ranker "
                f"asks for max_bins={max_bins} and coarse={coarse}: give both the same."
            )
        codes = self._once("codes", self._mapped_codes)
        self._verify(codes, rows)
        return codes

    def _verify(self, codes: BinnedFeatures, rows: tuple[int, int] | None) -> None:
        if rows is None:
            self._file.verify_all()
            return
        n_bytes = codes.matrix.n_bytes
        self._file.verify("rows", rows[0] * n_bytes, rows[1] * n_bytes)
        for feature in range(self.n_features):
            self._file.verify(f"column{feature}", *rows)

    def _mapped_codes(self) -> BinnedFeatures:
        for name in ("edges", "n_edges", "frequencies"):
            self._file.verify(name)
        n_features = self.n_features
        edges = np.split(
            self._file.array("edges", "float32"), np.cumsum(self._file.array("n_edges", "int64"))[:-1]
        )
        frequencies = self._file.array("frequencies", "uint32", 2)
        binning = _native.Binning([list(map(float, part)) for part in edges], frequencies, self.coarse)
        columns = self._file.stacked([f"column{feature}" for feature in range(n_features)], "uint8")
        rows = self._file.array("rows", "uint8")
        if len(rows) != len(self) * binning.n_bytes + _native.ROW_PADDING:
            raise self._file.damaged("it has another number of rows than of labels")
        block = block_rows(self._max_memory, len(self), n_features, binning.n_bytes)
        return BinnedFeatures(binning.matrix(columns, rows, len(self), block), np.arange(n_features))

    def with_query_features(self, kinds: tuple[QueryFeature, ...], *, raw: bool = True) -> TrainingSet:
        if kinds or not raw:
            _ = self.data.X  # which says that there are no values
        return self


class _Counted:
    """Blocks that report how many documents were read so far."""

    def __init__(
        self, blocks: Iterable[RankingData], number: int, on_block: Callable[[int, int], None] | None
    ) -> None:
        self._blocks, self._number, self._on_block = blocks, number, on_block

    def __iter__(self) -> Iterator[RankingData]:
        n_documents = 0
        for block in self._blocks:
            yield block
            n_documents += len(block)
            if self._on_block is not None:
                self._on_block(self._number, n_documents)


class _Binner:
    """The second pass: codes go to buckets of adjacent queries, and each bucket, sorted, to the file."""

    def __init__(self, known: Survey, bins: Bins, n_threads: int, *, coarse: bool) -> None:
        self._known, self._bins, self._n_threads = known, bins, n_threads
        self._binning = _native.Binning(bins.edges, bins.frequencies, coarse)
        order = known.queries.canonical_order()
        self._sizes = known.queries.sizes[order]
        self._position = np.empty(len(order), np.int64)  # of each query in canonical order
        self._position[order] = np.arange(len(order))
        self._record = np.dtype(
            [("query", "<i8"), ("content", "<u8"), ("label", "<f8"), ("codes", "u1", (len(bins.edges),))]
        )
        n_documents = np.cumsum(self._sizes) - self._sizes
        bucket_bytes = max(BUCKET_BYTES, int(BUCKET_FRACTION * available_memory()))
        self._bucket = n_documents * self._record.itemsize // bucket_bytes  # of each query in canonical order

    def write(self, blocks: Iterable[RankingData], folder: Path, writer: ArrayWriter) -> None:
        """Write all arrays but the description."""
        self._add_small_arrays(writer)
        n_documents, n_features = self._known.n_documents, len(self._bins.edges)
        stride = n_documents + -n_documents % ALIGNED
        writer.reserve("labels", "float64", [n_documents])
        writer.reserve("rows", "uint8", [n_documents * self._binning.n_bytes + _native.ROW_PADDING])
        for feature in range(n_features):
            writer.reserve(f"column{feature}", "uint8", [stride])
        for records in self._buckets(self._records(blocks), folder):
            self._write_bucket(records, writer)
        writer.fill("rows", np.zeros(_native.ROW_PADDING, np.uint8))
        for feature in range(n_features):
            writer.fill(f"column{feature}", np.zeros(stride - n_documents, np.uint8))

    def _add_small_arrays(self, writer: ArrayWriter) -> None:
        edges, ranges = self._bins.edges, self._known.ranges
        writer.add("sizes", self._sizes)
        writer.add("edges", np.concatenate([np.array(part, np.float32) for part in edges]))
        writer.add("n_edges", np.array([len(part) for part in edges], np.int64))
        writer.add("frequencies", self._bins.frequencies)
        writer.add("minimum", ranges.minimum)
        writer.add("maximum", ranges.maximum)
        writer.add("missing", ranges.missing)

    def _buckets(self, blocks: Iterable[NDArray[np.void]], folder: Path) -> Iterator[NDArray[np.void]]:
        """Yield the records bucket by bucket, by way of files unless one bucket has all of them."""
        if self._bucket[-1] == 0:
            yield np.concatenate(list(blocks))
            return
        with TemporaryDirectory(prefix=".binning-", dir=folder) as buckets:
            for records in blocks:
                of_row = self._bucket[records["query"]]
                for bucket in np.unique(of_row):
                    with (Path(buckets) / str(bucket)).open("ab") as file:
                        file.write(records[of_row == bucket].data)
            for bucket in range(int(self._bucket[-1]) + 1):
                path = Path(buckets) / str(bucket)
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
            records["codes"] = self._binning.encode(block.X, self._n_threads)
            yield records
        if not np.array_equal(hashes, queries.hashes[: len(hashes)]):
            raise _changed()

    def _write_bucket(self, records: NDArray[np.void], writer: ArrayWriter) -> None:
        order = np.lexsort((records["content"], records["query"]))
        writer.fill("labels", records["label"][order])
        codes = np.ascontiguousarray(records["codes"])
        columns, rows = self._binning.arrange(codes, order, self._n_threads)
        writer.fill("rows", rows)
        for feature, column in enumerate(columns):
            writer.fill(f"column{feature}", column)


def _changed() -> InputError:
    return InputError("The files changed while they were binned.")
