"""What is known after all fits: the judged entries, the mixture, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rankwright.auto.standings import standings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.auto.entries import JudgedEntry
    from rankwright.auto.frontier import Market, Priced
    from rankwright.auto.plan import Plan
    from rankwright.auto.standings import MemberStanding


@dataclass(frozen=True, eq=False)
class Run:
    """The results of all fits.

    Parameters
    ----------
    plan
        The parts that judged.
    market
        Values and times mixtures.
    entries
        The judged entries.
    whole
        The mixture of all of them.
    kept
        The mixture that became the model: the whole one, or a cheaper one within the budget.
    failures, passed_over
        Names of entries that could not be fitted, or that there was no time for, and why.
    """

    plan: Plan
    market: Market
    entries: Sequence[JudgedEntry]
    whole: Priced
    kept: Priced
    failures: dict[str, str]
    passed_over: dict[str, str]

    def standings(self) -> tuple[MemberStanding, ...]:
        """Return all judged entries, by weight and then by value."""
        prices = {
            one.name: self.market.prices.of_entry(one, place)
            for mixture in (self.whole.mix, self.kept.mix)
            for one, place in zip(mixture.entries, mixture.places, strict=True)
        }
        kept = standings_of(self.kept.mix, prices)
        names = {one.name for one in kept}
        others = [
            one._replace(weight=0.0) for one in standings_of(self.whole.mix, prices) if one.name not in names
        ]
        return (*kept, *sorted(others, key=lambda row: -row.value))

    @cached_property
    def frontier(self) -> list[Priced]:
        """Mixtures from the whole one down to the cheapest member: what each microsecond buys."""
        return list(self.market.cheaper_and_cheaper(self.entries))
