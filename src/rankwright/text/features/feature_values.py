"""Computes features of documents for queries in the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright import _native
from rankwright.base.arrays import sealed
from rankwright.text.index.checks import refusing_damage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Floats
    from rankwright.text.analyser import PositionedTerms
    from rankwright.text.features.definitions import TextFeature
    from rankwright.text.features.scopes import Scopes
    from rankwright.text.retrieval import BM25, AbsoluteDiscounting, Dirichlet, JelinekMercer


class RetrievalModels(NamedTuple):
    """The retrieval models whose scores are features, in the order of the core."""

    bm25: BM25
    dirichlet: Dirichlet
    jelinek_mercer: JelinekMercer
    absolute_discounting: AbsoluteDiscounting


class FeatureColumns(NamedTuple):
    """The wanted features: scope and kernel of each, by number, and whether one needs vocabularies."""

    numbers: NDArray[np.int64]
    needs_vocabulary: bool

    @classmethod
    def of(cls, columns: Sequence[tuple[int, TextFeature]]) -> FeatureColumns:
        """Return columns given by scope and feature."""
        numbers = [(scope, int(feature.kernel.value)) for scope, feature in columns]
        needs_vocabulary = any(feature.needs_vocabulary for _, feature in columns)
        return cls(sealed(np.array(numbers, np.int64).reshape(len(columns), 2)), needs_vocabulary)


@refusing_damage()
def feature_values(
    scopes: Scopes,
    models: RetrievalModels,
    queries: Sequence[PositionedTerms],
    documents: Sequence[NDArray[np.int64]],
    columns: FeatureColumns,
    n_threads: int,
) -> Floats:
    """Return one row per document, given by number for each query, and one column per feature."""
    n_rows = sum(map(len, documents))
    if not (n_rows and len(columns.numbers)):
        return np.empty((n_rows, len(columns.numbers)), np.float32)
    names = list({word: None for query in queries for word in query.terms})
    number_of = {word: number for number, word in enumerate(names)}
    words = scopes.words(names)
    statistics = scopes.statistics(words)
    formulas = [model.weigh(statistics) for model in models]
    postings = scopes.postings
    vocabularies = scopes.vocabularies() if columns.needs_vocabulary else [[] for _ in postings]
    return _native.text_features(
        postings=postings,
        terms=scopes.terms(words),
        distinct=[[vocabulary.distinct for vocabulary in each] for each in vocabularies],
        norms=[[vocabulary.norms for vocabulary in each] for each in vocabularies],
        n_documents=scopes.n_documents,
        total_lengths=scopes.total_lengths,
        document_frequencies=statistics.document_frequency,
        collection_frequencies=statistics.collection_frequency,
        weights=np.array([formula.weights for formula in formulas], np.float64),
        scales=np.array([formula.scales for formula in formulas], np.float64),
        starts=np.array([formula.starts for formula in formulas], np.float64),
        fields=np.array([formula.by_field() for formula in formulas], np.float64),
        word_offsets=_offsets([query.terms for query in queries]),
        words=np.array([number_of[word] for query in queries for word in query.terms], np.int64),
        places=np.array([position for query in queries for position in query.positions], np.int64),
        document_offsets=_offsets(documents),
        documents=np.concatenate(documents),
        columns=columns.numbers,
        n_threads=n_threads,
    )


def _offsets(lists: Sequence[Sequence[object] | NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, lists)], dtype=np.int64)
