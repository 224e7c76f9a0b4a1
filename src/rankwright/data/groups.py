"""Groups rows by query, and ranks the documents within each; no other module orders equal scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright import _native
from rankwright.base.arrays import checked_numbers, refuse_masked, sealed
from rankwright.base.errors import InputError, require_type
from rankwright.base.resources import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles, Integers


MAX_QUERY_ID = 1_000  # characters; an array of strings pads every row to the longest
MAX_RECENT = 1_000  # rows; scoring one query takes about as long as grouping its rows


@dataclass(frozen=True, eq=False)
class QueryGroups:
    """The rows of every query; the input may be in any order.

    Queries are numbered in the order in which they first appear. Query `q` has the rows
    `rows[offsets[q]:offsets[q + 1]]`, in the order of the input.

    Examples
    --------
    >>> groups = rw.QueryGroups.of(["hats", "shoes", "hats"])
    >>> groups.ids.tolist(), groups.sizes.tolist()
    (['hats', 'shoes'], [2, 1])
    >>> groups.rows[groups.offsets[0] : groups.offsets[1]].tolist()  # the rows of the first query
    [0, 2]
    """

    ids: NDArray[Any]
    offsets: Integers
    rows: Integers

    @classmethod
    def of(cls, qid: ArrayLike) -> QueryGroups:
        """Group rows by query id: any integers or strings, in any order, not necessarily adjacent."""
        return _group(checked_query_ids(qid))

    @classmethod
    def of_one(cls, n_rows: int) -> QueryGroups:
        """Group all rows as one query; without rows there is no query."""
        return _recent_query(n_rows) if n_rows <= MAX_RECENT else _one_query(n_rows)

    @classmethod
    def of_sizes(cls, sizes: ArrayLike) -> QueryGroups:
        """Group adjacent rows by the number of documents of each query."""
        counts = np.asarray(sizes)
        if counts.ndim != 1 or (len(counts) and counts.dtype.kind not in "iu") or (counts <= 0).any():
            raise InputError("Query sizes must be a list of positive integers.")
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return cls(np.arange(len(counts)), offsets, _all_rows(int(offsets[-1])))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[Integers]:
        """Yield the rows of each query."""
        for query in range(len(self)):
            yield self.rows[self.offsets[query] : self.offsets[query + 1]]

    @property
    def n_rows(self) -> int:
        """Number of documents in all queries together."""
        return len(self.rows)

    def reduce(self, ufunc: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
        """Reduce `values`, one per row, within each query by `ufunc`, such as `np.maximum`."""
        return np.asarray(ufunc.reduceat(values[self.rows], self.offsets[:-1]))

    def count_pairs(self, labels: Doubles) -> Integers:
        """Return the number of pairs of documents with different labels, one per query.

        That is half of (all ordered pairs - those with equal labels).
        """
        levels, level = np.unique(labels, return_inverse=True)
        label_in_query, count = np.unique(self.query_of_row * len(levels) + level, return_counts=True)
        equal = np.bincount(label_in_query // len(levels), count**2, minlength=len(self)).astype(np.int64)
        return np.asarray((self.sizes**2 - equal) // 2)

    @cached_property
    def sizes(self) -> Integers:
        """Number of documents of each query."""
        return np.diff(self.offsets)

    @cached_property
    def query_of_row(self) -> Integers:
        """Number of the query each row belongs to."""
        queries = np.empty(self.n_rows, dtype=np.int64)
        queries[self.rows] = np.repeat(np.arange(len(self)), self.sizes)
        return queries


def checked_query_ids(qid: ArrayLike) -> NDArray[Any]:
    """Return query ids as a one-dimensional array of integers or strings."""
    refuse_masked(qid, "qid")
    if isinstance(qid, list | tuple):
        _check_texts(qid)
    ids = np.asarray(qid)
    if ids.ndim != 1:
        raise InputError(f"qid must have one id per row, not shape {ids.shape}.")
    if ids.dtype.kind in "iu":
        return ids
    if ids.dtype.kind in "SU":
        if ids.dtype.itemsize > MAX_QUERY_ID:  # wide enough to hold an id that is too long
            _check_texts(ids.tolist())
        return ids
    if ids.dtype.kind == "f" and (np.abs(ids) < 2**63).all() and (ids == np.floor(ids)).all():
        return ids.astype(np.int64)
    if ids.dtype.kind == "O" and all(isinstance(query, str) for query in ids):
        _check_texts(ids)
        return ids.astype(np.str_) if len(ids) else ids.astype(np.int64)
    if ids.dtype.kind == "O" and all(_is_int64(query) for query in ids):
        return ids.astype(np.int64)
    raise InputError(f"qid must hold integers or strings, not {ids.dtype}.")


def _check_texts(ids: Iterable[object]) -> None:
    """Refuse ids that a numpy array of strings cannot store: it drops NULs and pads every id to the longest."""
    for row, query in enumerate(ids):
        if not isinstance(query, str | bytes):
            continue
        if (b"\0" if isinstance(query, bytes) else "\0") in query:  # type: ignore[operator]
            raise InputError(f"The query id of row {row} contains a NUL character; remove it.")
        if len(query) > MAX_QUERY_ID:
            raise InputError(
                f"The query id of row {row} has {len(query):,} characters; at most {MAX_QUERY_ID:,} are allowed."
            )


def _is_int64(query: object) -> bool:
    return isinstance(query, int | np.integer) and not isinstance(query, bool) and -(2**63) <= int(query) < 2**63


_counted = np.arange(0)


def _all_rows(n_rows: int) -> Integers:
    """Return 0, 1, ... for rows that are already grouped: a slice of one array that all groups share."""
    global _counted
    counted = _counted  # another thread may replace the shared array at any time, even by a shorter one
    if len(counted) < n_rows:
        counted = _counted = sealed(np.arange(n_rows))
    return counted[:n_rows]


def _one_query(n_rows: int) -> QueryGroups:
    offsets = np.array([0, n_rows] if n_rows else [0])
    return QueryGroups(*map(sealed, (np.zeros(len(offsets) - 1, dtype=np.int64), offsets, np.arange(n_rows))))


_recent_query = lru_cache(maxsize=64)(_one_query)


def _group(ids: NDArray[Any]) -> QueryGroups:
    if len(ids) == 0:
        return QueryGroups(ids, np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64))
    starts = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])
    if len(starts) == 1:
        return QueryGroups(ids[:1], np.array([0, len(ids)]), _all_rows(len(ids)))
    names, first_run, query_of_run = np.unique(ids[starts], return_index=True, return_inverse=True)
    if len(names) == len(starts):  # the rows of each query are adjacent
        return QueryGroups(ids[starts], np.append(starts, len(ids)), _all_rows(len(ids)))
    by_appearance = np.argsort(first_run)
    number = np.empty(len(names), dtype=np.int64)
    number[by_appearance] = np.arange(len(names))
    run_lengths = np.diff(np.append(starts, len(ids)))
    query_of_row = np.repeat(number[query_of_run], run_lengths)
    rows = np.argsort(query_of_row, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(query_of_row))])
    return QueryGroups(names[by_appearance], offsets, rows)


@dataclass(frozen=True, eq=False)
class Ranking:
    """The documents of every query, best first.

    `order[offsets[q]:offsets[q + 1]]` has the rows of query `q`: by descending score, equal scores by ascending
    `tie_break` if given, and otherwise in row order. `tied` has whether each query has equal scores.
    """

    groups: QueryGroups
    scores: Doubles
    native: _native.SortedQueries

    @classmethod
    def of(
        cls,
        scores: ArrayLike,
        groups: QueryGroups,
        *,
        tie_break: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> Ranking:
        """Rank the documents of every query by their scores."""
        require_type(groups, QueryGroups, "groups must be QueryGroups, which QueryGroups.of makes of query ids")
        values = checked_scores(scores, groups.n_rows)
        second = None if tie_break is None else checked_scores(tie_break, groups.n_rows, "tie_break")
        threads = resolve_threads(n_jobs)
        sorted_queries = _native.sort_within_queries(groups.offsets, groups.rows, values, second, threads)
        return cls(groups, values, sorted_queries)

    @property
    def order(self) -> Integers:
        """The rows of every query, best first."""
        return self.native.order

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Whether each query has equal scores."""
        return self.native.tied

    def ranks(self) -> Integers:
        """Return each row's rank within its query, from 1."""
        order = self.order
        ranks = np.empty(len(order), dtype=np.int64)
        starts = np.repeat(self.groups.offsets[:-1], self.groups.sizes)
        ranks[order] = np.arange(len(order)) - starts + 1
        return ranks


def checked_scores(scores: ArrayLike, n_rows: int, name: str = "scores") -> Doubles:
    """Return scores, or another sort key, as contiguous doubles, one per row and without NaN."""
    values = checked_numbers(scores, name)
    if values.shape != (n_rows,):
        raise InputError(f"There are {n_rows} documents but {name} of shape {values.shape}.")
    if np.isnan(values.min(initial=0.0)):  # NaN if any is
        row = int(np.isnan(values).argmax())
        raise InputError(f"Row {row} is NaN in {name}; it cannot be ranked.")
    return values
