"""A worker: the partitions of one process, and how the answers of partitions and workers combine."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.distributed.partition import Partition
from rankwright.training.binned_data import BinnedData
from rankwright.training.binned_part import BinnedPart
from rankwright.training.fit_task import FitTask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.distributed.partition import PartRanker, RoundTrees

Request = tuple[str, tuple[Any, ...]]
"""A method of `Partition` and its arguments."""


class Share(NamedTuple):
    """A partition: its number, and its queries from the first to before the last."""

    number: int
    first: int
    last: int


class Worker:
    """Answers requests with the sums over its partitions."""

    def __init__(self, path: str, ranker: PartRanker, n_threads: int) -> None:
        self._data, self._ranker, self._n_threads = BinnedData(path), ranker, n_threads
        self._partitions: dict[int, Partition] = {}

    def load(self, shares: Sequence[Share], rounds: Sequence[RoundTrees], requests: Sequence[Request]) -> Any:
        """Read partitions, rebuild their scores from the trees so far, and repeat the requests of this round.

        Return the answer to the last request, or None.
        """
        for share in shares:
            part = BinnedPart(self._data, share.first, share.last)
            fit = self._ranker.part_fit(FitTask(part, None, None, None, self._n_threads))
            self._partitions[share.number] = Partition(share.number, part, fit, self._n_threads)
        numbers = [share.number for share in shares]
        for trees in rounds:
            self.run(numbers, "replay", trees, False)
        answer = None
        for method, arguments in requests:
            answer = self.run(numbers, method, *arguments)
        return answer

    def run(self, numbers: Sequence[int], method: str, *arguments: Any) -> Any:
        """Return the combined answer of these partitions to a request."""
        return combined(method, [getattr(self._partitions[number], method)(*arguments) for number in numbers])


def combined(method: str, answers: Sequence[Any]) -> Any:
    """Return the answer of several partitions or workers to the same request."""
    return reduce(_RULES[method], answers)


def _add(a: Any, b: Any) -> Any:
    return a + b


def _add_each(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _add_integers(a: list[list[int]], b: list[list[int]]) -> list[list[int]]:
    return [[x + y for x, y in zip(row, other, strict=True)] for row, other in zip(a, b, strict=True)]


def _all_and_any(a: tuple[bool, bool], b: tuple[bool, bool]) -> tuple[bool, bool]:
    return a[0] and b[0], a[1] or b[1]


def _sum_and_largest(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return a[0] + b[0], *(np.maximum(x, y) for x, y in zip(a[1:], b[1:], strict=True))


def _all_and_joined(a: tuple[bool, dict[int, Any]], b: tuple[bool, dict[int, Any]]) -> tuple[bool, dict[int, Any]]:
    return a[0] and b[0], a[1] | b[1]


_RULES: dict[str, Callable[[Any, Any], Any]] = {
    "gradients": _all_and_any,
    "sizes": lambda a, b: a | b,
    "draw": _sum_and_largest,
    "root": _add,
    "divide": _add_each,
    "sum_codes": _add_each,
    "sum_leaves": _add_integers,
    "apply": _all_and_joined,
    "replay": _all_and_joined,
}
