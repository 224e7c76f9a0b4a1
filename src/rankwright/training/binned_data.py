"""Judged documents as bin codes in a memory-mapped file: training data that need not fit into memory.

The file is a file of arrays (`base/array_files.py`). The same documents give the same file, in whichever order and
files they are read: queries and their documents are in canonical order.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright import _native
from rankwright.base.array_files import ArrayFile, ArrayWriter
from rankwright.base.errors import InputError, parameter
from rankwright.base.files import write_whole
from rankwright.base.resources import resolve_threads
from rankwright.base.wording import counted
from rankwright.data.categories import Category, checked_categories, levelled
from rankwright.data.column_roles import LABEL, QUERY, Columns, Roles
from rankwright.data.feature_ranges import FeatureRanges
from rankwright.data.groups import QueryGroups
from rankwright.data.query_features import QueryFeature
from rankwright.data.readers.blocks import CSV, LETOR, format_of, judged_files
from rankwright.training.binned_documents import BinnedDocuments
from rankwright.training.binned_features import (
    COARSE_DOCUMENTS,
    BinnedFeatures,
    LevelCounts,
    block_rows,
    require_bins,
)
from rankwright.training.file_codes import NO_LEVEL, Binner
from rankwright.training.file_survey import Bins, CountedBlocks, KeptBlocks, first_pass
from rankwright.training.training_set import QueryLabels, TrainingSet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.readers.blocks import JudgedFiles
    from rankwright.training.file_survey import Survey

    AnyPath = str | os.PathLike[str]

VERSION = 2
REMEDY = "bin the files again"
SETTINGS = ("max_bins", "coarse", "query_features", "category_splits")  # which the ranker must share
SPLITS = ("sets", "thresholds")  # of categories
NUMBERS = {"n_features": int, "max_bins": int, "coarse": bool, "varies": bool}


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
        self.path, self.max_memory = Path(path), max_memory
        self._file = ArrayFile(self.path, None, REMEDY)
        about = self._about()
        y = self._file.verified("labels", "float64")
        sizes = self._file.verified("sizes", "int64")
        if sizes.sum() != len(y) or (sizes <= 0).any():
            raise self._file.damaged("its queries do not have its documents")
        names = None if about["feature_names"] is None else tuple(about["feature_names"])
        categories = self._categories(about["categories"], names)
        groups = QueryGroups.of_sizes(sizes)
        columns = Columns.of(about.get("columns"))
        super().__init__(BinnedDocuments(y, groups, about["n_features"], names, categories, columns))
        self._levelled = {feature: len(each.values) for feature, each in levelled(names, categories).items()}
        self.settings = {name: about[name] for name in SETTINGS}
        self._asked: list[str] = []  # query features of the ranker
        self._varies_within_queries: bool = about["varies"]

    @property
    def max_bins(self) -> int:
        """Maximum number of bins per feature."""
        return int(self.settings["max_bins"])

    @property
    def coarse(self) -> bool:
        """Whether rankers search splits in two stages."""
        return bool(self.settings["coarse"])

    @classmethod
    def create(
        cls,
        files: AnyPath | Sequence[AnyPath],
        path: AnyPath,
        *,
        max_bins: int = 255,
        coarse: bool | None = None,
        query_features: Sequence[str] = (),
        category_splits: str = "sets",
        weight: str | None = None,
        label: str = "label",
        qid: str = "qid",
        features: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        categorical: Sequence[str] = (),
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
        query_features
            Columns that the ranker computes within each query: zscore, rank, minmax.
        category_splits
            How the ranker splits a category of more than 10 values: by sets of levels, or by thresholds.
        weight
            Column with the weight of each document.
        label, qid, features, drop, categorical, dates, delimiter
            Those of `read_csv`.
        n_features
            The number of features of LETOR text, if all documents leave out the last ones.
        on_block
            Called with the number of the pass, 1 or 2, and the number of documents read so far.
        """
        kinds = _checked_kinds(max_bins, query_features or (), category_splits)
        threads = resolve_threads(n_jobs)
        unused, shown = [drop] if isinstance(drop, str) else [*drop], [] if weight is None else [weight]
        roles = Roles(label, qid, None, features, unused + shown, categorical, dates, shown)
        read = _files_of(files, path, roles, delimiter, n_features)
        known, blocks = first_pass(KeptBlocks(read, kinds), weight, on_block)
        is_coarse = known.n_documents >= COARSE_DOCUMENTS if coarse is None else coarse
        bins = known.bins(max_bins, threads, sets=category_splits == "sets")
        binner = Binner(known, bins, threads, coarse=is_coarse)
        about = _description(known, blocks, max_bins, is_coarse, category_splits)
        with write_whole(path) as file:
            binner.write(CountedBlocks(blocks, 2, on_block), Path(path).parent, ArrayWriter(file), about)
        return cls(path)

    def fingerprint(self) -> str:
        """Return the checksum of the file, which differs for other documents."""
        return f"{self._file.checksum:08x}"

    def __repr__(self) -> str:
        counts = {"document": len(self), "query": len(self.data.groups), "feature": self.n_features}
        return f"BinnedData({', '.join(counted(number, noun) for noun, number in counts.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(BinnedData, max_memory=self.max_memory), (str(self.path),)

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
        names, computed = about.get("feature_names"), about.get("query_features")
        is_named = names is None or _are_texts(names)
        if (
            not (is_named and _are_texts(computed) and about.get("category_splits") in SPLITS)
            or not isinstance(about.get("categories"), list)
            or any(type(about.get(key)) is not kind for key, kind in NUMBERS.items())
        ):
            raise self._file.damaged("it does not say what it holds")
        return dict(about)

    def _categories(self, described: list[Any], names: tuple[str, ...] | None) -> tuple[Category, ...]:
        try:
            return checked_categories([Category(*each) for each in described], names)
        except (InputError, TypeError):
            raise self._file.damaged("its categories are not those of its features") from None

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
        return self._levelled

    @property
    def is_binned(self) -> bool:
        return True

    @cached_property
    def weights(self) -> Doubles | None:
        return self._file.verified("weights", "float64") if "weights" in self._file else None

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
        sets: bool = False,
        rows: tuple[int, int] | None = None,
    ) -> BinnedFeatures:
        """Return the codes of the file, which must have been made with these settings.

        If only some `rows`, from the first to before the second, will be used, no others are verified.
        """
        asked = {"max_bins": max_bins, "coarse": coarse, "query_features": self._asked}
        self._require(asked | ({"category_splits": SPLITS[not sets]} if self._levelled else {}))
        codes = self._once("codes", self._mapped_codes)
        self._verify(codes, rows)
        return codes

    def _require(self, asked: dict[str, Any]) -> None:
        for name, value in asked.items():
            if self.settings[name] != value:
                raise InputError(
                    f"{self.path} was made with {name}={self.settings[name]!r}, and the ranker asks for "
                    f"{name}={value!r}: give both the same."
                )

    def _verify(self, codes: BinnedFeatures, rows: tuple[int, int] | None) -> None:
        if rows is None:
            self._file.verify_all()
            return
        n_bytes = codes.matrix.n_bytes
        self._file.verify("rows", rows[0] * n_bytes, rows[1] * n_bytes)
        for feature in range(codes.n_features):
            self._file.verify(f"column{feature}", *rows)

    def _mapped_codes(self) -> BinnedFeatures:
        for name in ("edges", "n_edges", "frequencies"):
            self._file.verify(name)
        n_edges = self._file.array("n_edges", "int64")
        n_features = len(n_edges)
        edges = np.split(self._file.array("edges", "float32"), np.cumsum(n_edges)[:-1])
        levels = self._levels()
        level_rows: list[list[int]] = [[] for _ in edges] if levels else []
        for feature, column in levels.items():
            counts = np.bincount(column[column != NO_LEVEL], minlength=self._levelled[feature])
            level_rows[feature] = counts.tolist()
        bins = Bins(
            [list(map(float, part)) for part in edges], self._file.array("frequencies", "uint32", 2), level_rows
        )
        binning = bins.binning(coarse=self.coarse)
        columns = self._file.stacked([f"column{feature}" for feature in range(n_features)], "uint8")
        rows = self._file.array("rows", "uint8")
        if len(rows) != len(self) * binning.n_bytes + _native.ROW_PADDING:
            raise self._file.damaged("it has another number of rows than of labels")
        block = block_rows(self.max_memory, len(self), n_features, binning.n_bytes)
        if block and levels:
            raise InputError(
                "Categories that are split by sets get other codes before each tree, so that all codes must fit "
                f"into {parameter('max_memory')}: give category_splits='thresholds', or more."
            )
        matrix = binning.matrix(columns, rows, len(self), block, _stacked(levels, len(self)))
        return BinnedFeatures(matrix, np.arange(n_features))

    def _levels(self) -> dict[int, NDArray[np.uint32]]:
        """Return the level of each document in the categories that are split by sets, by feature."""
        of_sets = self._levelled if self.settings["category_splits"] == "sets" else ()
        return {feature: self._file.verified(f"level{feature}", "uint32") for feature in of_sets}

    def with_query_features(self, kinds: tuple[QueryFeature, ...], *, raw: bool = True) -> TrainingSet:
        """Return the file with its query features, which must be of these kinds."""
        if not raw:
            _ = self.data.X  # which says that there are no values
        asked = [kind.value for kind in kinds]
        self._require({"query_features": asked})
        if not kinds:
            return self
        wide = object.__new__(BinnedData)
        wide.__dict__.update(self.__dict__)
        data, n_wide = self.data, self.n_features * (1 + len(kinds))
        wide.data, wide._asked = BinnedDocuments(data.y, data.groups, n_wide, None), asked
        return wide


