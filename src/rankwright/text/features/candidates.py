"""Candidates: the documents of each query that are to be ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.readers.trec import Run
from rankwright.text.collections.queries import Queries
from rankwright.text.index.snapshot import SearchResults

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.text.index.snapshot import Snapshot

CandidatesLike: TypeAlias = "Sequence[SearchResults] | Run | Mapping[str, Sequence[str]]"


class Candidates(Protocol):
    """The documents of one query, by number in the index and by id; `SearchResults` are candidates."""

    @property
    def numbers(self) -> NDArray[np.int64]: ...
    @property
    def ids(self) -> list[str]: ...


class NamedCandidates(NamedTuple):
    """Candidates given by id."""

    numbers: NDArray[np.int64]
    ids: list[str]


def as_queries(queries: Any) -> Queries:
    """Return queries, given as such or as a mapping of ids to texts."""
    if isinstance(queries, Queries):
        return queries
    if isinstance(queries, Mapping):
        return Queries.of(queries)
    raise InputError(f"queries must be Queries or a mapping of ids to texts, not {type(queries).__name__}.")


def candidates_of(given: CandidatesLike, queries: Queries, snapshot: Snapshot) -> Sequence[Candidates]:
    """Return the candidates of each query; a query may have none. All documents must be in the index."""
    if isinstance(given, Run | Mapping):
        by_query = (
            _of_run(given) if isinstance(given, Run) else {str(query): [*ids] for query, ids in given.items()}
        )
        _require_known(by_query, queries)
        return _of_ids([by_query.get(query, []) for query in queries.ids], queries, snapshot)
    if isinstance(given, Sequence) and all(isinstance(results, SearchResults) for results in given):
        if len(given) != len(queries):
            raise InputError(f"There are {len(queries)} queries but {len(given)} results.")
        return _of_results(given, queries, snapshot)
    raise InputError(
        "candidates must be a list of SearchResults, a Run, or a mapping of query ids to document ids, not "
        f"{type(given).__name__}."
    )


def _of_run(run: Run) -> dict[str, list[str]]:
    """Return the documents of each query of a run, best first."""
    order = run.ranking().order
    names = run.document_ids[order].tolist()
    queries = run.groups.ids.tolist()
    return {
        query: names[begin:end]
        for query, (begin, end) in zip(queries, pairwise(run.groups.offsets.tolist()), strict=True)
    }


def _of_results(given: Sequence[SearchResults], queries: Queries, snapshot: Snapshot) -> Sequence[Candidates]:
    if any(results._snapshot is not snapshot for results in given):  # the index has changed since
        return _of_ids([results.ids for results in given], queries, snapshot)
    return given


def _require_known(given: Mapping[str, Sequence[str]], queries: Queries) -> None:
    for query in given:
        if query not in queries:
            raise InputError(f"There are candidates for query {query!r}, which is not among the queries.")


def _of_ids(lists: Sequence[Sequence[str]], queries: Queries, snapshot: Snapshot) -> list[NamedCandidates]:
    ids = [name for each in lists for name in each]
    for name in ids:
        if not isinstance(name, str):
            raise InputError(f"Ids of documents must be strings, not {name!r}.")
    numbers = snapshot.find(ids)
    if (numbers < 0).any():
        raise InputError(f"The index has no document {ids[int((numbers < 0).argmax())]!r}, which is a candidate.")
    offsets = np.cumsum([0, *map(len, lists)]).tolist()
    candidates = [NamedCandidates(numbers[a:b], ids[a:b]) for a, b in pairwise(offsets)]
    for query, mine in zip(queries.ids, candidates, strict=True):
        _require_different(query, mine.ids)
    return candidates


def _require_different(query: str, ids: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            raise InputError(f"Document {name!r} is twice among the candidates of query {query!r}.")
        seen.add(name)
