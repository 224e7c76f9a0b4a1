"""Splits documents by query, draws samples of queries, and joins documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import counted
from rankwright.data.alignment import aligned
from rankwright.data.dataset import Documents, RankingData, canonical_queries
from rankwright.data.query_times import QueryTimes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Integers

SomeDocuments = TypeVar("SomeDocuments", bound=Documents)

SHARED_QUERIES = ("refuse", "merge", "separate")
KINDS = {"i": "integers", "u": "integers", "U": "strings", "S": "bytes"}


def split_queries(
    data: SomeDocuments, *sizes: float, random_state: int = 0, time_column: str | None = None
) -> tuple[SomeDocuments, ...]:
    """Split documents at random, or in time order, into parts with different queries.

    All documents of a query go to the same part and keep their order. The split depends neither on the order of
    the rows nor on the names of the queries.

    Parameters
    ----------
    data
        The documents, judged or not.
    sizes
        The fraction of the queries in each part; fractions sum to 1, as in `split_queries(data, 0.6, 0.2, 0.2)`.
        Or the number of queries in each part; these sum to the number of queries.
    random_state
        The seed.
    time_column
        A feature, or a column that is shown, with the time of each query: a number or a date. The first part then
        has the earliest queries, the last the latest; queries of the same time are in the same part, so that sizes
        are kept as nearly as times allow. None: a random split.

    Examples
    --------
    >>> judged = rw.synthetic.gaussian_queries(20)
    >>> train, valid, test = rw.split_queries(judged, 0.6, 0.2, 0.2)
    >>> len(train.groups), len(valid.groups), len(test.groups)
    (12, 4, 4)
    >>> set(train.qid) & set(test.qid)
    set()
    """
    _require_documents(data)
    numbers = part_sizes(sizes, len(data.groups))
    if time_column is not None:
        period = QueryTimes.of(data, time_column).periods((numbers / numbers.sum()).tolist())
        return tuple(data.take_queries(period == part) for part in range(len(numbers)))
    ends = np.cumsum(numbers)
    drawn = _shuffled_queries(data, random_state)
    return tuple(data.take_queries(part) for part in np.split(drawn, ends[:-1]))


def sample_queries(data: SomeDocuments, size: float, *, random_state: int = 0) -> SomeDocuments:
    """Return the documents of randomly drawn queries, in their old order.

    Parameters
    ----------
    data
        The documents, judged or not.
    size
        The fraction of the queries to draw, a float above 0 and at most 1; or their number, an integer. Without
        replacement.
    random_state
        The seed. With the same seed, a smaller sample is part of a larger one.

    Examples
    --------
    >>> judged = rw.synthetic.gaussian_queries(20)
    >>> rw.sample_queries(judged, 0.25)
    RankingData(105 documents, 5 queries, 2 features)
    >>> len(rw.sample_queries(judged, 3).groups)
    3
    """
    _require_documents(data)
    n_queries = len(data.groups)
    wanted = size if _is_whole(size) else round(size * n_queries) if _is_fraction(size) else 0
    if not 1 <= wanted <= n_queries:
        raise InputError(
            f"A sample of {counted(n_queries, 'query')} must be a fraction that gives at least one query, or an "
            f"integer from 1 to {n_queries:,}, not {size!r}."
        )
    return data.take_queries(_shuffled_queries(data, random_state)[: int(wanted)])


def concat(*parts: SomeDocuments, shared_queries: str = "refuse") -> SomeDocuments:
    """Join documents, all judged or all without labels, with the same features.

    Features are put in the order of the first part by name. A part without names takes those of the others; a
    document without an id gets an empty one.

    Parameters
    ----------
    parts
        The documents to join, one after the other.
    shared_queries
        What a query id means that occurs in several parts. `"refuse"`: that is an error. `"merge"`: it is one
        query. `"separate"`: these are different queries; all queries then get new ids, 0, 1, 2 and so on.

    Examples
    --------
    >>> monday = rw.RankingData([[0.1], [0.9]], [0, 1], ["hats", "hats"])
    >>> tuesday = rw.RankingData([[0.4], [0.2]], [1, 0], ["shoes", "hats"])
    >>> rw.concat(monday, tuesday, shared_queries="merge")
    RankingData(4 documents, 2 queries, 1 feature)
    """
    _check_parts(parts, shared_queries)
    named = next((part for part in parts if part.feature_names is not None), parts[0])
    parts = tuple(aligned(part, named) for part in parts)
    documents: dict[str, Any] = {
        "document_ids": _joined_document_ids(parts),
        "feature_names": named.feature_names,
        "categories": named.categories,
    }
    X = sealed(np.concatenate([part.X for part in parts]))
    qid = sealed(_joined_queries(parts, shared_queries))
    if isinstance(parts[0], RankingData):
        y = np.concatenate([part.y for part in parts if isinstance(part, RankingData)])
        joined: SomeDocuments = parts[0]._as_joined(RankingData(X, y, qid, **documents), parts)
    else:
        joined = parts[0]._as_joined(Documents(X, qid, **documents), parts)
    shared = [name for name in parts[0].shown if all(name in part.shown for part in parts)]
    shown = {name: np.concatenate([part.shown[name] for part in parts]) for name in shared}
    return joined.with_columns(None, shown)


def generator(random_state: Any) -> np.random.Generator:
    """Return the random numbers of a seed."""
    if not _is_whole(random_state) or random_state < 0:
        raise InputError(f"{parameter('random_state')} must be a non-negative integer, not {random_state!r}.")
    return np.random.default_rng(random_state)


def deal_folds(
    queries: Integers,
    n_folds: int,
    random: np.random.Generator,
    *,
    counts: Integers | None = None,
) -> Integers:
    """Return the fold of every query: random, each fold with about the same number of queries.

    Parameters
    ----------
    queries
        The numbers of all queries in canonical order.
    counts
        A number of every query, which folds are to have in equal proportions: of each `n_folds` queries whose
        numbers are neighbours, every fold gets one. No stratum can thus be too small for the folds.
    """
    if len(queries) < n_folds:
        raise InputError(f"{n_folds} folds need at least {n_folds} queries, not {len(queries)}.")
    fold_of_query = np.empty(len(queries), dtype=np.int64)
    if counts is None:
        fold_of_query[queries] = random.permutation(len(queries)) % n_folds
        return fold_of_query
    strata = np.tile(np.arange(n_folds), (-(-len(queries) // n_folds), 1))
    fold_of_query[_by_count(queries, counts, random)] = random.permuted(strata, axis=1).ravel()[: len(queries)]
    return fold_of_query


def draw_evenly(queries: Integers, size: int, random: np.random.Generator, counts: Integers) -> NDArray[np.bool_]:
    """Return whether each query is drawn: so many, at even distances in the order of their counts."""
    ordered = _by_count(queries, counts, random)
    drawn = np.zeros(len(queries), dtype=bool)
    drawn[ordered[((np.arange(size) + random.random()) * len(queries) / size).astype(np.int64)]] = True
    return drawn


def _by_count(queries: Integers, counts: Integers, random: np.random.Generator) -> Integers:
    """Return queries by ascending count; those with the same count in random order."""
    shuffled = random.permutation(queries)
    return shuffled[np.argsort(counts[shuffled], kind="stable")]


def _require_documents(data: Any) -> None:
    if not isinstance(data, Documents):
        raise InputError(f"Expected RankingData or Documents, not {type(data).__name__}.")


def _shuffled_queries(data: Documents, random_state: int) -> Integers:
    return generator(random_state).permutation(canonical_queries(data))


def _is_whole(size: Any) -> bool:
    return isinstance(size, int | np.integer) and not isinstance(size, bool)


def _is_fraction(size: Any) -> bool:
    return isinstance(size, float | np.floating) and bool(0 < size <= 1)


def part_sizes(sizes: Sequence[float], n_queries: int) -> Integers:
    """Return the number of queries of each part."""
    if sizes and all(map(_is_whole, sizes)):
        return _counted_parts(sizes, n_queries)
    if not sizes or not all(map(_is_fraction, sizes)) or abs(sum(sizes) - 1) > 1e-9:
        raise InputError(
            "The sizes of the parts must be fractions that sum to 1, such as 0.6, 0.2, 0.2, or numbers of "
            f"queries, not {', '.join(map(repr, sizes)) or 'nothing'}."
        )
    ends = np.rint(np.cumsum(sizes) * n_queries).astype(np.int64)
    parts: Integers = np.diff(ends, prepend=0)
    if (parts == 0).any():
        empty = int(parts.argmin())
        raise InputError(
            f"{counted(n_queries, 'query')} are too few: part {empty + 1}, {sizes[empty]:g}, would be empty."
        )
    return parts


def _counted_parts(sizes: Sequence[float], n_queries: int) -> Integers:
    if min(sizes) < 1 or sum(sizes) != n_queries:
        raise InputError(
            f"The sizes of the parts must be positive and sum to {n_queries:,}, the number of queries, not "
            f"{' + '.join(map(str, sizes))} = {sum(sizes)}; `sample_queries` draws fewer."
        )
    return np.array(sizes, dtype=np.int64)


def _check_parts(parts: Sequence[Any], shared_queries: str) -> None:
    if not parts:
        raise InputError("There are no documents to join.")
    if shared_queries not in SHARED_QUERIES:
        raise InputError(f"shared_queries must be one of {', '.join(SHARED_QUERIES)}, not {shared_queries!r}.")
    first = parts[0]
    if isinstance(first, list | tuple):
        raise InputError("concat takes the parts one by one, as in concat(first, second) or concat(*parts).")
    _require_documents(first)
    for number, part in enumerate(parts[1:], start=2):
        _require_documents(part)
        if isinstance(part, RankingData) != isinstance(first, RankingData):
            raise InputError(
                f"Some parts have labels and part {number if not isinstance(part, RankingData) else 1} has none."
            )
        if part.n_features != first.n_features:
            raise InputError(
                f"Part 1 has {counted(first.n_features, 'feature')}, part {number} has {part.n_features:,}."
            )
    _check_names([(number, part) for number, part in enumerate(parts, start=1) if part.feature_names is not None])


def _check_names(named: Sequence[tuple[int, Documents]]) -> None:
    for number, part in named[1:]:
        first, reference = named[0]
        if {*(part.feature_names or ())} != {*(reference.feature_names or ())}:
            raise InputError(f"Parts {first} and {number} have different feature names.")
        if part.categories != reference.categories:
            raise InputError(
                f"Parts {first} and {number} encode categories differently; join their tables before reading them."
            )


def _joined_document_ids(parts: Sequence[Documents]) -> NDArray[np.object_] | None:
    if all(part.document_ids is None for part in parts):
        return None
    return np.concatenate(
        [
            np.full(len(part), "", dtype=object) if part.document_ids is None else part.document_ids
            for part in parts
        ]
    )


def _joined_queries(parts: Sequence[Documents], shared_queries: str) -> NDArray[Any]:
    if shared_queries == "separate":
        firsts = np.cumsum([0, *(len(part.groups) for part in parts)])
        return np.concatenate(
            [part.groups.query_of_row + first for part, first in zip(parts, firsts, strict=False)]
        )
    kinds = {KINDS[part.qid.dtype.kind] for part in parts if len(part)}
    if len(kinds) > 1:
        raise InputError(
            f"The query ids are {' in one part and '.join(sorted(kinds))} in another; convert one of them."
        )
    if shared_queries == "refuse":
        _refuse_shared([part.groups.ids for part in parts])
    return (
        _integers([part.qid for part in parts])
        if kinds == {"integers"}
        else np.concatenate([part.qid for part in parts])
    )


def _integers(ids: Sequence[NDArray[Any]]) -> Integers:
    """Join integers of any type: numpy would turn 64-bit integers with and without sign into floats."""
    if any(len(part) and int(part.max()) > np.iinfo(np.int64).max for part in ids):
        raise InputError("Query ids above 2^63 - 1 cannot be joined; use smaller ones, or strings.")
    return np.concatenate([part.astype(np.int64) for part in ids])


def _refuse_shared(ids: Sequence[NDArray[Any]]) -> None:
    where: dict[Any, int] = {}
    for number, part in enumerate(ids, start=1):
        for query in part.tolist():
            if query in where:
                raise InputError(
                    f"Parts {where[query]} and {number} both have query {query!r}: pass shared_queries='merge' if "
                    "that is the same query, 'separate' if these are different queries."
                )
        where.update(dict.fromkeys(part.tolist(), number))