def _stacked(levels: dict[int, NDArray[np.uint32]], n_documents: int) -> NDArray[np.uint32]:
    return np.array(list(levels.values()), np.uint32).reshape(-1, n_documents)


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _checked_kinds(max_bins: int, names: Sequence[str], category_splits: str) -> tuple[QueryFeature, ...]:
    require_bins(max_bins)
    if category_splits not in SPLITS:
        raise InputError(f"{parameter('category_splits')} must be sets or thresholds, not {category_splits!r}.")
    known = [kind.value for kind in QueryFeature]
    if isinstance(names, str) or len(set(names)) < len(names) or not set(names) <= set(known):
        raise InputError(f"{parameter('query_features')} must be a list of {', '.join(known)}, not {names!r}.")
    return tuple(map(QueryFeature, names))


def _files_of(
    paths: Any, out: AnyPath, roles: Roles, delimiter: str | None, n_features: int | None
) -> JudgedFiles:
    """Return the files; refuse to overwrite one of them, and options that do not go together."""
    files = judged_files(paths, roles, delimiter=delimiter, n_features=n_features, counts_categories=True)
    if os.path.realpath(out) in map(os.path.realpath, files.files):
        raise InputError(f"{os.fspath(out)} is one of the files to read; give the binned file another name.")
    _refuse_without_effect(files.files[0], roles, delimiter, n_features)
    for weight in roles.show:
        if any(weight in asked for asked in (roles.features or (), roles.categorical, roles.dates)):
            raise InputError(f"Column {weight!r} holds the weights; it cannot be a feature too.")
    return files


