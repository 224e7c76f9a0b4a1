"""Immutable snapshot of an index: its segments at one time, searched together, and what a search finds."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.text.features.scopes import Scopes
from rankwright.text.index.checks import refusing_damage
from rankwright.text.index.vector_search import SearchedSegment, VectorSearch
from rankwright.text.retrieval import AbsoluteDiscounting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.text.index.segments import Segment
    from rankwright.text.retrieval import FieldStatistics, RetrievalModel


class Snapshot:
    """Segments in order; their documents are numbered consecutively, removed ones too."""

    def __init__(self, segments: Sequence[Segment], fields: Sequence[str]) -> None:
        self.segments = tuple(segments)
        self.fields = tuple(fields)
        self._starts = [0, *accumulate(len(segment) for segment in segments)]
        self._scopes: dict[tuple[int, ...], Scopes] = {}
        self._vectors: dict[str, VectorSearch] = {}

    def __reduce__(self) -> tuple[type[Snapshot], tuple[tuple[Segment, ...], tuple[str, ...]]]:
        """Pickle and copy the segments, without the statistics computed from them."""
        return Snapshot, (self.segments, self.fields)

    def __len__(self) -> int:
        """Return the number of documents, without removed ones."""
        return sum(segment.entry.n_documents for segment in self.segments)

    def segment_of(self, number: int) -> tuple[Segment, int]:
        """Return the segment of a document, and its number there."""
        position = bisect_right(self._starts, number) - 1
        return self.segments[position], number - self._starts[position]

    def id_of(self, number: int) -> str:
        """Return the id of a document."""
        segment, row = self.segment_of(number)
        return segment.ids.take(np.array([row]))[0]

    def ids_of(self, numbers: NDArray[np.int64]) -> list[str]:
        """Return the ids of documents."""
        if len(self.segments) == 1:
            return self.segments[0].ids.take(numbers)
        return [self.id_of(number) for number in numbers.tolist()]

    def find(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of documents, -1 for unknown and removed ones."""
        numbers = np.full(len(ids), -1, np.int64)
        for segment, start in zip(self.segments, self._starts, strict=False):
            rows = segment.find(ids)
            numbers[rows >= 0] = rows[rows >= 0] + start
        return numbers

    def statistics(self, fields: Sequence[str], terms: Sequence[str]) -> FieldStatistics:
        """Return the statistics of terms in each field, and in all of them together, the last row."""
        scopes = self.scopes(fields)
        return scopes.statistics(scopes.words(terms))

    @refusing_damage()
    def search(
        self,
        queries: Sequence[Sequence[str]],
        model: RetrievalModel,
        n: int,
        weights: Mapping[str, float],
        *,
        skip: bool = True,
        n_threads: int = 1,
    ) -> list[SearchResults]:
        """Return the best documents of queries given as terms; see `Index.search`."""
        prepared = self._prepared(queries, model, weights)
        if prepared is None:
            return [SearchResults(np.zeros(0, np.int64), np.zeros(0), self) for _ in queries]
        offsets, documents, scores = _native.best_documents(
            **prepared,
            removed=[segment.removed_bits for segment in self.segments],
            n=n,
            skip=skip,
            n_threads=n_threads,
        )
        return self.results(offsets, documents, scores)

    @refusing_damage()
    def score(
        self,
        queries: Sequence[Sequence[str]],
        documents: Sequence[NDArray[np.int64]],
        model: RetrievalModel,
        weights: Mapping[str, float],
        *,
        n_threads: int = 1,
    ) -> Doubles:
        """Return the scores of given documents, by number, for queries given as terms: those that `search` gives.

        The scores of all queries stand one after another. Documents without any term of the query have one too.
        """
        offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
        prepared = self._prepared(queries, model, weights)
        if prepared is None:
            return np.zeros(offsets[-1])
        fields = [name for name, weight in weights.items() if weight > 0]
        return _native.score_documents(
            **prepared,
            distinct=self._distinct(fields) if isinstance(model, AbsoluteDiscounting) else [],
            document_offsets=offsets,
            documents=np.concatenate([np.zeros(0, np.int64), *documents]),
            n_threads=n_threads,
        )

    def vectors(self, encoder: str) -> VectorSearch:
        """Return the vectors of an encoder."""
        if encoder not in self._vectors:
            vectors = [(segment.vectors[encoder], segment.removed_bits) for segment in self.segments]
            self._vectors[encoder] = VectorSearch(
                [SearchedSegment(stored.integers, removed, stored.graph) for stored, removed in vectors]
            )
        return self._vectors[encoder]

    def results(
        self, offsets: NDArray[np.int64], documents: NDArray[np.int64], scores: Doubles
    ) -> list[SearchResults]:
        """Return results that stand one after another as one list per query."""
        return [SearchResults(numbers, values, self) for numbers, values in _split(offsets, documents, scores)]

    def scopes(self, fields: Sequence[str]) -> Scopes:
        """Return the statistics of some fields and of all of them together."""
        numbers = tuple(self._field_number(field) for field in fields)
        if numbers not in self._scopes:
            self._scopes[numbers] = Scopes(self.segments, numbers)
        return self._scopes[numbers]

    def _distinct(self, fields: Sequence[str]) -> list[NDArray[np.uint32]]:
        """Return the number of distinct terms of each document in fields together, by segment."""
        numbers = tuple(self._field_number(field) for field in fields)
        return [segment.vocabulary(numbers).distinct for segment in self.segments]

    def _prepared(
        self, queries: Sequence[Sequence[str]], model: RetrievalModel, weights: Mapping[str, float]
    ) -> dict[str, Any] | None:
        """Return the arguments of the core's scorer; None if nothing can be found."""
        words = list({word: None for query in queries for word in query})
        weighed = {name: weight for name, weight in weights.items() if weight > 0}
        if not (words and weighed and self.segments):
            return None
        scopes, factors = self.scopes([*weighed]), np.array([*weighed.values()])
        known = scopes.words(words)
        formula = model.weigh(scopes.weighted(known, factors))
        offsets, numbers, counts = _counted(queries, {word: number for number, word in enumerate(words)})
        starts = formula.starts[0]
        return {
            "postings": scopes.postings,
            "weighting": model.weighting,
            "constant": formula.constant,
            "slope": float(np.max(formula.slope)),
            "field_weights": factors,
            "terms": scopes.terms(known),
            "weights": formula.weights[0],
            "scales": formula.scales[0],
            "offsets": offsets,
            "words": numbers,
            "counts": counts,
            "starts": np.array([starts[mine] @ counts_ for mine, counts_ in _split(offsets, numbers, counts)]),
        }

    def _field_number(self, field: str) -> int:
        if field not in self.fields:
            raise InputError(f"The index has no field {field!r}; it has {', '.join(self.fields)}.")
        return self.fields.index(field)


