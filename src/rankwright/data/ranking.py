"""Ranks documents within queries; no other module orders equal scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.base.threads import resolve_threads
from rankwright.data.input_arrays import checked_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.groups import QueryGroups


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
