"""The base class of retrievers other than retrieval models: from queries to documents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.text.collections.queries import Queries
    from rankwright.text.index.snapshot import SearchResults


class BaseRetriever(ABC):
    """Finds documents of an index for queries, and scores given ones."""

    @abstractmethod
    def find(self, index: Any, queries: Queries, n: int, *, n_jobs: int | None = None) -> list[SearchResults]:
        """Return the n best documents of each query."""

    def best(self, index: Any, queries: Queries, n: int, *, n_jobs: int | None = None) -> list[SearchResults]:
        """Return the n documents of each query to show."""
        return self.find(index, queries, n, n_jobs=n_jobs)

    @abstractmethod
    def scores(
        self, index: Any, queries: Queries, documents: Sequence[NDArray[Any]], *, n_jobs: int | None = None
    ) -> Doubles:
        """Return the scores of each query's documents, by number, one after another; NaN where it has none."""
