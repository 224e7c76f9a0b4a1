"""Which documents of a query may swap ranks in the best ranking without a loss of the metric."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.metrics.base import Metric

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
        alike = [(best, exchanged)] + [tuple(_led_by(one, rest) for one in (low, high)) for rest in (best, worst)]
        return all(abs(np.diff([self.metric.of_ranking(one) for one in two])[0]) <= CLOSE for two in alike)

    def _may_swap(self, ideal: Doubles, upper: int, lower: int) -> bool:
        swapped = ideal.copy()
        swapped[[upper, lower]] = swapped[[lower, upper]]
        return self.metric.of_ranking(swapped) >= self.metric.of_ranking(ideal) - CLOSE


def moved(items: NDArray[Any], start: int, end: int) -> NDArray[Any]:
    """Return the items with the one at `start` moved to `end`."""
    return np.insert(np.delete(items, start), end, items[start])


def _led_by(label: float, labels: Doubles) -> Doubles:
    """Return the labels with one of this value moved to the front."""
    return moved(labels, int(np.argmax(labels == label)), 0)


def _first(begin: int, end: int, holds: Callable[[int], bool]) -> int:
    """Return the first place from which on it holds, or the end."""
    return bisect_left(range(begin, end), True, key=holds) + begin
