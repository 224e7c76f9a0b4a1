"""Judged documents prepared for fitting, once for several fits: in canonical order, with features as bin codes."""

from __future__ import annotations

import hashlib
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from rankwright.base.arrays import Doubles, sealed
from rankwright.base.errors import InputError
from rankwright.data.alignment import HasFeatures, aligned
from rankwright.data.categories import level_counts
from rankwright.data.dataset import (
    RankingData,
    canonical_queries,
    canonical_rows,
    content_hashes,
    query_hashes,
    sampling_keys,
)
from rankwright.data.feature_ranges import FeatureRanges
from rankwright.data.groups import QueryGroups
from rankwright.data.query_features import QueryFeature, with_query_features
from rankwright.data.query_times import QueryTimes, learned_from
from rankwright.data.splitting import deal_folds
from rankwright.training.binned_features import (
    NO_CATEGORIES,
    SAMPLE_ROWS,
    BinnedFeatures,
    LevelCounts,
    count_exact_codes,
    require_bins,
    smallest,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray


Made = TypeVar("Made")


class QueryLabels(NamedTuple):
    """The labels of documents and their query groups, which a metric needs besides scores."""

    y: Doubles
    groups: QueryGroups

    @property
    def varied(self) -> NDArray[np.bool_]:
        """Whether each query has documents with different labels."""
        return self.groups.reduce(np.maximum, self.y) > self.groups.reduce(np.minimum, self.y)

    @property
    def pair_divisors(self) -> Doubles:
        """The number of pairs with different labels of each query; 1 if there is none."""
        return np.maximum(self.groups.count_pairs(self.y), 1.0)


class TrainingSet:
    """Judged documents with everything that fits prepare from them: canonical order, bins, query features.

    Each of these is computed when it is first needed and then kept, so that fits with other settings share it.
    Pass a training set to `fit`, also as `validation`, if the same documents are used more than once. Threads may
    share a training set. A copied or pickled training set prepares everything again.

    Parameters
    ----------
    data
        The judged documents.

    Examples
    --------
    >>> judged = rw.synthetic.polynomial_queries(20, n_documents=10, n_features=6, n_active=4)
    >>> shared = rw.TrainingSet(judged)  # what fits prepare is computed once
    >>> fits = [rw.LambdaMART(rounds=5, max_leaves=leaves).fit(shared) for leaves in (4, 8)]
    >>> [ranker.model_.n_trees for ranker in fits]
    [5, 5]
    """

    def __init__(self, data: RankingData, *, made_from: TrainingSet | None = None) -> None:
        if not isinstance(data, RankingData):
            raise InputError(f"A training set is made from RankingData, not {type(data).__name__}.")
        self.data = data
        self._lock = RLock()
        self._made: dict[Any, Any] = {}
        self._narrow = made_from  # the same documents, whose features are the first ones here

    @classmethod
    def of(cls, data: RankingData | TrainingSet) -> TrainingSet:
        """Return the data as a training set; return a training set unchanged."""
        return data if isinstance(data, TrainingSet) else cls(data)

    def like(self, model: HasFeatures) -> TrainingSet:
        """Return the documents with the model's features in its order; this object if they have them already."""
        data = aligned(self.data, model)
        return self if data is self.data else TrainingSet(data)

    def __reduce__(self) -> tuple[type[TrainingSet], tuple[RankingData]]:
        """Pickle and copy only the documents."""
        return TrainingSet, (self.data,)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"TrainingSet({self.data!r})"

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.data.n_features

    def _once(self, key: Any, make: Callable[[], Made]) -> Made:
        """Return the value for this key; call `make` only the first time."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
            return cast("Made", self._made[key])

    def fingerprint(self) -> str:
        """Return a hash of the judged documents, which differs for other data."""
        data, digest = self.data, hashlib.sha256()
        for array in (data.X, data.y, data.groups.query_of_row):
            digest.update(np.ascontiguousarray(array).data)
        digest.update(repr((data.feature_names, data.categories)).encode())
        return digest.hexdigest()

    @property
    def weights(self) -> Doubles | None:
        """The weight of each document, if the training set knows it."""
        return None

    @property
    def is_binned(self) -> bool:
        """Whether only bins of features are known, and the documents are in another order than in the input."""
        return False

    @property
    def level_counts(self) -> LevelCounts:
        """The number of levels of each feature that holds the levels of a category, by the feature's number."""
        if self._narrow is not None:
            return self._narrow.level_counts
        return self._once(
            "level counts", lambda: level_counts(self.data.X, self.data.feature_names, self.data.categories)
        )

    @property
    def canonical_rows(self) -> NDArray[np.int64]:
        """The rows, query by query, in an order that depends only on features and labels.

        Random draws, sums and ties in this order do not depend on the order of the input rows, nor on the names
        of the queries.
        """
        return self._once("rows", lambda: sealed(canonical_rows(self.data)))

    @property
    def canonical_queries(self) -> NDArray[np.int64]:
        """The numbers of the queries (see `RankingData.groups`) in canonical order."""
        return self._once("queries", lambda: sealed(canonical_queries(self.data, self.canonical_rows)))

    @property
    def ranges(self) -> FeatureRanges:
        """The range of each feature."""
        return self._once("ranges", lambda: FeatureRanges.of(self.data))

    @property
    def varies(self) -> bool:
        """Whether any feature varies within a query whose labels differ."""
        data = self.data
        return any(_varies(data.X[rows]) for rows in data.groups if np.ptp(data.y[rows]) > 0)

    @property
    def labels(self) -> QueryLabels:
        """Labels and query groups in canonical order."""
        return self._once("labels", self._labels)

    @property
    def all_labels(self) -> Doubles:
        """The labels in canonical order; of the whole training set, where this is a part of one."""
        return self.labels.y

    def _labels(self) -> QueryLabels:
        rows = self.canonical_rows
        return QueryLabels(sealed(self.data.y[rows]), QueryGroups.of(self.data.qid[rows]))

    def binned(
        self,
        max_bins: int,
        n_jobs: int | None = None,
        *,
        coarse: bool = False,
        sets: bool = False,
    ) -> BinnedFeatures:
        """Return the features as bin codes, rows in canonical order; see `BinnedFeatures.of`.

        If `sets`, the features that are categories are binned for splits by sets of levels.
        """
        require_bins(max_bins)  # 255.0 must be refused even if the bins for 255, an equal key, already exist

        categories = self.level_counts if sets else NO_CATEGORIES

        def make() -> BinnedFeatures:
            return BinnedFeatures.of(
                self.data.X,
                self.canonical_rows,
                max_bins=max_bins,
                coarse=coarse,
                categories=categories,
                sample=self._sample,
                n_jobs=n_jobs,
            )

        return self._once(("bins", max_bins, coarse, *categories), make)

    @property
    def _sample(self) -> NDArray[np.int64]:
        """The documents, by position in canonical order, from which edges of bins come."""
        if len(self) <= SAMPLE_ROWS:
            return np.arange(len(self))

        def make() -> NDArray[np.int64]:
            content, groups = content_hashes(self.data), self.data.groups
            keys = sampling_keys(content, query_hashes(content, groups)[groups.query_of_row])
            return smallest(keys[self.canonical_rows], SAMPLE_ROWS)

        return self._once("sample", make)

    @property
    def exact_codes(self) -> int:
        """Number of bytes that `exactly_binned` takes."""
        return self._once(("exact codes",), lambda: count_exact_codes(self.data.X))

    def exactly_binned(self, n_jobs: int | None = None, *, sets: bool = False) -> BinnedFeatures:
        """Return the features as bin codes with every threshold, in canonical order; `sets` as in `binned`."""
        categories = self.level_counts if sets else NO_CATEGORIES

        def make() -> BinnedFeatures:
            rows = self.canonical_rows
            return BinnedFeatures.exact(self.data.X, rows, categories=categories, n_jobs=n_jobs)

        return self._once(("exact bins", *categories), make)

    def with_query_features(self, kinds: tuple[QueryFeature, ...], *, raw: bool = True) -> TrainingSet:
        """Return the documents with their features, if `raw`, and the query features of each kind."""
        if raw and not kinds:
            return self

        def make() -> TrainingSet:
            wide = sealed(with_query_features(self.data.X, self.data.groups, kinds, raw=raw))
            return TrainingSet(RankingData(wide, self.data.y, self.data.qid), made_from=self if raw else None)

        return self._once(("columns", kinds, raw), make)

    def take_queries(self, queries: ArrayLike) -> TrainingSet:
        """Return the documents of the given queries (by number) as another training set."""
        return TrainingSet(self.data.take_queries(queries))


def _varies(X: NDArray[np.float32]) -> bool:
    """Return whether any column has different values; a missing value equals only other missing values."""
    first = X[0]
    return bool(((first != X) & ~(np.isnan(X) & np.isnan(first))).any())


def hold_out_queries(
    train: TrainingSet, share: float, random: np.random.Generator
) -> tuple[TrainingSet, TrainingSet]:
    """Return the training set without a random fraction of its queries, and these queries.

    Queries are drawn in canonical order: neither the order of rows nor the names of queries change the split. If
    there is only one query, both parts are all of it.
    """
    n_queries = len(train.canonical_queries)
    if n_queries == 1:
        return train, train
    drawn = train.canonical_queries[random.permutation(n_queries)]
    n_part = min(n_queries - 1, max(1, round(share * n_queries)))
    return train.take_queries(drawn[n_part:]), train.take_queries(drawn[:n_part])


def fold_queries(
    train: TrainingSet, n_folds: int, random: np.random.Generator, *, time_column: str | None = None
) -> list[tuple[TrainingSet, TrainingSet]]:
    """Return, for each of `n_folds` random folds of the queries, the training set without the fold, and the fold.

    Queries are drawn in canonical order as above; there must be at least `n_folds` of them. With a `time_column`
    folds are in time order, each after the queries that are learned from.
    """
    if time_column is None:
        fold_of_query = deal_folds(train.canonical_queries, n_folds, random)
    else:
        fold_of_query = QueryTimes.of(train.data, time_column).folds(n_folds)
    return [
        (
            train.take_queries(learned_from(fold_of_query, fold, in_time_order=time_column is not None)),
            train.take_queries(fold_of_query == fold),
        )
        for fold in range(n_folds)
    ]


def bag_queries(train: TrainingSet, random: np.random.Generator) -> tuple[TrainingSet, Doubles, TrainingSet]:
    """Return a bootstrap sample: the drawn queries, the number of draws of each document, and the other queries.

    From n queries, n are drawn with replacement, in canonical order as above; the draw is repeated if no query is
    left out. The numbers of draws are in canonical order too. If there is only one query, both parts are all of
    it.
    """
    n_queries = len(train.canonical_queries)
    if n_queries == 1:
        return train, np.ones(len(train)), train
    times = np.ones(n_queries, dtype=np.int64)
    while times.all():
        drawn = train.canonical_queries[random.integers(0, n_queries, n_queries)]
        times = np.bincount(drawn, minlength=n_queries)
    bag, of_row = train.take_queries(times > 0), times[train.data.groups.query_of_row]
    of_bag = of_row[of_row > 0][bag.canonical_rows]
    return bag, of_bag.astype(np.float64), train.take_queries(times == 0)