def _refuse_without_effect(file: str, roles: Roles, delimiter: str | None, n_features: int | None) -> None:
    kind = format_of(file)
    without: dict[str, Any] = {"n_features": n_features}
    if kind == LETOR:
        without = {"weight": roles.show, "label": roles.label != LABEL, "qid": roles.qid != QUERY}
        without |= {name: getattr(roles, name) for name in ("features", "drop", "categorical", "dates")}
    if kind != CSV:
        without["delimiter"] = delimiter
    for name, value in without.items():
        if value:
            raise InputError(f"{parameter(name)} has no effect on {file}, which is read as {kind}.")


def _description(
    known: Survey, blocks: KeptBlocks, max_bins: int, is_coarse: bool, category_splits: str
) -> NDArray[np.uint8]:
    """Return what a file says of itself, as bytes."""
    columns = blocks.files.first.columns
    settings = max_bins, is_coarse, [kind.value for kind in blocks.kinds], category_splits
    if columns is not None and known.weight is not None:
        columns = replace(columns, not_used={**columns.not_used, known.weight: "weight of documents"})
    about = {
        "columns": None if columns is None else asdict(columns),
        "version": VERSION,
        "n_features": known.n_raw,
        "feature_names": known.names,
        "categories": [[each.name, each.values, each.one_hot] for each in known.categories],
        "varies": known.varies,
    }
    return np.frombuffer(json.dumps(about | dict(zip(SETTINGS, settings, strict=True))).encode(), np.uint8)
