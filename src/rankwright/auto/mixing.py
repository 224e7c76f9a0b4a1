"""How judged entries become one mixture, and how the members stand during a run and after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from rankwright.base.wording import counted, percent
from rankwright.ensembling.mixtures import KEPT_WEIGHT, prune_weights, weighted_sum, within_query
from rankwright.metrics.base import mean_over_queries
from rankwright.models.combination import Combination, share_columns
from rankwright.reports.blocks import Cell, Column, Kind, Table
from rankwright.reports.result import Result
from rankwright.training.monitor import is_as_good_as, middle_round

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from rankwright.auto.plan import HeldOut
    from rankwright.auto.portfolio import Entry
    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer
    from rankwright.reports.blocks import Block

    Weigh = Callable[[Doubles], Doubles]


WORTH_ROUNDS = 0.001  # a smaller rise of the metric is not worth twice the rounds


class ChosenRounds(NamedTuple):
    """The index of a number of rounds, and its values: one per judging query."""

    round_index: int
    values: Doubles


@dataclass(frozen=True, eq=False)
class JudgedEntry:
    """An entry after all its fits; the number of its rounds is not chosen yet.

    Parameters
    ----------
    entry
        The entry.
    scorer
        Fitted on all queries, with all rounds.
    rounds
        The numbers of rounds that it can be cut to; `(0,)` if it cannot be cut.
    scores
        For each of them, the scores of all judging documents: standardised within the query, or divided by a
        spread.
    values
        For each of them, the metric of every judgement.
    held_out
        The judgements.
    seconds
        Seconds of all its fits, each on one thread.
    half_scores
        As `scores`, of fits on half of the queries; empty if the plan has no halves.
    spreads
        For each of them, the number that scores are divided by; empty if they are standardised.
    """

    entry: Entry
    scorer: Scorer
    rounds: tuple[int, ...]
    scores: Sequence[Doubles]
    values: Sequence[Doubles]
    held_out: HeldOut
    seconds: float
    half_scores: Sequence[Doubles] = ()
    spreads: Sequence[float] = ()

    @property
    def name(self) -> str:
        """The name of the entry."""
        return self.entry.name

    @cached_property
    def curve(self) -> list[float]:
        """The mean of the metric for each number of rounds."""
        return [mean_over_queries(values) for values in self.values]

    @property
    def rises(self) -> bool:
        """Whether more rounds are wanted: the last third of them raised the value, beyond its standard error."""
        if len(self.rounds) == 1 or self.entry.fixed_rounds:
            return False
        last, before = (
            self.held_out.by_query(self.values[index]) for index in (-1, 2 * len(self.rounds) // 3 - 1)
        )
        return bool(np.nanmean(last - before) > WORTH_ROUNDS and not is_as_good_as(last, before))

    def best_index(self, judgements: NDArray[np.bool_] | None = None) -> int:
        """Return the index in `rounds` of the number of rounds that these judgements choose."""
        if len(self.rounds) == 1:
            return 0
        curve = [self.held_out.by_query(values, judgements) for values in self.values]
        return max(0, middle_round([mean_over_queries(values) for values in curve], curve).best_round - 1)

    def choice(self, judgements: NDArray[np.bool_] | None = None) -> ChosenRounds:
        """Return the number of rounds that these judgements choose, with its value of every judging query."""
        index = self.best_index(judgements)
        return ChosenRounds(index, self.held_out.by_query(self.values[index], judgements))

    def up_to(self, index: int) -> JudgedEntry:
        """Return the entry without the numbers of rounds after this index."""
        by_rounds = ("rounds", "scores", "values", "half_scores", "spreads")
        return replace(self, **{name: getattr(self, name)[: index + 1] for name in by_rounds})

    def cut(self, index: int) -> Scorer:
        """Return the scorer with the number of rounds at this index."""
        n_rounds = self.rounds[index]
        return self.scorer if not 0 < n_rounds < self.scorer.n_rounds else self.scorer.first(n_rounds)


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
        members = [(self.entries[index], self.round_indices[index]) for index in self.kept]
        scorers, weights = [entry.cut(chosen) for entry, chosen in members], self.weights[self.kept]
        if all(entry.spreads for entry, _ in members):
            spreads = np.array([entry.spreads[chosen] for entry, chosen in members])
            return share_columns(Combination(tuple(scorers), weights / spreads))
        return share_columns(Combination(tuple(map(within_query, scorers)), weights))


def mix(entries: Sequence[JudgedEntry], weigh: Weigh, judgements: NDArray[np.bool_] | None = None) -> Mix:
    """Choose rounds and weights by these judgements; None for all. Entries of negligible weight are left out."""
    return mix_chosen(entries, [entry.choice(judgements) for entry in entries], weigh)


def mix_chosen(entries: Sequence[JudgedEntry], choices: Sequence[ChosenRounds], weigh: Weigh) -> Mix:
    """Choose the weights of entries whose rounds are chosen."""
    weights = weigh(np.array([choice.values for choice in choices]))
    round_indices = tuple(choice.round_index for choice in choices)
    return Mix(tuple(entries), round_indices, prune_weights(weights, KEPT_WEIGHT))


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


@dataclass(frozen=True, repr=False)
class Standings(Result, Sequence[MemberStanding]):
    """The judged members, by weight and then by value: a sequence that is shown as a table."""

    metric: str
    rows: tuple[MemberStanding, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> MemberStanding: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[MemberStanding, ...]: ...

    def __getitem__(self, index: int | slice) -> MemberStanding | tuple[MemberStanding, ...]:
        return self.rows[index]

    @property
    def summary(self) -> str:
        """How many members the mixture has, and which weighs most."""
        weighted, heaviest = [row for row in self.rows if row.weight], self.rows[0]
        members = counted(len(weighted), "member")
        return f"The mixture has {members}; {heaviest.name} weighs most, {percent(round(heaviest.weight, 3))}."

    def blocks(self) -> list[Block]:
        """Return one row per judged member."""
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
            for number, row in enumerate(self.rows, start=1)
        ]
        meaning = (
            "Each member alone, out of fold. Rounds: the number that was chosen, if there was one to choose, by "
            "the same queries, so these values are slightly too high. µs: per document, on one thread. Seconds: "
            "of all its fits, each on one thread."
        )
        return [Table(columns, rows, meaning)]


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
