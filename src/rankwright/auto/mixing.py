"""How judged entries become one mixture, and how the members stand during a run and after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from rankwright.base.wording import counted
from rankwright.ensembling.mixtures import Mixture
from rankwright.ensembling.weights import KEPT_WEIGHT, prune_weights, weighted_sum
from rankwright.reports.blocks import Cell, Column, Kind, Table
from rankwright.reports.plain import plain
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.auto.entries import JudgedEntry
    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer

    Weigh = Callable[[Doubles], Doubles]


@dataclass(frozen=True, eq=False)
class Mix:
    """Entries, the index of the chosen number of rounds of each, and its weight; weights sum to 1."""

    entries: tuple[JudgedEntry, ...]
    round_indices: tuple[int, ...]
    weights: Doubles

    @property
    def scores(self) -> Doubles:
        """The scores of all judging documents."""
        columns = [entry.scores[index] for entry, index in zip(self.entries, self.round_indices, strict=True)]
        return weighted_sum(columns, self.weights)

    @property
    def half_scores(self) -> Doubles:
        """The same if the entries learn from half of the queries."""
        columns = [entry.half_scores[index] for entry, index in zip(self.entries, self.round_indices, strict=True)]
        return weighted_sum(columns, self.weights)

    @property
    def kept(self) -> list[int]:
        """The entries that have a weight."""
        return [int(index) for index in np.flatnonzero(self.weights)]

    @property
    def member_names(self) -> list[str]:
        """The names of the entries that have a weight, each with its number of rounds if it has any."""
        members = [(self.entries[index], self.round_indices[index]) for index in self.kept]
        return [
            f"{entry.name} ({entry.rounds[chosen]})" if entry.rounds[chosen] else entry.name
            for entry, chosen in members
        ]

    def scorer(self) -> Scorer:
        """Return the entries that have a weight as one scorer; a single one stays as it is."""
        if len(self.kept) == 1:
            return self.entries[self.kept[0]].cut(self.round_indices[self.kept[0]])
        members = [self.entries[index].member(self.round_indices[index]) for index in self.kept]
        return Mixture(members, self.weights[self.kept]).scorer()


def mix(entries: Sequence[JudgedEntry], weigh: Weigh, judgements: NDArray[np.bool_] | None = None) -> Mix:
    """Choose rounds and weights by these judgements; None for all. Entries of negligible weight are left out."""
    indices = tuple(entry.best_index(judgements) for entry in entries)
    chosen = zip(entries, indices, strict=True)
    values = np.array([entry.held_out.by_query(entry.values[index], judgements) for entry, index in chosen])
    return Mix(tuple(entries), indices, prune_weights(weigh(values), KEPT_WEIGHT))


class MemberStanding(NamedTuple):
    """One row of `AutoRanker.standings_`.

    Parameters
    ----------
    name
        The member.
    value
        The metric of the member alone, out of fold.
    weight
        Its weight in the mixture; 0 if it is left out.
    rounds
        The number of rounds that it was cut to; 0 if it has none to choose.
    seconds
        The time of all its fits, each on one thread.
    microseconds
        The time to score one document on one thread; None as long as fits run.
    """

    name: str
    value: float
    weight: float
    rounds: int
    seconds: float
    microseconds: float | None = None


class Standings(tuple[MemberStanding, ...], Result):
    """The members of AutoRanker, by weight and then by value."""

    metric: str

    @classmethod
    def of(cls, rows: Iterable[MemberStanding], metric: str) -> Self:
        """Return the rows, whose values are those of the metric."""
        standings = cls(rows)
        standings.metric = metric
        return standings

    @property
    def summary(self) -> str:
        """How many members there are, and the one with the highest weight."""
        first = self[0]
        weight = Kind.PERCENT.spell(first.weight)
        return f"{counted(len(self), 'member')}; {first.name} has the highest weight, {weight}."

    def blocks(self) -> list[Table]:
        """Return one row per member."""
        columns = [
            Column("number", Kind.COUNT),
            Column("member", Kind.TEXT),
            Column(self.metric),
            Column("weight", Kind.PERCENT, bar=True),
            Column("rounds", Kind.COUNT),
            Column("µs", Kind.MICROSECONDS),
            Column("seconds", Kind.SECONDS),
        ]
        rows = [
            (
                number,
                row.name,
                row.value,
                row.weight if row.weight else Cell(0.0, note="left out"),
                row.rounds or None,
                row.microseconds,
                row.seconds,
            )
            for number, row in enumerate(self, start=1)
        ]
        meaning = (
            "Each member alone, out of fold. Rounds: the number that was chosen, if there was one to choose. µs: "
            "per document, on one thread. Seconds: of all its fits, each on one thread."
        )
        return [Table(columns, rows, meaning)]

    def to_dict(self) -> dict[str, Any]:
        """Return the members as JSON values."""
        return {"metric": self.metric, "members": plain(list(self))}


class FitProgress(NamedTuple):
    """The state of a run.

    Parameters
    ----------
    standings
        The members so far, by weight and then by value, highest first.
    value
        The metric of their mixture, out of fold; None before the first member.
    fits, total
        How many fits have ended, and how many there are.
    ended
        How many of its fits have ended, for every entry that has begun and is not a member yet.
    seconds, seconds_left
        The time so far; what is left of the time limit, None without a limit.
    """

    standings: Sequence[MemberStanding]
    value: float | None
    fits: int
    total: int
    ended: Mapping[str, int]
    seconds: float
    seconds_left: float | None


def standings_of(chosen: Mix, microseconds: Mapping[str, float] | None = None) -> tuple[MemberStanding, ...]:
    """Return the entries of a mixture, by weight and then by value, highest first."""
    rows = [
        MemberStanding(
            entry.name,
            entry.curve[index],
            float(weight),
            entry.rounds[index],
            entry.seconds,
            None if microseconds is None else microseconds[entry.name],
        )
        for entry, index, weight in zip(chosen.entries, chosen.round_indices, chosen.weights, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: (-row.weight, -row.value)))