def _counted(
    queries: Sequence[Sequence[str]], number_of: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Doubles]:
    """Return offsets, distinct words by number, and how often each comes."""
    counted: list[dict[int, int]] = []
    for query in queries:
        counts: dict[int, int] = {}
        for word in query:
            counts[number_of[word]] = counts.get(number_of[word], 0) + 1
        counted.append(counts)
    offsets = np.cumsum([0, *map(len, counted)], dtype=np.int64)
    words = np.fromiter((word for counts in counted for word in counts), np.int64, offsets[-1])
    return offsets, words, np.fromiter((n for counts in counted for n in counts.values()), np.float64, offsets[-1])


def _split(offsets: NDArray[np.int64], *arrays: NDArray[Any]) -> list[tuple[NDArray[Any], ...]]:
    return [tuple(array[begin:end] for array in arrays) for begin, end in pairwise(offsets.tolist())]


@dataclass(frozen=True, eq=False)
class SearchResults:
    """Documents with their scores, best first; equal scores in the order in which documents were added.

    `numbers` are positions of documents in the index at the time of the search; `ids` are their names.

    Examples
    --------
    >>> index = rw.text.Index.build(rw.text.generated_collection(30, 5).documents, "index")
    >>> results = index.search("old bridge", n=2)
    >>> for document_id, score in results:
    ...     print(document_id, round(score, 3))
    d7 1.503
    d24 1.243
    """

    numbers: NDArray[np.int64]
    scores: Doubles
    _snapshot: Snapshot

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        """Yield id and score of each document."""
        return zip(self.ids, self.scores.tolist(), strict=True)

    @property
    def ids(self) -> list[str]:
        """The ids of the documents."""
        return self._snapshot.ids_of(self.numbers)

    def first(self, n: int) -> SearchResults:
        """Return the first n documents."""
        return self if len(self) <= n else SearchResults(self.numbers[:n], self.scores[:n], self._snapshot)

    def reordered(self, rows: NDArray[np.int64], scores: Doubles) -> SearchResults:
        """Return the documents at some positions of this list, with other scores."""
        return SearchResults(self.numbers[rows], scores, self._snapshot)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {score:.4g}" for name, score in [*zip(self.ids[:3], self.scores, strict=False)])
        return f"SearchResults({counted(len(self), 'document')}: {shown}{', ...' if len(self) > 3 else ''})"
