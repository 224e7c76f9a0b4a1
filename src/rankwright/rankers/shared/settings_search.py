"""A deterministic search for the best setting of a few numbers: a coarse grid, then smaller and smaller steps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Setting = dict[str, float]

LEVELS = 3  # how often steps are halved
MOST_MOVES = 4  # per level


@dataclass(frozen=True)
class Axis:
    """The numbers that one parameter may take: those of the grid, then all from `low` to `high`.

    Neighbours on the grid differ by `step`, or by a factor of `step` if `log`.
    """

    grid: tuple[float, ...]
    low: float
    high: float
    step: float = 0.0
    log: bool = False

    @classmethod
    def fixed(cls, value: float) -> Axis:
        """Return an axis with a single number."""
        return cls((value,), value, value)

    def neighbours(self, value: float, level: int) -> list[float]:
        """Return the numbers one step below and above; steps are halved at each level, from 1."""
        part = 0.5**level
        around = (
            [value * self.step**-part, value * self.step**part]
            if self.log
            else [value - self.step * part, value + self.step * part]
        )
        inside = (round(min(max(one, self.low), self.high), 6) for one in around)
        return [one for one in dict.fromkeys(inside) if one != value]


def search_settings(axes: Mapping[str, Axis], value_of: Callable[[Setting], float]) -> None:
    """Call `value_of` with settings, each once: all of the grid, then ever closer neighbours of the best so far.

    The caller remembers the values. Of equal settings the first is the best.
    """
    values: dict[tuple[float, ...], float] = {}

    def try_all(places: Iterator[tuple[float, ...]]) -> None:
        for place in places:
            if place not in values:
                values[place] = value_of(dict(zip(axes, place, strict=True)))

    try_all(product(*(axis.grid for axis in axes.values())))
    for level in range(1, LEVELS + 1):
        for _ in range(MOST_MOVES):
            best = max(values, key=lambda place: values[place])
            try_all(_around(best, [*axes.values()], level))
            if max(values, key=lambda place: values[place]) == best:
                break


def _around(place: Sequence[float], axes: Sequence[Axis], level: int) -> Iterator[tuple[float, ...]]:
    for number, axis in enumerate(axes):
        for other in axis.neighbours(place[number], level):
            yield (*place[:number], other, *place[number + 1 :])
