"""The accuracy-latency frontier: mixtures from the whole one down to the cheapest member."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.auto.mixing import Mix, mix_chosen
from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import metric_value, microseconds, rounded_up
from rankwright.ensembling.mixtures import plausible_weights
from rankwright.evaluation.timing import microseconds_per_document, timing_sample
from rankwright.metrics.base import mean_over_queries
from rankwright.reports.charts.drawing import round_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rankwright.auto.mixing import ChosenRounds, JudgedEntry, Weigh
    from rankwright.auto.plan import HeldOut
    from rankwright.data.dataset import RankingData
    from rankwright.metrics.base import Metric
    from rankwright.models.scorer import Scorer

MARGIN = 0.9  # of the budget: the same model may be slower the next time


class Priced(NamedTuple):
    """A mixture, the microseconds that it takes per document on one thread, and its value out of fold."""

    mix: Mix
    microseconds: float
    value: float

    def __str__(self) -> str:
        members = ", ".join(self.mix.member_names)
        return f"{metric_value(self.value)} at {microseconds(self.microseconds)} with {members}"


class Offer(NamedTuple):
    """The mixture for a budget of so many microseconds per document."""

    budget: float
    priced: Priced


def offers(mixtures: Sequence[Priced]) -> list[Offer]:
    """Return the mixtures for round budgets, from the smallest that any keeps to the first that the whole keeps.

    Budgets with the same mixture as a smaller one are left out.
    """
    costs = [priced.microseconds / MARGIN for priced in mixtures]
    kept: list[Offer] = []
    for budget in round_numbers(min(costs), 10 * max(costs)):
        first = next(number for number, cost in enumerate(costs) if cost <= budget)
        if not kept or mixtures[first] is not kept[-1].priced:
            kept.append(Offer(budget, mixtures[first]))
    return kept


@dataclass(frozen=True, eq=False)
class Prices:
    """Times scorers on a sample of documents."""

    sample: RankingData
    _known: dict[tuple[tuple[str, int], ...], float] = field(default_factory=dict)

    @classmethod
    def on(cls, data: RankingData) -> Prices:
        """Time on the first queries of the data."""
        return cls(timing_sample(data))

    def of(self, scorer: Scorer) -> float:
        """Return the microseconds per document on one thread."""
        return microseconds_per_document(partial(scorer.predict, n_jobs=1), self.sample)

    def of_entry(self, entry: JudgedEntry, index: int) -> float:
        """Return the microseconds of one entry alone, with the number of rounds at this index."""
        return self.of_mix(Mix((entry,), (index,), np.ones(1)))

    def of_mix(self, chosen: Mix) -> float:
        """Return the microseconds of a mixture; one of the same members and rounds is timed only once."""
        key = tuple(
            (chosen.entries[i].name, chosen.entries[i].rounds[chosen.round_indices[i]]) for i in chosen.kept
        )
        if key not in self._known:
            self._known[key] = self.of(chosen.scorer())
        return self._known[key]


@dataclass(frozen=True, eq=False)
class Frontier:
    """Values and times mixtures of the judged entries.

    Parameters
    ----------
    held_out, metric
        What mixtures are valued by.
    prices
        Times their scorers.
    n_threads
        Number of threads that mixtures are valued with.
    weigh
        Gives the weights of a mixture.
    judgements
        The judgements that choose and value mixtures; None for all.
    """

    held_out: HeldOut
    metric: Metric
    prices: Prices
    n_threads: int
    weigh: Weigh = plausible_weights
    judgements: NDArray[np.bool_] | None = None
    _choices: dict[tuple[str, int], ChosenRounds] = field(default_factory=dict, init=False)

    def priced(self, entries: Sequence[JudgedEntry]) -> Priced:
        """Return the mixture of these entries with its time and its value."""
        return self.price(self._mix(entries))

    def price(self, chosen: Mix) -> Priced:
        """Return a mixture with its time and its value."""
        return Priced(chosen, self.prices.of_mix(chosen), self._value(chosen))

    def cheaper_and_cheaper(self, entries: Sequence[JudgedEntry]) -> Iterator[Priced]:
        """Yield the mixture of all entries, then cheaper ones.

        Each loses an entry, or half of the rounds of one: that which adds least to the value per microsecond.
        """
        return map(self.price, self._smaller_and_smaller(entries))

    def _smaller_and_smaller(self, entries: Sequence[JudgedEntry]) -> Iterator[Mix]:
        current = self._mixed(entries)
        while True:
            yield current
            smaller = [self._mixed(fewer) for fewer in _smaller(current)]
            if not smaller:
                return
            value, cost = self._value(current), self._cost(current)
            current = max(
                smaller, key=lambda mixture: (self._value(mixture) - value) / max(cost - self._cost(mixture), 1e-6)
            )

    def within(self, entries: Sequence[JudgedEntry], budget: float) -> Priced:
        """Return the best mixture that scores a document in so many microseconds.

        If the mixture of all entries is too slow, two are compared: the first that is fast enough of those that
        get cheaper and cheaper, and one that is built up from the best entry that is fast enough, which may have
        members that the first lost early.
        """
        most = MARGIN * budget
        whole = self.priced(entries)
        if whole.microseconds <= most:
            return whole
        path = list(self._smaller_and_smaller(entries))
        # Each is a part of the one before and takes less time, so few of them need to be timed.
        first = bisect_left(path, True, key=lambda chosen: self.prices.of_mix(chosen) <= most)
        fast = self.price(path[first]) if first < len(path) else None
        built = self._built_up(entries, most)
        affordable = [priced for priced in (fast, built) if priced is not None]
        if affordable:
            return max(affordable, key=lambda priced: priced.value)
        cheapest = min((self._mixed([entry.up_to(0)]) for entry in entries), key=self._cost)
        cost = self._cost(cheapest)
        raise InputError(
            f"No member scores a document in {budget:g} microseconds: {cheapest.entries[0].name} takes "
            f"{cost:.2g}; {parameter('max_microseconds')}={rounded_up(cost / MARGIN * 1.1)} would do."
        )

    def _built_up(self, entries: Sequence[JudgedEntry], most: float) -> Priced | None:
        """Return the best entry that is fast enough, with others added as long as that raises the value."""
        cut = [entry.up_to(index) for entry in entries for index in range(len(entry.rounds))]
        best: Priced | None = None
        while True:
            held = [] if best is None else list(best.mix.entries)
            names = [entry.name for entry in held]
            larger = [self._mixed([*held, entry]) for entry in cut if entry.name not in names]
            affordable = [mixture for mixture in larger if self._cost(mixture) <= most]
            if not affordable:
                return best
            best_larger = self.price(max(affordable, key=self._value))
            if best is not None and (best_larger.value <= best.value or best_larger.microseconds > most):
                return best
            best = best_larger

    def _mixed(self, entries: Sequence[JudgedEntry]) -> Mix:
        """Return the mixture of these entries without those that it leaves out."""
        chosen = self._mix(entries)
        return chosen if len(chosen.kept) == len(entries) else self._mix([entries[index] for index in chosen.kept])

    def _mix(self, entries: Sequence[JudgedEntry]) -> Mix:
        return mix_chosen(entries, list(map(self._choice, entries)), self.weigh)

    def _choice(self, entry: JudgedEntry) -> ChosenRounds:
        """Return the rounds of an entry, which do not depend on the others; computed once for each of its cuts."""
        cut = entry.name, len(entry.rounds)
        if cut not in self._choices:
            self._choices[cut] = entry.choice(self.judgements)
        return self._choices[cut]

    def _value(self, chosen: Mix) -> float:
        values = self.held_out.values(self.metric, chosen.scores, self.n_threads)
        return mean_over_queries(values if self.judgements is None else values[self.judgements])

    def _cost(self, chosen: Mix) -> float:
        """Return the sum of the entries' microseconds.

        A mixture may take less, because entries share columns, or more, because it standardises their scores.
        """
        return sum(map(self.prices.of_entry, chosen.entries, chosen.round_indices))


def _smaller(chosen: Mix) -> Iterator[list[JudgedEntry]]:
    """Yield the entries without one of them, and with at most half of the rounds of one of them."""
    entries = list(chosen.entries)
    for number, (entry, index) in enumerate(zip(entries, chosen.round_indices, strict=True)):
        others = entries[:number], entries[number + 1 :]
        if len(entries) > 1:
            yield [*others[0], *others[1]]
        half = [at for at, rounds in enumerate(entry.rounds) if rounds <= entry.rounds[index] / 2]
        if half and entry.rounds[index]:
            yield [*others[0], entry.up_to(half[-1]), *others[1]]
