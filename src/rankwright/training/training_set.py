"""Judged documents prepared for fitting, so that several fits share the preparation."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from rankwright.base.arrays import Doubles, sealed
from rankwright.base.errors import InputError
from rankwright.data.alignment import HasFeatures, aligned
from rankwright.data.canonical_order import canonical_queries, canonical_rows
from rankwright.data.dataset import RankingData
from rankwright.data.groups import QueryGroups
from rankwright.data.query_features import QueryFeature, with_query_features
from rankwright.training.binning import BinnedFeatures, count_exact_codes, require_bins

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


class TrainingSet:
    """Judged documents with everything that fits prepare from them: canonical order, bins, query features.

    Each of these is computed when it is first needed and then kept, so that fits with other settings share it.
    Pass a training set to `fit`, also as `validation`, if the same documents are used more than once. Threads may
    share a training set. A copied or pickled training set prepares everything again.

    Parameters
    ----------
    data
        The judged documents.
    """

    def __init__(self, data: RankingData) -> None:
        if not isinstance(data, RankingData):
            raise InputError(f"A training set is made from RankingData, not {type(data).__name__}.")
        self.data = data
        self._lock = RLock()
        self._made: dict[Any, Any] = {}

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
    def labels(self) -> QueryLabels:
        """Labels and query groups in canonical order."""
        return self._once("labels", self._labels)

    def _labels(self) -> QueryLabels:
        rows = self.canonical_rows
        return QueryLabels(sealed(self.data.y[rows]), QueryGroups.of(self.data.qid[rows]))

    def binned(self, max_bins: int, n_jobs: int | None = None, *, coarse: bool = False) -> BinnedFeatures:
        """Return the features as bin codes, rows in canonical order; see `BinnedFeatures.of`."""
        require_bins(max_bins)  # 255.0 must be refused even if the bins for 255, an equal key, already exist

        def make() -> BinnedFeatures:
            rows = self.canonical_rows
            return BinnedFeatures.of(self.data.X, rows, max_bins=max_bins, coarse=coarse, n_jobs=n_jobs)

        return self._once(("bins", max_bins, coarse), make)

    @property
    def exact_codes(self) -> int:
        """Number of bytes that `exactly_binned` takes."""
        return self._once(("exact codes",), lambda: count_exact_codes(self.data.X))

    def exactly_binned(self, n_jobs: int | None = None) -> BinnedFeatures:
        """Return the features as bin codes with every threshold, rows in canonical order."""
        return self._once(
            ("exact bins",), lambda: BinnedFeatures.exact(self.data.X, self.canonical_rows, n_jobs=n_jobs)
        )

    def with_query_features(self, kinds: tuple[QueryFeature, ...], *, raw: bool = True) -> TrainingSet:
        """Return the documents with their features, if `raw`, and the query features of each kind."""
        if raw and not kinds:
            return self

        def make() -> TrainingSet:
            wide = sealed(with_query_features(self.data.X, self.data.groups, kinds, raw=raw))
            return TrainingSet(RankingData(wide, self.data.y, self.data.qid))

        return self._once(("columns", kinds, raw), make)

    def take_queries(self, queries: ArrayLike) -> TrainingSet:
        """Return the documents of the given queries (by number) as another training set."""
        return TrainingSet(self.data.take_queries(queries))
