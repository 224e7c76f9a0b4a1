"""Documents: features and the queries they belong to; judged documents have labels as well."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rankwright import _native
from rankwright.base.arrays import (
    checked_feature_names,
    checked_features,
    checked_numbers,
    feature_names_of,
    frozen,
    sealed,
)
from rankwright.base.errors import InputError
from rankwright.base.resources import available_threads
from rankwright.base.wording import counted
from rankwright.data.categories import checked_categories
from rankwright.data.column_roles import no_column
from rankwright.data.groups import QueryGroups, Ranking, checked_query_ids

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.data.categories import Category
    from rankwright.data.column_roles import Columns


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Documents:
    """Documents of one or more queries, without labels: all that a model needs to score them.

    A plain value: its arrays are read-only, and it can be pickled, copied and shared between threads.

    Parameters
    ----------
    X
        Features, one row per document; kept as float32, NaN is a missing value. Takes arrays, scipy sparse
        matrices (values that are not stored are zero) and data frames.
    qid
        The query id of each document: integers or strings in any order.
    document_ids
        Optional ids of the documents, one per row.
    feature_names
        Optional names of the features; by default the column names if X is a data frame.
    categories
        How the features made from columns of categories were made, if there are any.
    copy
        Whether to copy writeable arrays. Without a copy, which saves memory, they must not change afterwards.

    Examples
    --------
    >>> new = rw.Documents([[0.3, 2], [0.8, 4], [0.4, 1]], ["hats", "hats", "shoes"])
    >>> new
    Documents(3 documents, 2 queries, 2 features)
    >>> new.with_labels([0, 2, 1])  # once they are judged
    RankingData(3 documents, 2 queries, 2 features)
    """

    X: Floats
    qid: NDArray[Any]
    document_ids: NDArray[np.object_] | None
    feature_names: tuple[str, ...] | None
    categories: tuple[Category, ...]
    columns: Columns | None
    shown: Mapping[str, NDArray[np.object_]]

    def __init__(
        self,
        X: Any,
        qid: ArrayLike,
        *,
        document_ids: Sequence[object] | NDArray[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        categories: Sequence[Category] = (),
        copy: bool = True,
    ) -> None:
        features, ids = checked_features(X, feature_names), checked_query_ids(qid)
        n_rows, n_features = features.shape
        if len(ids) != n_rows:
            raise InputError(f"There are {n_rows} documents but {len(ids)} query ids.")
        names = feature_names_of(X) if feature_names is None else feature_names
        self._set("X", frozen(features, X, copy=copy))
        self._set("qid", frozen(ids, qid, copy=copy))
        self._set("document_ids", None if document_ids is None else checked_document_ids(document_ids, n_rows))
        self._set("feature_names", None if names is None else checked_feature_names(names, n_features))
        self._set("categories", checked_categories(categories, self.feature_names) if categories else ())
        self._set("columns", None)  # what the columns of a table were used for
        self._set("shown", {})  # columns of a table to show beside the documents, as text

    def _set(self, name: str, value: Any) -> None:
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
        return len(self.X)

    def __repr__(self) -> str:
        counts = {"document": len(self), "query": len(self.groups), "feature": self.n_features}
        return f"{type(self).__name__}({', '.join(counted(number, noun) for noun, number in counts.items())})"

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone, without anything computed from them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the fields; arrays are read-only again, which pickle does not keep."""
        for name, value in state.items():
            self._set(name, sealed(value) if isinstance(value, np.ndarray) else value)

    def with_labels(self, y: ArrayLike) -> RankingData:
        """Return these documents as judged data, with one label per row."""
        judged = RankingData(
            self.X,
            y,
            self.qid,
            document_ids=self.document_ids,
            feature_names=self.feature_names,
            categories=self.categories,
        )
        return judged.with_columns(self.columns, self.shown)

    def with_columns(
        self, columns: Columns | None, shown: Mapping[str, Sequence[str | None] | NDArray[Any]]
    ) -> Self:
        """Return the same documents, which remember the use of their columns, and those to show as text."""
        texts = {name: np.array(column, dtype=object) for name, column in shown.items()}
        return self._replaced(columns=columns, shown=texts)

    def scores_by(self, column: str) -> Doubles:
        """Return scores that order documents by a column, ascending; with `-` before its name, descending.

        The column is a feature or is shown. Documents without a value are last.
        """
        name = column.removeprefix("-")
        if name in self.shown:
            try:
                values = np.array([np.nan if text is None else float(text) for text in self.shown[name]])
            except ValueError:
                raise InputError(f"Column {name!r} holds no numbers to order documents by, but text.") from None
        elif name in (self.feature_names or ()):
            values = self.X[:, (self.feature_names or ()).index(name)].astype(np.float64)
        else:
            raise InputError(no_column(name, [*self.shown, *(self.feature_names or ())]))
        scores = values if column.startswith("-") else -values
        last = np.nextafter(np.nanmin(scores, initial=0.0), -np.inf)
        return np.where(np.isnan(scores), last, scores)

    def with_features(self, X: Floats, names: tuple[str, ...] | None, categories: tuple[Category, ...]) -> Self:
        """Return the same documents with other features, which are not checked again."""
        return self._replaced(X=X, feature_names=names, categories=categories)

    def _replaced(self, **changes: Any) -> Self:
        changed = object.__new__(type(self))
        for name, value in (self.__getstate__() | changes).items():
            changed._set(name, value)
        return changed

    @property
    def document_names(self) -> NDArray[np.object_]:
        """The document ids; a document without one is named by its position within its query: doc1, doc2 ..."""
        positions = np.empty(len(self), dtype=np.int64)
        positions[self.groups.rows] = np.arange(len(self)) - np.repeat(self.groups.offsets[:-1], self.groups.sizes)
        ids = [""] * len(self) if self.document_ids is None else self.document_ids.tolist()
        names = [name or f"doc{number}" for name, number in zip(ids, (positions + 1).tolist(), strict=True)]
        return checked_document_ids(names, len(self))

    def repeated_rows(self) -> list[tuple[int, int]]:
        """Return the rows whose document occurred in their query before, each after the row of the first."""
        if self.document_ids is None:
            return []
        repeated: list[tuple[int, int]] = []
        for rows in self.groups:
            ids = self.document_ids[rows].tolist()
            if len(set(ids)) < len(ids):
                first: dict[str, int] = {}
                named = [(name, row) for name, row in zip(ids, rows.tolist(), strict=True) if name]
                repeated += [(first[name], row) for name, row in named if first.setdefault(name, row) != row]
        return sorted(repeated, key=itemgetter(1))

    def _as_joined(self, joined: Any, _parts: Sequence[Documents]) -> Any:
        """Return documents joined from several parts, of which this is the first, as documents of its kind."""
        return joined

    def take(self, rows: ArrayLike) -> Self:
        """Return the given rows, by number or mask, in the given order."""
        return self._selected(checked_rows(rows))

    def between(self, first: int, end: int) -> Self:
        """Return the rows from `first` to before `end`, as views of the same arrays."""
        return self._selected(slice(first, end))

    def _selected(self, wanted: Integers | slice) -> Self:
        arrays = {name: value for name, value in self.__getstate__().items() if isinstance(value, np.ndarray)}
        taken = {name: sealed(value[wanted]) for name, value in arrays.items()}
        return self._replaced(**taken, shown={name: texts[wanted] for name, texts in self.shown.items()})

    def take_queries(self, queries: ArrayLike) -> Self:
        """Return the documents of the given queries (by number), rows in their old order."""
        wanted = np.zeros(len(self.groups), dtype=bool)
        wanted[checked_rows(queries)] = True
        return self.take(wanted[self.groups.query_of_row])


