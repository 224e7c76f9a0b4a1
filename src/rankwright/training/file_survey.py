"""The first pass over files of judged documents: what must be known before their features can be binned."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright import _native
from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError
from rankwright.base.resources import available_memory
from rankwright.data.categories import level_counts
from rankwright.data.dataset import content_hashes, query_hashes, sampling_keys
from rankwright.data.feature_ranges import FeatureRanges, extremes, n_without_value
from rankwright.data.query_features import with_query_features
from rankwright.data.readers.letor import MoreFeaturesError
from rankwright.training.binned_features import SAMPLE_ROWS, smallest
from rankwright.training.training_set import TrainingSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.data.categories import Category
    from rankwright.data.dataset import RankingData
    from rankwright.data.query_features import QueryFeature
    from rankwright.data.readers.blocks import JudgedFiles

CODES = 256


class QueryTable:
    """The queries so far: number by name, hash of the content, number of documents."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.hashes = np.zeros(0, np.uint64)
        self.sizes = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self.numbers)

    def numbers_of(self, block: RankingData) -> Integers:
        """Return the number of each query of a block; new queries get the next ones."""
        names = map(str, block.groups.ids.tolist())
        return np.array([self.numbers.setdefault(name, len(self.numbers)) for name in names], dtype=np.int64)

    def add(self, block: RankingData, hashes: NDArray[np.uint64]) -> bool:
        """Add the queries of a block; return whether documents of some of them came before."""
        n_before = len(self)
        numbers = self.numbers_of(block)
        if len(self) > len(self.sizes):  # room for twice as many
            self.hashes = np.append(self.hashes, np.zeros(2 * len(self), np.uint64))
            self.sizes = np.append(self.sizes, np.zeros(2 * len(self), np.int64))
        self.hashes[numbers] += hashes
        self.sizes[numbers] += block.groups.sizes
        return bool((numbers < n_before).any())

    def canonical_order(self) -> Integers:
        """Return the numbers of all queries in the order of `canonical_rows`."""
        return np.argsort(self.hashes[: len(self)], kind="stable")


class KeptBlocks:
    """Blocks, with query features, that are read once if all of them take no more than a quarter of the memory."""

    def __init__(self, files: JudgedFiles, kinds: tuple[QueryFeature, ...] = ()) -> None:
        self.kinds, self.files = kinds, files
        self._kept: list[RankingData] | None = None

    def __iter__(self) -> Iterator[RankingData]:
        if self._kept is not None:
            yield from self._kept
            return
        kept, room = [], available_memory() // 4
        for narrow in self.files:
            block = self._with_query_features(narrow)
            yield block
            room -= block.X.nbytes
            if room >= 0:
                kept.append(block)
            else:
                kept.clear()
        self._kept = kept if room >= 0 else None

    def _with_query_features(self, block: RankingData) -> RankingData:
        if not self.kinds:
            return block
        wide = sealed(with_query_features(block.X, block.groups, self.kinds))
        return block.with_features(wide, block.feature_names, block.categories)


class CountedBlocks:
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


class RowSample:
    """The documents with the smallest sampling keys of all that were added."""

    def __init__(self, n_rows: int, n_features: int) -> None:
        self._keys = np.zeros(n_rows, np.uint64)
        self._X = np.empty((n_rows, n_features), np.float32)
        self._n_rows = 0  # that are filled

    @property
    def features(self) -> Floats:
        """The features of the sampled documents."""
        return self._X[: self._n_rows]

    def add(self, keys: NDArray[np.uint64], X: Floats) -> None:
        """Add documents: to empty rows, then in place of those with the largest keys."""
        first = self._n_rows
        self._n_rows = min(len(self._keys), first + len(keys))
        added = self._n_rows - first
        self._keys[first : self._n_rows], self._X[first : self._n_rows] = keys[:added], X[:added]
        rivals = added + np.flatnonzero(keys[added:] < self._keys.max())
        if not len(rivals):
            return
        kept = smallest(np.concatenate([self._keys, keys[rivals]]), len(self._keys))
        is_kept = np.zeros(len(self._keys) + len(rivals), bool)
        is_kept[kept] = True
        taken, free = rivals[is_kept[len(self._keys) :]], np.flatnonzero(~is_kept[: len(self._keys)])
        self._keys[free], self._X[free] = keys[taken], X[taken]


class Bins(NamedTuple):
    """The edges of each feature's bins, and how many sampled documents are in each; of all, how many miss it.

    `level_rows` has the documents by level of each category that is split by sets; nothing for other features.
    """

    edges: list[list[float]]
    frequencies: NDArray[np.uint32]
    level_rows: list[list[int]]

    def binning(self, *, coarse: bool) -> _native.Binning:
        """Return the binning of features with these bins."""
        return _native.Binning(self.edges, self.frequencies, coarse, self.level_rows)


