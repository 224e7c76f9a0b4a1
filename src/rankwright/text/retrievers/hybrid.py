"""Several retrievers joined: each finds candidates, and their scores and ranks are features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.resources import resolve_threads
from rankwright.base.wording import listed
from rankwright.data.fusion import FusionMethod, comparable
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.data.readers.trec import Run
from rankwright.text.analyser import terms_of_texts
from rankwright.text.features.feature_names import model_name
from rankwright.text.index.checks import searching_model
from rankwright.text.index.snapshot import SearchResults
from rankwright.text.retrievers.columns import FUSION, RANK, SCORE
from rankwright.text.retrievers.dense import Dense
from rankwright.text.retrievers.retriever import BaseRetriever

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Floats
    from rankwright.text.collections.queries import Queries
    from rankwright.text.index.index import Index
    from rankwright.text.index.snapshot import Snapshot
    from rankwright.text.retrieval import RetrievalModel


DEPTH = 100  # documents of each retriever that are fused at least: the order of few would depend on their number


@dataclass(frozen=True)
class Hybrid(BaseRetriever):
    """Documents that any of several retrievers finds, ordered by a fixed fusion of their scores.

    Parameters
    ----------
    retrievers : sequence
        Retrieval models such as `BM25()`, `Dense()` for nearest neighbours, or a `Run` of your own, which is known
        by the ids of queries.
    fusion : str
        How scores are fused: "zscore" (sum of deviations from the query's mean in standard deviations), "minmax"
        or "rrf" (reciprocal rank fusion). Every document is scored by all retrievers, also where it was found by
        one only; a run has no score for documents that it does not list. A search fuses at least the first 100
        documents of each retriever.

    Examples
    --------
    >>> def letters(texts):
    ...     return [[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
    >>> index = rw.text.Index.build(rw.text.generated_collection(30, 5).documents, "index")
    >>> index.encode(rw.text.Encoder(letters, "letters"))
    >>> index.search("old bridge", rw.text.Hybrid([rw.text.BM25(), rw.text.Dense()]), n=2).ids
    ['d5', 'd7']
    """

    retrievers: Sequence[RetrievalModel | Dense | Run]
    fusion: str = field(default=FusionMethod.ZSCORE.value, kw_only=True)

    def __post_init__(self) -> None:
        given = self.retrievers
        chosen = tuple(given) if isinstance(given, list | tuple) else ()
        if len(chosen) < 2:
            raise InputError(f"Hybrid takes a list of at least two retrievers, not {given!r}.")
        for retriever in chosen:
            if not isinstance(retriever, Dense | Run):
                searching_model(retriever)
        methods = [method.value for method in FusionMethod]
        if self.fusion not in methods:
            raise InputError(f"{parameter('fusion')} must be {listed(methods)}, not {self.fusion!r}.")
        object.__setattr__(self, "retrievers", chosen)

    def sources(self, index: Index) -> list[str]:
        """Return the names of the retrievers: model with parameters, encoder, tag of a run."""
        names = [self._name(retriever, index) for retriever in self.retrievers]
        if len({*names}) < len(names):
            raise InputError(
                f"Two retrievers are called {next(name for name in names if names.count(name) > 1)!r}."
            )
        return names

    def column_names(self, index: Index) -> list[str]:
        """Return the names of the features that it makes."""
        sources = self.sources(index)
        return [
            *(f"{source}: {SCORE}" for source in sources),
            *(f"{source}: {RANK}" for source in sources),
            *(f"{FUSION}: {method.value}" for method in FusionMethod),
        ]

    def find(self, index: Index, queries: Queries, n: int, *, n_jobs: int | None = None) -> list[SearchResults]:
        """Return the documents that any retriever finds among its n best, ordered by the fusion of all scores."""
        lists = self.found(index, queries, n, n_jobs=n_jobs)
        numbers = [union(results) for results in zip(*lists, strict=True)]
        scores = self.scores(index, queries, numbers, n_jobs=n_jobs)
        ends = np.cumsum([len(mine) for mine in numbers])[:-1]
        return [
            _ordered(mine, values, index.snapshot)
            for mine, values in zip(numbers, np.split(scores, ends), strict=True)
        ]

    def best(self, index: Index, queries: Queries, n: int, *, n_jobs: int | None = None) -> list[SearchResults]:
        """Return the n best documents of each query by the fusion of the retrievers' first 100 or more."""
        return [results.first(n) for results in self.find(index, queries, max(n, DEPTH), n_jobs=n_jobs)]

    def found(
        self, index: Index, queries: Queries, n: int, *, n_jobs: int | None = None
    ) -> list[list[SearchResults]]:
        """Return what each retriever finds alone."""
        return [self._find(retriever, index, queries, n, n_jobs) for retriever in self.retrievers]

    def scores(
        self, index: Index, queries: Queries, documents: Sequence[NDArray[Any]], *, n_jobs: int | None = None
    ) -> Doubles:
        """Return the fused scores of documents; they depend on all documents of the query."""
        return self._fused(self._scores(index, queries, documents, n_jobs), documents, FusionMethod(self.fusion))

    def columns(
        self,
        index: Index,
        queries: Queries,
        documents: Sequence[NDArray[Any]],
        n: int,
        *,
        n_jobs: int | None = None,
    ) -> Floats:
        """Return the features of documents: scores, ranks among each retriever's n best, and fusions."""
        scores = self._scores(index, queries, documents, n_jobs)
        lists = self.found(index, queries, n, n_jobs=n_jobs)
        ranks = np.full(scores.shape, np.nan, np.float32)
        for source, results in enumerate(lists):
            parts = [_ranks(mine, given.numbers) for mine, given in zip(documents, results, strict=True)]
            ranks[:, source] = np.concatenate([np.zeros(0), *parts])
        fused = [self._fused(scores, documents, method) for method in FusionMethod]
        return np.hstack([scores, ranks, np.array(fused, np.float32).T])

    def _name(self, retriever: Any, index: Index) -> str:
        if isinstance(retriever, Dense):
            return retriever.name_in(index)
        return retriever.tag if isinstance(retriever, Run) else model_name(retriever)

    def _find(self, retriever: Any, index: Index, queries: Queries, n: int, n_jobs: int | None) -> Any:
        if isinstance(retriever, Dense):
            return retriever.find(index, queries, n, n_jobs=n_jobs)
        if isinstance(retriever, Run):
            return _lists(retriever, queries, n, index)
        return index.search_all(queries.texts, retriever, n, n_jobs=n_jobs)

    def _scores(
        self, index: Index, queries: Queries, documents: Sequence[NDArray[Any]], n_jobs: int | None
    ) -> Floats:
        columns = [self._scored(retriever, index, queries, documents, n_jobs) for retriever in self.retrievers]
        return np.array(columns, np.float32).T

    def _scored(
        self, retriever: Any, index: Index, queries: Queries, documents: Sequence[NDArray[Any]], n_jobs: int | None
    ) -> Doubles:
        if isinstance(retriever, Dense):
            return retriever.scores(index, queries, documents, n_jobs=n_jobs)
        if isinstance(retriever, Run):
            lists = _lists(retriever, queries, len(retriever), index)
            parts = [_scores_of(mine, given) for mine, given in zip(documents, lists, strict=True)]
            return np.concatenate([np.zeros(0), *parts])
        terms = terms_of_texts(index.analyser, queries.texts)
        threads = resolve_threads(n_jobs)
        return index.snapshot.score(terms, documents, retriever, index.weights, n_threads=threads)

    @staticmethod
    def _fused(scores: Floats, documents: Sequence[NDArray[Any]], method: FusionMethod) -> Doubles:
        sizes = [len(mine) for mine in documents if len(mine)]
        if not sizes:
            return np.zeros(0)
        return np.asarray(comparable(scores, QueryGroups.of_sizes(sizes), method).sum(axis=1))


def union(lists: Sequence[SearchResults]) -> NDArray[np.int64]:
    """Return the documents of several lists, each once, by number."""
    return np.unique(np.concatenate([results.numbers for results in lists]))


def _ordered(numbers: NDArray[np.int64], scores: Doubles, snapshot: Snapshot) -> SearchResults:
    """Return documents, best first; equal scores by number."""
    if not len(numbers):
        return SearchResults(numbers, scores, snapshot)
    order = Ranking.of(scores, QueryGroups.of_sizes([len(numbers)])).order
    return SearchResults(numbers[order], scores[order], snapshot)


def _lists(run: Run, queries: Queries, n: int, index: Index) -> list[SearchResults]:
    """Return the first n documents of each query in a run; those that the index does not have are left out."""
    order = run.ranking().order
    rows_of = dict(zip(map(str, run.groups.ids), np.split(order, run.groups.offsets[1:-1]), strict=True))
    results = []
    for query in queries.ids:
        rows = rows_of.get(query, np.zeros(0, np.int64))[:n]
        numbers = index.snapshot.find([str(name) for name in run.document_ids[rows]])
        known = numbers >= 0
        results.append(SearchResults(numbers[known], np.asarray(run.scores[rows][known]), index.snapshot))
    return results


def _ranks(documents: NDArray[np.int64], ranked: NDArray[np.int64]) -> Doubles:
    rank_of = {number: rank for rank, number in enumerate(ranked.tolist(), start=1)}
    return np.array([rank_of.get(number, np.nan) for number in documents.tolist()])


def _scores_of(documents: NDArray[np.int64], results: SearchResults) -> Doubles:
    score_of = dict(zip(results.numbers.tolist(), results.scores.tolist(), strict=True))
    return np.array([score_of.get(number, np.nan) for number in documents.tolist()])