@dataclass(frozen=True, eq=False, init=False, repr=False)
class RankingData(Documents):
    """Judged documents: documents with labels; unpacks as `X, y, qid`.

    Parameters
    ----------
    X, qid, document_ids, feature_names, categories, copy
        As in `Documents`.
    y
        Labels, real numbers, one per row; higher is better.

    Examples
    --------
    >>> qid = ["hats", "shoes", "hats"]
    >>> judged = rw.RankingData([[0.2, 7], [0.9, 3], [0.5, 1]], [0, 2, 1], qid)
    >>> judged
    RankingData(3 documents, 2 queries, 2 features)
    >>> judged.take_queries([0]).y.tolist()  # the labels of the first query, hats
    [0.0, 1.0]
    """

    y: Doubles

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike,
        *,
        document_ids: Sequence[object] | NDArray[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        categories: Sequence[Category] = (),
        copy: bool = True,
    ) -> None:
        super().__init__(
            X, qid, document_ids=document_ids, feature_names=feature_names, categories=categories, copy=copy
        )
        self._set("y", frozen(checked_labels(y, len(self.X)), y, copy=copy))

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.X, self.y, self.qid))


def checked_labels(labels: ArrayLike, n_rows: int) -> Doubles:
    """Return labels as doubles, one per row and all finite."""
    values = labels_of(labels, n_rows)
    if not np.isfinite(values.min(initial=0.0)) or not np.isfinite(values.max(initial=0.0)):  # NaN is both
        row = int((~np.isfinite(values)).argmax())
        raise InputError(f"The label of row {row} is {values[row]}; labels must be finite.")
    return values


