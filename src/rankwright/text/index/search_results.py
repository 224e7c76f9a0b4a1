"""The documents found for a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.text.index.snapshot import Collection


@dataclass(frozen=True, eq=False)
class Results:
    """Documents with their scores, best first; equal scores in the order in which documents were added.

    `numbers` are positions of documents in the index at the time of the search; `ids` are their names.
    """

    numbers: NDArray[np.int64]
    scores: Doubles
    _collection: Collection

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        """Yield id and score of each document."""
        return zip(self.ids, self.scores.tolist(), strict=True)

    @property
    def ids(self) -> list[str]:
        """The ids of the documents."""
        return self._collection.ids_of(self.numbers)

    def reordered(self, places: NDArray[np.int64], scores: Doubles) -> Results:
        """Return the documents at some places of this list, with other scores."""
        return Results(self.numbers[places], scores, self._collection)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {score:.4g}" for name, score in [*zip(self.ids[:3], self.scores, strict=False)])
        return f"Results({len(self)} documents: {shown}{', ...' if len(self) > 3 else ''})"
