"""Judged documents: features, labels and the queries they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright import _native
from rankwright.data.binning import BinnedFeatures, require_bins
from rankwright.data.features import checked_feature_names, checked_features, feature_names_of
from rankwright.data.groups import QueryGroups, checked_query_ids
from rankwright.data.query_features import with_query_features
from rankwright.errors import InputError
from rankwright.threads import available_threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.data.query_features import QueryFeature


class Judged(NamedTuple):
    """The labels of documents and the queries they belong to: all that judging scores takes."""

    y: NDArray[np.float64]
    groups: QueryGroups


@dataclass(frozen=True, eq=False, init=False, repr=False)
class RankingData:
    """Documents of one or more queries; unpacks as `X, y, qid`.

    Parameters
    ----------
    X
        Features, a row a document; kept as float32, NaN is a missing value. Arrays, scipy sparse matrices
        (what is not stored is zero) and data frames will do.
    y
        Labels, real-valued, higher is better.
    qid
        The query of each document: integers or strings in any order.
    document_ids
        A name for each document, if there are any.
    feature_names
        A name for each feature; taken from a data frame's columns where X is one.
    """

    X: NDArray[np.float32]
    y: NDArray[np.float64]
    qid: NDArray[Any]
    document_ids: NDArray[np.object_] | None
    feature_names: tuple[str, ...] | None

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike,
        *,
        document_ids: Sequence[object] | NDArray[Any] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        features = checked_features(X)
        n_rows, n_features = features.shape
        self._set("X", features)
        self._set("y", checked_labels(y, n_rows))
        self._set("qid", checked_query_ids(qid))
        if len(self.qid) != n_rows:
            raise InputError(f"There are {n_rows} documents but {len(self.qid)} query ids.")
        self._set("document_ids", None if document_ids is None else checked_document_ids(document_ids, n_rows))
        names = feature_names_of(X) if feature_names is None else feature_names
        self._set("feature_names", None if names is None else checked_feature_names(names, n_features))

    def _set(self, name: str, value: Any) -> None:
        if isinstance(value, np.ndarray):
            value = value.view()
            value.flags.writeable = False
        object.__setattr__(self, name, value)

    @cached_property
    def groups(self) -> QueryGroups:
        """The rows of every query."""
        return QueryGroups.of(self.qid)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    def __len__(self) -> int:
        return len(self.y)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.X, self.y, self.qid))

    def __repr__(self) -> str:
        return f"RankingData({len(self):,} documents, {len(self.groups):,} queries, {self.n_features} features)"

    @cached_property
    def canonical_rows(self) -> NDArray[np.int64]:
        """The rows, query by query, in an order that depends on what they hold alone.

        What is drawn at random, added up, or breaks a tie in this order comes out the same however rows came in
        and whatever their queries are called.
        """
        query = self.groups.query_of_row
        content = _spread(_native.hash_rows(self.X, available_threads()) + _hashes(self.y))
        of_query = np.zeros(len(self.groups), dtype=np.uint64)
        np.add.at(of_query, query, content)
        return np.lexsort((content, query, of_query[query]))

    @cached_property
    def canonical(self) -> Judged:
        """Labels and queries in canonical order."""
        rows = self.canonical_rows
        return Judged(self.y[rows], QueryGroups.of(self.qid[rows]))

    def binned(self, max_bins: int, n_threads: int | None = None, *, coarse: bool = False) -> BinnedFeatures:
        """Return the rows in canonical order as codes for growing trees; made once, and kept for other fits."""
        require_bins(max_bins)  # also where the same number of another type was binned before
        if (max_bins, coarse) not in self._binned:
            self._binned[max_bins, coarse] = BinnedFeatures.of(
                self.X, self.canonical_rows, max_bins=max_bins, coarse=coarse, n_threads=n_threads
            )
        return self._binned[max_bins, coarse]

    @cached_property
    def _binned(self) -> dict[tuple[int, bool], BinnedFeatures]:
        return {}

    def widened(self, kinds: tuple[QueryFeature, ...], *, raw: bool = True) -> RankingData:
        """Return the documents with columns made within the query beside theirs, or instead of them.

        Made once, and kept too.
        """
        if (kinds, raw) not in self._widened:
            wide = with_query_features(self.X, self.groups, kinds, raw=raw)
            self._widened[kinds, raw] = RankingData(wide, self.y, self.qid)
        return self._widened[kinds, raw]

    @cached_property
    def _widened(self) -> dict[tuple[tuple[QueryFeature, ...], bool], RankingData]:
        return {}

    def take(self, rows: ArrayLike) -> RankingData:
        """Return the given rows as data of their own."""
        rows = np.asarray(rows)
        return RankingData(
            self.X[rows],
            self.y[rows],
            self.qid[rows],
            document_ids=None if self.document_ids is None else self.document_ids[rows],
            feature_names=self.feature_names,
        )

    def take_queries(self, queries: ArrayLike) -> RankingData:
        """Return the documents of the given queries (by number), rows in their old order."""
        wanted = np.zeros(len(self.groups), dtype=bool)
        wanted[np.asarray(queries)] = True
        return self.take(np.flatnonzero(wanted[self.groups.query_of_row]))


def _hashes(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return a number for each value, alike for both zeros, spread over all 64 bits."""
    return (values + 0.0).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def _spread(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers whose sum tells which features came with which label, not only what there was of each."""
    mixed = (hashes ^ (hashes >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))


def checked_labels(labels: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    """Return labels as doubles, one a row and all finite."""
    values = labels_of(labels, n_rows)
    if not np.isfinite(values.min(initial=0.0)) or not np.isfinite(values.max(initial=0.0)):  # NaN is both
        row = int((~np.isfinite(values)).argmax())
        raise InputError(f"The label of row {row} is {values[row]}; labels must be finite.")
    return values


def labels_of(labels: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    """Return labels as doubles, one a row, finite or not."""
    try:
        values = np.require(labels, np.float64, ["C", "A"])
    except (TypeError, ValueError):
        raise InputError("Labels must be numbers.") from None
    if values.shape != (n_rows,):
        raise InputError(f"There are {n_rows} documents but labels of shape {values.shape}.")
    return values


def checked_document_ids(ids: Sequence[object] | NDArray[Any], n_rows: int) -> NDArray[np.object_]:
    """Return document ids as an array of strings, one a row."""
    names = np.empty(len(ids), dtype=object)
    names[:] = [str(one) for one in ids]
    if len(names) != n_rows:
        raise InputError(f"There are {n_rows} documents but {len(names)} document ids.")
    return names
