"""Documents whose vectors are nearest to that of the query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwright.base.resources import resolve_threads
from rankwright.text.index.checks import refusing_damage
from rankwright.text.retrievers.retriever import BaseRetriever

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.text.collections.queries import Queries
    from rankwright.text.index.index import Index
    from rankwright.text.index.snapshot import SearchResults


@dataclass(frozen=True)
class Dense(BaseRetriever):
    """Nearest neighbours: documents by the cosine of their vectors and that of the query.

    All documents are scored, so that the result is exact for the vectors of the index, unless it has a graph of
    neighbours: see `Index.build_graph`.

    Parameters
    ----------
    encoder : str, optional
        The name of an encoder whose vectors the index has; may be left out if there is one.

    Examples
    --------
    >>> def letters(texts):
    ...     return [[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
    >>> index = rw.text.Index.build(rw.text.generated_collection(30, 5).documents, "index")
    >>> index.encode(rw.text.Encoder(letters, "letters"))
    >>> results = index.search("old bridge", rw.text.Dense(), n=2)
    >>> results.ids, results.scores.round(2).tolist()
    (['d5', 'd6'], [0.65, 0.64])
    """

    encoder: str | None = None

    def name_in(self, index: Index) -> str:
        """Return the name of the encoder, that of the index if it has one only."""
        return index.encoders.named(self.encoder)

    @refusing_damage()
    def find(self, index: Index, queries: Queries, n: int, *, n_jobs: int | None = None) -> list[SearchResults]:
        """Return the n nearest documents of each query."""
        name = self.name_in(index)
        vectors = index.encoders.queries(name, queries.texts)
        nearest = index.snapshot.vectors(name).nearest(vectors, n, resolve_threads(n_jobs))
        return index.snapshot.results(*nearest)

    @refusing_damage()
    def scores(
        self,
        index: Index,
        queries: Queries,
        documents: Sequence[NDArray[Any]],
        *,
        n_jobs: int | None = None,
    ) -> Doubles:
        """Return the cosine of each query's documents, one after another."""
        name = self.name_in(index)
        vectors = index.encoders.queries(name, queries.texts)
        return index.snapshot.vectors(name).scores(vectors, documents, resolve_threads(n_jobs))
