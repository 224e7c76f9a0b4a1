"""Models of users who read from the top: cascade, dependent click model, simplified dynamic Bayesian network.

In all of them a document that is read is clicked with the probability of its attraction. They differ in whether
the user goes on after a click; without a click, the user always does. So what is read is known up to the last
click, and everything is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright.clicks.models.click_model import BetaPrior, ClickModel, PairEstimates, at_positions
from rankwright.reports.blocks import Column, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright.base.arrays import Doubles
    from rankwright.clicks.counts import ClickCounts
    from rankwright.clicks.log import ClickLog
    from rankwright.reports.blocks import Block


@dataclass(frozen=True, repr=False, eq=False)
class ReadingModel(ClickModel):
    """A model of users who read from the top."""

    attraction: PairEstimates

    def going_on(self, log: ClickLog) -> Doubles:
        """Return the probability of reading on after a click, for each impression."""
        raise NotImplementedError

    def conditional(self, log: ClickLog) -> Doubles:
        return reading_chances(log, self.attraction.in_log(log), self.going_on(log), given_clicks=True)

    def marginal(self, log: ClickLog) -> Doubles:
        return reading_chances(log, self.attraction.in_log(log), self.going_on(log), given_clicks=False)

    def estimates(self) -> dict[str, PairEstimates]:
        return {"attraction": self.attraction}


@dataclass(frozen=True, repr=False, eq=False)
class CascadeModel(ReadingModel):
    """Users click the first document that attracts them, and stop (Craswell et al. 2008)."""

    name: ClassVar[str] = "cascade model"

    @classmethod
    def fit(cls, counts: ClickCounts) -> CascadeModel:
        """Count up to the first click of each list."""
        first = counts.last == 0
        attraction = _rates(counts, counts.clicked * first, counts.shown * first)
        return cls(counts.n_lists, counts.notes, attraction)

    def going_on(self, log: ClickLog) -> Doubles:
        return np.zeros(len(log))


@dataclass(frozen=True, repr=False, eq=False)
class DependentClickModel(ReadingModel):
    """After a click users go on with a probability that depends on the position (Guo et al. 2009).

    `continuation` begins with position 0; `continuation_errors` are its standard errors.
    """

    name: ClassVar[str] = "dependent click model"
    continuation: Doubles
    continuation_errors: Doubles

    @classmethod
    def fit(cls, counts: ClickCounts) -> DependentClickModel:
        """Count up to the last click of each list; a click that is not the last was followed by reading on."""
        clicked = counts.by_position(counts.clicked)
        prior = BetaPrior(0.5, 1.0)
        rates, errors = prior.shrunken(clicked - counts.by_position(counts.ended), clicked)
        attraction = _rates(counts, counts.clicked, counts.read)
        return cls(counts.n_lists, counts.notes, attraction, rates, errors)

    def going_on(self, log: ClickLog) -> Doubles:
        return at_positions(self.continuation, log, float(self.continuation[-1]))

    def parameters(self) -> Iterator[Block]:
        columns = [Column("position", Kind.COUNT), Column("reads on after a click"), Column("standard error")]
        numbers = zip(self.continuation.tolist(), self.continuation_errors.tolist(), strict=True)
        yield Table(columns, [(position, *pair) for position, pair in enumerate(numbers)][1:], "Continuation")


@dataclass(frozen=True, repr=False, eq=False)
class SimplifiedBayesianModel(ReadingModel):
    """After a click users stop if the document satisfied them (Chapelle & Zhang 2009, simplified)."""

    name: ClassVar[str] = "simplified dynamic Bayesian network"
    satisfaction: PairEstimates

    @classmethod
    def fit(cls, counts: ClickCounts) -> SimplifiedBayesianModel:
        """Count up to the last click of each list; the last click satisfied."""
        attraction = _rates(counts, counts.clicked, counts.read)
        satisfaction = _rates(counts, counts.ended, counts.clicked)
        return cls(counts.n_lists, counts.notes, attraction, satisfaction)

    def going_on(self, log: ClickLog) -> Doubles:
        return 1.0 - self.satisfaction.in_log(log)

    def estimates(self) -> dict[str, PairEstimates]:
        return {"attraction": self.attraction, "satisfaction": self.satisfaction}


def _rates(counts: ClickCounts, clicks: Doubles, trials: Doubles) -> PairEstimates:
    of_pair = counts.by_pair(clicks), counts.by_pair(trials)
    prior = BetaPrior.of(*of_pair)
    return PairEstimates.of(counts, *prior.shrunken(*of_pair), prior)


def reading_chances(
    log: ClickLog, attraction: Doubles, going_on: Doubles, *, given_clicks: bool, unclicked: float = 1.0
) -> Doubles:
    """Return click probabilities, given the clicks above or whatever they are, by a recursion down each list.

    The user reads the first document, and goes on after one without a click with the probability `unclicked`.
    """
    reads = np.ones(log.n_lists)
    chances = np.empty(len(log))
    sizes = np.diff(log.offsets)
    for rank in range(int(sizes.max(initial=0))):
        lists = np.flatnonzero(sizes > rank)
        rows = log.offsets[lists] + rank
        attracts, chance = attraction[rows], reads[lists]
        chances[rows] = chance * attracts
        if given_clicks:
            was_read = chance * (1.0 - attracts) / np.maximum(1.0 - chance * attracts, 1e-12)
            reads[lists] = np.where(log.clicked[rows] > 0, going_on[rows], unclicked * was_read)
        else:
            reads[lists] = chance * (attracts * going_on[rows] + unclicked * (1.0 - attracts))
    return chances
