"""The first pass over files of judged documents: what must be known before their features can be binned."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.dataset import content_hashes, query_hashes, sampling_keys
from rankwright.data.feature_ranges import FeatureRanges, n_missing
from rankwright.training.training_set import SAMPLE_ROWS, TrainingSet, smallest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rankwright.base.arrays import Floats, Integers
    from rankwright.data.dataset import RankingData

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


class RowSample:
    """The documents with the smallest sampling keys of all that were added."""

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self.keys = np.zeros(0, np.uint64)
        self.X = np.zeros((0, 0), np.float32)

    def add(self, keys: NDArray[np.uint64], X: Floats) -> None:
        """Add documents."""
        if len(self.keys) == self._n_rows:
            below = keys < self.keys.max()
            keys, X = keys[below], X[below]
        self.keys = np.concatenate([self.keys, keys])
        self.X = np.concatenate([self.X, X]) if len(self.X) else X
        kept = smallest(self.keys, self._n_rows)
        self.keys, self.X = self.keys[kept], self.X[kept]


class Survey(NamedTuple):
    """What the first pass found."""

    queries: QueryTable
    sample: Floats
    ranges: FeatureRanges
    n_documents: int
    n_missing: Integers
    varies: bool  # whether any feature varies within a query whose labels differ

    def binning(self, max_bins: int, n_threads: int, *, coarse: bool) -> _native.Binning:
        """Return the bins of the features, from the sample."""
        rows = np.arange(len(self.sample))
        edges = _native.find_all_edges(self.sample, rows, max_bins, n_threads)
        return _native.Binning(edges, self.frequencies(edges, n_threads), coarse)

    def frequencies(self, edges: list[list[float]], n_threads: int) -> NDArray[np.uint32]:
        """Return how many documents of the sample have each code of a feature, and how many of all miss it."""
        plain = _native.Binning(edges, np.zeros((len(edges), CODES), np.uint32), False)
        counts = [np.bincount(column, minlength=CODES) for column in plain.encode(self.sample, n_threads).T]
        frequencies = np.array(counts, dtype=np.uint32).reshape(-1, CODES)
        frequencies[:, -1] = np.minimum(self.n_missing, np.iinfo(np.uint32).max)
        return frequencies


def survey(blocks: Iterable[RankingData]) -> Survey:
    """Read all blocks of judged documents, each of whole queries."""
    queries, sample = QueryTable(), RowSample(SAMPLE_ROWS)
    lowest, highest, missing, n_documents, varies, scattered = [], [], [], 0, False, False
    for block in blocks:
        content = content_hashes(block)
        of_query = query_hashes(content, block.groups)
        scattered |= queries.add(block, of_query)
        sample.add(sampling_keys(content, of_query[block.groups.query_of_row]), block.X)
        lowest.append(np.fmin.reduce(block.X, initial=np.inf))
        highest.append(np.fmax.reduce(block.X, initial=-np.inf))
        missing.append(n_missing(block.X))
        n_documents += len(block)
        varies = varies or TrainingSet(block).varies
    if not n_documents:
        raise InputError("The files hold no documents.")
    counts = np.sum(missing, axis=0)
    ranges = FeatureRanges(np.min(lowest, axis=0), np.max(highest, axis=0), counts / n_documents)
    if scattered:
        sample = _sample_again(blocks, queries)
    return Survey(queries, sample.X, ranges, n_documents, counts, varies)


def _sample_again(blocks: Iterable[RankingData], queries: QueryTable) -> RowSample:
    """Return the sample where the documents of a query are not all together: only now is its hash known."""
    sample = RowSample(SAMPLE_ROWS)
    for block in blocks:
        of_query = queries.hashes[queries.numbers_of(block)]
        sample.add(sampling_keys(content_hashes(block), of_query[block.groups.query_of_row]), block.X)
    return sample
