"""Click rates by position and by document, and clicks over expected clicks (COEC)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright.clicks.models.click_model import (
    BetaPrior,
    ClickModel,
    PairEstimates,
    at_positions,
    by_position,
)
from rankwright.reports.blocks import Column, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright.base.arrays import Doubles
    from rankwright.clicks.counts import ClickCounts
    from rankwright.clicks.log import ClickLog
    from rankwright.reports.blocks import Block


@dataclass(frozen=True, repr=False, eq=False)
class PositionRates(ClickModel):
    """The click rate at each position, for all documents; `rates` begins with position 0."""

    name: ClassVar[str] = "click rate by position"
    rates: Doubles

    @classmethod
    def fit(cls, counts: ClickCounts) -> PositionRates:
        """Count."""
        return cls(counts.n_lists, counts.notes, by_position(counts))

    def conditional(self, log: ClickLog) -> Doubles:
        return at_positions(self.rates, log, float(self.rates[-1]))

    def parameters(self) -> Iterator[Block]:
        rows = list(enumerate(self.rates.tolist()))[1:]
        yield Table([Column("position", Kind.COUNT), Column("click rate")], rows)


@dataclass(frozen=True, repr=False, eq=False)
class DocumentRates(ClickModel):
    """The click rate of each document for each query, wherever it was shown, shrunken towards the mean."""

    name: ClassVar[str] = "click rate by document"
    attraction: PairEstimates

    @classmethod
    def fit(cls, counts: ClickCounts) -> DocumentRates:
        """Count."""
        shown, clicked = counts.by_pair(counts.shown), counts.by_pair(counts.clicked)
        prior = BetaPrior.of(clicked, shown)
        estimates = PairEstimates.of(counts, *prior.shrunken(clicked, shown), prior)
        return cls(counts.n_lists, counts.notes, estimates)

    def conditional(self, log: ClickLog) -> Doubles:
        return self.attraction.in_log(log)

    def estimates(self) -> dict[str, PairEstimates]:
        return {"attraction": self.attraction}


@dataclass(frozen=True, repr=False, eq=False)
class ClicksOverExpected(ClickModel):
    """Clicks over expected clicks (Zhang & Jones 2007): how much more a document is clicked than others.

    Expected are the clicks of an average document at the same positions. The ratio is shrunken towards 1, and its
    standard error is that of a Poisson variable.
    """

    name: ClassVar[str] = "clicks over expected clicks"
    rates: Doubles
    ratio: PairEstimates

    @classmethod
    def fit(cls, counts: ClickCounts) -> ClicksOverExpected:
        """Count."""
        rates = by_position(counts)
        clicked, expected = counts.by_pair(counts.clicked), counts.by_pair(counts.shown * rates[counts.position])
        total, seen = float(expected.sum()), expected > 0
        squares = float(((clicked[seen] - expected[seen]) ** 2 / expected[seen]).sum()) - int(seen.sum())
        variance = squares / total if total else 0.0  # of the ratios, beyond what chance explains
        strength = float(np.clip(1.0 / variance if variance > 0 else 1e6, 0.1, 1e6))
        ratios = (clicked + strength) / (expected + strength)
        errors = np.sqrt(clicked + strength) / (expected + strength)
        return cls(
            counts.n_lists, counts.notes, rates, PairEstimates.of(counts, ratios, errors, BetaPrior(1.0, strength))
        )

    def conditional(self, log: ClickLog) -> Doubles:
        return np.minimum(1.0, at_positions(self.rates, log, float(self.rates[-1])) * self.ratio.in_log(log))

    def estimates(self) -> dict[str, PairEstimates]:
        return {"ratio": self.ratio}


@dataclass(frozen=True, repr=False, eq=False)
class PropensityRates(ClickModel):
    """Clicks per examination of each document for each query, where the propensities of positions are known.

    An impression counts as much as its position is examined (inverse propensity weights). With trust, the clicks
    that it makes are subtracted, and an examination counts less (affine correction, Vardasbi et al. 2020).
    `propensities` and `trust` begin with position 0.
    """

    name: ClassVar[str] = "click rate by document with known propensities"
    attraction: PairEstimates
    propensities: Doubles
    trust: Doubles

    @classmethod
    def fit(cls, counts: ClickCounts, propensities: Doubles, trust: Doubles) -> PropensityRates:
        """Count."""
        trusted = (propensities * trust)[counts.position]
        examined = counts.by_pair(counts.shown * (propensities[counts.position] - trusted))
        clicked = counts.by_pair(counts.clicked - counts.shown * trusted)
        clicked = np.clip(clicked, 0.0, examined)  # by chance there may be fewer or more
        prior = BetaPrior.of(clicked, examined)
        estimates = PairEstimates.of(counts, *prior.shrunken(clicked, examined), prior)
        return cls(counts.n_lists, counts.notes, estimates, propensities, trust)

    def conditional(self, log: ClickLog) -> Doubles:
        examined, trust = (at_positions(each, log, float(each[-1])) for each in (self.propensities, self.trust))
        attraction = self.attraction.in_log(log)
        return np.asarray(examined * (attraction + (1.0 - attraction) * trust))

    def estimates(self) -> dict[str, PairEstimates]:
        return {"attraction": self.attraction}
