"""Documents with features and their text in the index, so that retrieval models can score them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError
from rankwright.data.dataset import Documents, RankingData
from rankwright.data.groups import QueryGroups
from rankwright.text.retrieval import model_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.text.index.snapshot import Snapshot
    from rankwright.text.retrieval import RetrievalModel


@dataclass(frozen=True, eq=False)
class TextSource:
    """The source of documents: a snapshot of the index, the weights of its fields, the terms of the queries."""

    snapshot: Snapshot
    weights: Mapping[str, float]
    queries: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class TextGroups(QueryGroups):
    """The rows of every query, and the query and document of each row.

    Scorers receive features and groups, so a retrieval model can score these even as part of another model.
    """

    source: TextSource
    query_numbers: NDArray[np.int64]
    document_numbers: NDArray[np.int64]

    @property
    def weights(self) -> Mapping[str, float]:
        """The fields with their weights in searches."""
        return self.source.weights

    def retrieval_scores(
        self, name: str, parameters: Mapping[str, Any], weights: Mapping[str, float] | None, n_threads: int
    ) -> Doubles:
        """Return the score of each row by a retrieval model; by default fields have the weights of the index."""
        return self.scores(model_of(name, parameters), self.weights if weights is None else weights, n_threads)

    def scores(self, model: RetrievalModel, weights: Mapping[str, float], n_threads: int) -> Doubles:
        """Return the score of each row by a retrieval model, as `Index.search` does."""
        rows = [*self]
        queries = [self._terms_of(mine) for mine in rows]
        documents = [self.document_numbers[mine] for mine in rows]
        scores = np.empty(self.n_rows)
        scores[self.rows] = self.source.snapshot.score(queries, documents, model, weights, n_threads=n_threads)
        return scores

    def _terms_of(self, rows: NDArray[np.int64]) -> tuple[str, ...]:
        """Return the terms of the query of some rows; joined documents may disagree about them."""
        numbers = self.query_numbers[rows]
        terms = self.source.queries[numbers[0]]
        if any(self.source.queries[other] != terms for other in np.unique(numbers[numbers != numbers[0]])):
            raise InputError(f"Query {self.ids[self.query_of_row[rows[0]]]} has documents of different texts.")
        return terms


@dataclass(frozen=True, eq=False, init=False, repr=False)
class TextDocuments(Documents):
    """Documents with features, as `FeatureSet.documents` returns them; subsets keep their text.

    A pickle holds the paths of the index's files, which must still exist when it is loaded.

    Examples
    --------
    >>> index = rw.text.Index.build(rw.text.generated_collection(30, 5).documents, "index")
    >>> features = rw.text.FeatureSet(["BM25"], fields=["body"])
    >>> documents = features.documents(index, {"q1": "old bridge"}, {"q1": ["d7", "d5"]})
    >>> documents.feature_names, documents.document_ids.tolist()
    (('body: BM25', 'body: log BM25'), ['d7', 'd5'])
    """

    source: TextSource
    query_numbers: NDArray[np.int64]
    document_numbers: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        documents: Documents,
        source: TextSource,
        query_numbers: NDArray[np.int64],
        document_numbers: NDArray[np.int64],
    ) -> Self:
        """Return documents with their text: the query and the document of each row."""
        made = object.__new__(cls)
        for name, value in documents.__getstate__().items():
            made._set(name, value)
        made._set("source", source)
        made._set("query_numbers", sealed(np.asarray(query_numbers, np.int64)))
        made._set("document_numbers", sealed(np.asarray(document_numbers, np.int64)))
        return made

    @cached_property
    def groups(self) -> TextGroups:
        """The rows of every query, with their text."""
        plain = QueryGroups.of(self.qid)
        return TextGroups(
            plain.ids, plain.offsets, plain.rows, self.source, self.query_numbers, self.document_numbers
        )

    def with_labels(self, y: ArrayLike) -> TextRankingData:
        """Return these documents as judged data, with one label per row."""
        return TextRankingData.of(super().with_labels(y), self.source, self.query_numbers, self.document_numbers)

    def _as_joined(self, joined: Any, parts: Sequence[Documents]) -> Any:
        """Return joined documents with their text, if all parts are of the same index."""
        texts = [part for part in parts if isinstance(part, TextDocuments)]
        if len(texts) < len(parts) or any(part.source.snapshot is not self.source.snapshot for part in texts):
            return joined
        starts = np.cumsum([0, *(len(part.source.queries) for part in texts)])
        numbers = [part.query_numbers + start for part, start in zip(texts, starts, strict=False)]
        source = replace(self.source, queries=tuple(terms for part in texts for terms in part.source.queries))
        documents = [part.document_numbers for part in texts]
        return type(self).of(joined, source, np.concatenate(numbers), np.concatenate(documents))


@dataclass(frozen=True, eq=False, init=False, repr=False)
class TextRankingData(TextDocuments, RankingData):
    """Judged documents with features, as `FeatureSet.judged` returns them; subsets keep their text.

    Examples
    --------
    >>> documents, queries, judgements = rw.text.generated_collection(100, 10)
    >>> index = rw.text.Index.build(documents, "index")
    >>> data = rw.text.FeatureSet(["BM25"]).judged(index, queries, judgements, candidates=20).data
    >>> train, test = rw.split_queries(data, 0.5, 0.5)
    >>> rw.BM25Ranker(k1=1.2).fit(train).predict(test).shape == test.y.shape  # it scores the text
    True
    """