class Survey(NamedTuple):
    """What the first pass found."""

    queries: QueryTable
    sample: Floats
    ranges: FeatureRanges
    n_documents: int
    n_missing: Integers
    varies: bool  # whether any feature varies within a query whose labels differ
    names: tuple[str, ...] | None
    categories: tuple[Category, ...]
    n_raw: int  # features of the files
    level_rows: dict[int, Integers]  # documents by level of each category that is one column
    weight: str | None  # the column of weights

    def bins(self, max_bins: int, n_threads: int, *, sets: bool) -> Bins:
        """Return the bins of the features, from the sample; if `sets`, those of categories are levels."""
        rows = np.arange(len(self.sample))
        edges = _native.find_all_edges(self.sample, rows, max_bins, n_threads)
        level_rows: list[list[int]] = [[] for _ in edges] if sets and self.level_rows else []
        for feature, counts_of_levels in self.level_rows.items() if sets else ():
            edges[feature], level_rows[feature] = [], counts_of_levels.tolist()
        plain = _native.Binning(edges, np.zeros((len(edges), CODES), np.uint32), False, [])
        columns = np.ascontiguousarray(plain.encode(self.sample, n_threads).T)
        counts = [np.bincount(column, minlength=CODES) for column in columns]
        frequencies = np.array(counts, dtype=np.uint32).reshape(-1, CODES)
        frequencies[:, -1] = np.minimum(self.n_missing, np.iinfo(np.uint32).max)
        return Bins(edges, frequencies, level_rows)


def first_pass(
    blocks: KeptBlocks, weight: str | None, on_block: Callable[[int, int], None] | None
) -> tuple[Survey, KeptBlocks]:
    """Survey all blocks, again where LETOR text turns out to have more features than its first documents."""
    try:
        return survey(CountedBlocks(blocks, 1, on_block), blocks.kinds, weight), blocks
    except MoreFeaturesError:
        if blocks.files.n_features is not None:
            raise
    return first_pass(KeptBlocks(blocks.files.with_all_features(), blocks.kinds), weight, on_block)


def survey(blocks: Iterable[RankingData], kinds: Sequence[QueryFeature] = (), weight: str | None = None) -> Survey:
    """Read all blocks of judged documents, each of whole queries, with query features of these kinds."""
    queries, sample = QueryTable(), None
    lowest, highest, missing, n_documents, varies, scattered = [], [], [], 0, False, False
    without_value: list[Integers] = []
    level_rows: dict[int, Integers] = {}
    for block in blocks:
        content = content_hashes(block)
        of_query = query_hashes(content, block.groups)
        scattered |= queries.add(block, of_query)
        if scattered and kinds:
            raise InputError(
                "The documents of a query are not one after the other, and query_features compare them: "
                "sort the files by query."
            )
        if weight is not None:
            weights_of(block, weight)  # which refuses what is no weight
        for feature, n_levels in level_counts(block.X, block.feature_names, block.categories).items():
            levels = block.X[:, feature]
            counts = np.bincount(levels[~np.isnan(levels)].astype(np.int64), minlength=n_levels)
            level_rows[feature] = level_rows.get(feature, 0) + counts
        sample = sample or RowSample(SAMPLE_ROWS, block.n_features)
        sample.add(sampling_keys(content, of_query[block.groups.query_of_row]), block.X)
        low, high, n_missing = extremes(block.X)
        lowest.append(low)
        highest.append(high)
        missing.append(n_missing)
        without_value.append(n_without_value(block, n_missing))
        n_documents += len(block)
        varies = varies or TrainingSet(block).varies
    if sample is None or not missing[0].size:
        raise InputError(f"The files hold no {'documents' if sample is None else 'features'}.")
    counts = np.sum(missing, axis=0)
    rates = np.sum(without_value, axis=0) / n_documents
    ranges = FeatureRanges(np.min(lowest, axis=0), np.max(highest, axis=0), rates)
    if scattered:
        sample = _sample_again(blocks, queries, len(counts))
    return Survey(
        queries,
        sample.features,
        ranges,
        n_documents,
        counts,
        varies,
        names=block.feature_names,
        categories=block.categories,
        n_raw=len(counts) // (1 + len(kinds)),
        level_rows=level_rows,
        weight=weight,
    )


def weights_of(block: RankingData, column: str) -> Doubles:
    """Return the weights that a column shows."""
    texts = block.shown.get(column, ())
    try:
        weights = np.array([float(text) for text in texts])
    except (TypeError, ValueError):
        weights = np.zeros(0)
    if len(weights) < len(block) or not (np.isfinite(weights) & (weights >= 0)).all():
        raise InputError(f"Column {column!r} must have the weight of each document, a number that is at least 0.")
    return weights


def _sample_again(blocks: Iterable[RankingData], queries: QueryTable, n_features: int) -> RowSample:
    """Return the sample where the documents of a query are not all together: only now is its hash known."""
    sample = RowSample(SAMPLE_ROWS, n_features)
    for block in blocks:
        of_query = queries.hashes[queries.numbers_of(block)]
        sample.add(sampling_keys(content_hashes(block), of_query[block.groups.query_of_row]), block.X)
    return sample