def labels_of(labels: ArrayLike, n_rows: int) -> Doubles:
    """Return labels as doubles, one per row, finite or not."""
    values = checked_numbers(labels, "Labels")
    if values.shape != (n_rows,):
        raise InputError(f"There are {n_rows} documents but labels of shape {values.shape}.")
    return values


def checked_document_ids(ids: Sequence[object] | NDArray[Any], n_rows: int) -> NDArray[np.object_]:
    """Return document ids as a read-only array of strings, one per row."""
    names = np.empty(len(ids), dtype=object)
    names[:] = [str(name) for name in ids]
    if len(names) != n_rows:
        raise InputError(f"There are {n_rows} documents but {len(names)} document ids.")
    return sealed(names)


def checked_rows(rows: ArrayLike) -> NDArray[Any]:
    """Return a list of row or query numbers, or a mask, as an array."""
    wanted = np.asarray(rows)
    if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iub"):
        raise InputError(f"Rows must be a list of integers or a mask, not {wanted.dtype} of shape {wanted.shape}.")
    return wanted if wanted.size else wanted.astype(np.int64)


def canonical_rows(data: Documents) -> Integers:
    """Return the rows, query by query, in an order that depends only on features and labels.

    Random draws, sums and ties in this order do not depend on the order of the input rows, nor on the names of
    queries.
    """
    groups, content = data.groups, content_hashes(data)
    # Halves of the hashes, which doubles hold exactly: queries are sorted side by side.
    high, low = ((content >> np.uint64(bits) & np.uint64(0xFFFFFFFF)).astype(np.float64) for bits in (32, 0))
    order = Ranking.of(-high, groups, tie_break=low).order
    queries = np.argsort(query_hashes(content, groups), kind="stable")
    sizes = groups.sizes[queries]
    moved_by = groups.offsets[:-1][queries] - (np.cumsum(sizes) - sizes)
    return np.asarray(order[np.repeat(moved_by, sizes) + np.arange(len(order))])


def content_hashes(data: Documents) -> NDArray[np.uint64]:
    """Return a hash of the features, and of the label if there is one, of each document."""
    content = _native.hash_rows(data.X, available_threads())
    if isinstance(data, RankingData):
        content = content + _hashes(data.y)
    return _spread(content)


def query_hashes(content: NDArray[np.uint64], groups: QueryGroups) -> NDArray[np.uint64]:
    """Return the sum of the hashes of each query's documents, which does not depend on their order."""
    sums = np.zeros(len(groups), dtype=np.uint64)
    np.add.at(sums, groups.query_of_row, content)
    return sums


def sampling_keys(content: NDArray[np.uint64], of_query: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a pseudo-random number of each document, given its hash and that of its query.

    The documents with the smallest ones are a sample that depends neither on the order of documents nor on how
    they are spread over files or machines. Equal documents of different queries have different numbers.
    """
    return _spread(content ^ _spread(of_query))


def canonical_queries(data: Documents, rows: Integers | None = None) -> Integers:
    """Return the numbers of the queries in canonical order; `rows` are the canonical rows, if they are known."""
    of_row = data.groups.query_of_row[canonical_rows(data) if rows is None else rows]
    return np.asarray(of_row[np.sort(np.unique(of_row, return_index=True)[1])])


def _hashes(values: Doubles) -> NDArray[np.uint64]:
    """Return a hash of each value; 0.0 and -0.0 have the same."""
    return (values + 0.0).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def _spread(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of hashes, so that sums over a query depend on which features occur with which label."""
    mixed = (hashes ^ (hashes >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))
