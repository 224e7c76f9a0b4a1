"""Perfect and imperfect permutations of documents (Xu et al. 2010, sections 3 and 5.2).

Documents that may swap ranks in the best ranking without a loss of the metric make several permutations perfect.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heapreplace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.data.groups import Ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups
    from rankwright.metrics.base import Metric

    Ranks = NDArray[np.int64]

CLOSE = 1e-9  # metric values that differ by less are equal


@dataclass(frozen=True)
class Interchange:
    """The documents of one query that a metric does not tell apart, by label and by rank."""

    metric: Metric

    def kinds(self, labels: Doubles) -> Doubles:
        """Return one number per document, higher for better labels, equal for labels that the metric equates."""
        levels, level_of_row = np.unique(labels, return_inverse=True)
        new = [not self._are_alike(labels, low, high) for low, high in pairwise(levels)]
        return np.cumsum([0, *new])[level_of_row].astype(np.float64)

    def blocks(self, labels: Doubles, kinds: Doubles) -> Doubles:
        """Return the block of each rank of the ideal ranking; the documents of a block may stand in any order.

        A block reaches across the border of two kinds as far as documents on either side may swap without loss.
        """
        ideal = np.sort(labels)[::-1]
        meetings = np.flatnonzero(np.diff(np.sort(kinds)[::-1])) + 1
        borders = [0, *meetings.tolist(), len(ideal)]
        joined = np.zeros(len(ideal), dtype=bool)  # with the rank before
        for begin, border, end in zip(borders, borders[1:], borders[2:], strict=False):
            first = _first(begin, border, lambda rank: self._may_swap(ideal, rank, border))  # noqa: B023
            last = _first(border, end, lambda rank: not self._may_swap(ideal, border - 1, rank))  # noqa: B023
            joined[first + 1 : last] = True
        return np.cumsum(~joined).astype(np.float64)

    def _are_alike(self, labels: Doubles, low: float, high: float) -> bool:
        """Return whether two labels may swap: all of them in the ideal ranking, one at the front of any."""
        best, worst = np.sort(labels)[::-1], np.sort(labels)
        exchanged = labels[np.argsort(-np.where(labels == high, low, np.where(labels == low, high, labels)))]
        alike = [(best, exchanged)] + [(_led_by(low, rest), _led_by(high, rest)) for rest in (best, worst)]
        of_ranking = self.metric.of_ranking
        return all(abs(of_ranking(first) - of_ranking(second)) <= CLOSE for first, second in alike)

    def _may_swap(self, ideal: Doubles, upper: int, lower: int) -> bool:
        swapped = ideal.copy()
        swapped[[upper, lower]] = swapped[[lower, upper]]
        return self.metric.of_ranking(swapped) >= self.metric.of_ranking(ideal) - CLOSE


@lru_cache(maxsize=2**14)
def interchanged(metric: Metric, ideal: bytes) -> tuple[Doubles, Doubles]:
    """Return kinds and blocks of the labels of one query, best first; many queries and fits have the same."""
    labels, interchange = np.frombuffer(ideal), Interchange(metric)
    kinds = interchange.kinds(labels)
    return kinds, interchange.blocks(labels, kinds)


class Permutations:
    """The permutations of every query's documents, given by the rank of each document, and the most violated ones.

    A permutation is perfect if the metric has its query's best value there. F of a permutation is the sum of its
    documents' scores, each times (n + 1 - 2 rank) / (n (n - 1)).
    """

    def __init__(self, labels: Doubles, groups: QueryGroups, metric: Metric, n_threads: int) -> None:
        self.labels, self.groups = labels, groups
        self._metric, self.n_threads = metric, n_threads
        self.best = self.values(self.ideal)
        self._kinds, self._blocks = np.empty(len(labels)), np.empty(len(labels))
        for rows in groups:
            best_first = rows[np.argsort(-labels[rows], kind="stable")]
            self._kinds[best_first], self._blocks[rows] = interchanged(metric, labels[best_first].tobytes())

    @property
    def ideal(self) -> Ranks:
        """The highest label first."""
        return self._sorted(self.labels)

    @property
    def worst(self) -> Ranks:
        """The lowest label first: an imperfect permutation of every informative query."""
        return self._sorted(-self.labels)

    def values(self, ranks: Ranks) -> Doubles:
        """Return the metric E of every query."""
        return self._metric.per_query(self.labels, self._ranking(-ranks), n_jobs=self.n_threads)

    def features(self, ranks: Ranks, columns: Doubles) -> Doubles:
        """Return Phi, one row per query (equation 2, summed by document); each row of `columns` is a feature."""
        n = self.groups.sizes[self.groups.query_of_row]
        factors = (n + 1 - 2 * ranks) / (n * (n - 1))
        begins = self.groups.offsets[:-1]
        return np.column_stack([np.add.reduceat(factors * column, begins) for column in columns])

    def most_violated(self, scores: Doubles) -> tuple[Ranks, Ranks]:
        """Return the perfect permutation of lowest F and the imperfect one of highest F, of every query."""
        return self.most_violated_perfect(scores), self.most_violated_imperfect(scores)

    def most_violated_perfect(self, scores: Doubles) -> Ranks:
        """Return the perfect permutation of lowest F: the reversed order, as far as the metric stays perfect.

        Documents of a kind fill the ranks of their kind from the lowest score up; blocks of ranks whose documents
        may swap without loss are then ordered likewise.
        """
        within_kinds = self._sorted(self._kinds, tie_break=scores)
        block = self._blocks[self.groups.offsets[:-1][self.groups.query_of_row] + within_kinds - 1]
        ranks = self._sorted(-block, tie_break=scores)
        flawed = self.values(ranks) < self.best - CLOSE
        if not flawed.any():
            return ranks
        # A custom metric may not be perfect there.
        return np.where(flawed[self.groups.query_of_row], self._sorted(self.labels, tie_break=scores), ranks)

    def most_violated_imperfect(self, scores: Doubles) -> Ranks:
        """Return the imperfect permutation of highest F: by score, or the closest one where that is perfect."""
        ranks = self._sorted(scores)
        for query in np.flatnonzero(self.values(ranks) >= self.best - CLOSE):
            rows = self.groups.rows[self.groups.offsets[query] : self.groups.offsets[query + 1]]
            order = rows[np.argsort(ranks[rows])]
            ranks[self._spoiled(order, scores, self.best[query])] = np.arange(1, len(order) + 1)
        return ranks

    def _spoiled(self, order: Ranks, scores: Doubles, best: float) -> Ranks:
        """Return the order with one document moved, so that F falls least and the metric falls at all."""
        labels = self.labels[order]
        for start, end in _moves(labels, scores[order]):
            if self._metric.of_ranking(moved(labels, start, end)) < best - CLOSE:
                return moved(order, start, end)
        return order[::-1]

    def _sorted(self, keys: Doubles, tie_break: Doubles | None = None) -> Ranks:
        return self._ranking(keys, tie_break).ranks()

    def _ranking(self, keys: Any, tie_break: Doubles | None = None) -> Ranking:
        return Ranking.of(keys, self.groups, tie_break=tie_break, n_jobs=self.n_threads)


def _moves(labels: Doubles, scores: Doubles) -> Iterator[tuple[int, int]]:
    """Yield every move of one document to another rank that changes the labels, the least fall of F first.

    Scores descend with the rank, so F falls more the further a document moves: its moves up and its moves down are
    two sorted series. A heap of the next move of each series takes no more memory than the documents.
    """
    n = len(labels)
    score: list[float] = scores.tolist()
    above: list[float] = [0.0, *np.cumsum(scores).tolist()]
    first_equal: list[int] = np.searchsorted(-scores, -scores).tolist()  # of the same score

    def fall(start: int, end: int) -> float:
        """Return the sum of the differences in score to the documents that are passed."""
        if start < end:
            return (end - start) * score[start] - (above[end + 1] - above[start + 1])
        return (above[start] - above[end]) - (start - end) * score[start]

    borders: list[int] = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), n]
    runs = [(first, after) for first, after in pairwise(borders) for _ in range(first, after)]  # of equal labels

    def next_up(start: int, last: int | None) -> int:
        """Return the rank after the last one; those from `free` on cost nothing, and -1 is none."""
        first = runs[start][0]
        free = min(first_equal[start], first)
        if last is None:
            return free if free < first else free - 1
        if last < free:
            return last - 1
        return last + 1 if last + 1 < first else free - 1

    heads = [(start, end) for start in range(n) for end in (next_up(start, None), runs[start][1]) if 0 <= end < n]
    moves = [(fall(start, end), start, end) for start, end in heads]
    heapify(moves)
    while moves:
        _, start, end = moves[0]
        yield start, end
        after = end + 1 if start < end else next_up(start, end)
        if 0 <= after < n:
            heapreplace(moves, (fall(start, after), start, after))
        else:
            heappop(moves)


def moved(items: NDArray[Any], start: int, end: int) -> NDArray[Any]:
    """Return the items with the one at `start` moved to `end`."""
    result = items.copy()
    if start < end:
        result[start:end] = items[start + 1 : end + 1]
    else:
        result[end + 1 : start + 1] = items[end:start]
    result[end] = items[start]
    return result


def _led_by(label: float, labels: Doubles) -> Doubles:
    """Return the labels with one of this value moved to the front."""
    return moved(labels, int(np.argmax(labels == label)), 0)


def _first(begin: int, end: int, holds: Callable[[int], bool]) -> int:
    """Return the first number from which on it holds, or the end."""
    return bisect_left(range(begin, end), True, key=holds) + begin
