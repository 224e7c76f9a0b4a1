"""Power before the test: how many sessions an interleaving experiment or an A/B test needs."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import counted, rounded_percent
from rankwright.reports.blocks import Column, Figure, Kind, Note, Table
from rankwright.reports.result import Result
from rankwright.statistics.intervals import checked_level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

PARTS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of the number that is needed, in the table


@dataclass(frozen=True, repr=False)
class ExperimentPlan(Result):
    """The power of an experiment, for one look after a number of sessions that is fixed before.

    Parameters
    ----------
    kind
        `interleaving` or `A/B test`.
    effect
        The difference to be detected.
    deviation
        Standard deviation of the estimate, times the root of the number of sessions.
    level, power
        The level of the interval, and the wanted probability of a significant difference.

    Examples
    --------
    >>> plan = rw.clicks.plan_interleaving(0.02, ties=0.6)
    >>> isinstance(plan, rw.clicks.ExperimentPlan), plan.sessions, round(plan.power_at(plan.sessions), 2)
    (True, 7843, 0.8)
    """

    kind: str
    effect: float
    deviation: float
    level: float
    power: float

    def power_at(self, sessions: ArrayLike) -> Any:
        """Return the probability that the test is significant after so many sessions."""
        from scipy.special import ndtr

        units = np.maximum(np.asarray(sessions, dtype=np.float64) - self._limit**2 / 2.0, 0.0)  # Guenther 1981
        shift = abs(self.effect) * np.sqrt(units) / self.deviation
        powers = ndtr(shift - self._limit) + ndtr(-shift - self._limit)
        return float(powers) if powers.ndim == 0 else powers

    @property
    def _limit(self) -> float:
        from scipy.special import ndtri

        return float(ndtri((1.0 + self.level) / 2.0))

    @property
    def sessions(self) -> int:
        """The number of sessions with which the power is reached."""
        from scipy.special import ndtri

        root = (self._limit + float(ndtri(self.power))) * self.deviation / self.effect
        return int(np.ceil(root**2 + self._limit**2 / 2.0))

    @property
    def summary(self) -> str:
        needed, chance = counted(self.sessions, "session"), rounded_percent(self.power)
        kind = f"An {self.kind}" if self.kind[0] in "Ai" else f"A {self.kind}"
        return f"{kind} shows a difference of {self.effect:g} with {needed} in {chance} of cases."

    def blocks(self) -> Iterator[Block]:
        sizes = [max(1, round(part * self.sessions)) for part in PARTS]
        rows = list(zip(sizes, self.power_at(sizes).tolist(), strict=True))
        yield Table([Column("sessions", Kind.COUNT), Column("power", Kind.PERCENT)], rows)
        yield Figure(self.chart, "Power by number of sessions.")
        yield Note(
            "For one look at the end; a verdict at any time needs more sessions if the effect is no larger."
        )

    def chart(self) -> Chart:
        """Return the power by number of sessions."""
        from rankwright.reports.charts.lines import line_chart

        sizes: Doubles = np.linspace(1.0, 3.0 * self.sessions, 100)
        points = list(zip(sizes.tolist(), self.power_at(sizes).tolist(), strict=True))
        return line_chart({"": points}, "sessions", "power", description="Power by number of sessions.")


def plan_interleaving(
    preference: float,
    *,
    ties: float = 0.0,
    sessions_per_user: float = 1.0,
    correlation: float = 0.0,
    level: float = 0.95,
    power: float = 0.8,
) -> ExperimentPlan:
    """Tell how many sessions with one impression each an interleaving experiment needs.

    Parameters
    ----------
    preference
        The preference to be detected: the fraction of impressions that one ranker wins minus the other's.
    ties
        Expected fraction of ties, impressions without clicks among them.
    sessions_per_user, correlation
        Mean number of sessions per user, and their correlation within a user, if the test is by user.
    level, power
        Level of the interval, and the wanted probability that the difference is significant.

    Examples
    --------
    >>> print(rw.clicks.plan_interleaving(0.05, ties=0.6).summary)
    An interleaving shows a difference of 0.05 with 1,250 sessions in 80 % of cases.
    """
    _check(ties=ties, correlation=correlation)
    if not 0.0 < abs(preference) <= 1.0 - ties:
        raise InputError(
            f"{parameter('preference')} must lie between 0 and the fraction without ties, {1 - ties:g}."
        )
    variance = 1.0 - ties - preference**2
    deviation = sqrt(max(variance, 1e-12) * _design_effect(sessions_per_user, correlation))
    return ExperimentPlan("interleaving", preference, deviation, *_checked_levels(level, power))


def plan_ab_test(
    rate: float,
    difference: float,
    *,
    sessions_per_user: float = 1.0,
    correlation: float = 0.0,
    level: float = 0.95,
    power: float = 0.8,
) -> ExperimentPlan:
    """Tell how many sessions, in both arms together, an A/B test of a rate needs, with half of them in each arm.

    Parameters
    ----------
    rate
        The rate in the first arm, such as that of sessions with a click.
    difference
        The difference of rates to be detected.
    sessions_per_user, correlation, level, power
        As for `clicks.plan_interleaving`.

    Examples
    --------
    >>> print(rw.clicks.plan_ab_test(0.3, 0.01).summary)
    An A/B test shows a difference of 0.01 with 66,545 sessions in 80 % of cases.
    """
    _check(rate=rate, correlation=correlation)
    if difference == 0 or not 0.0 <= rate + difference <= 1.0:
        raise InputError(f"{parameter('difference')} must not be 0, and no rate may be outside of 0 and 1.")
    other = rate + difference
    variance = 2.0 * (rate * (1.0 - rate) + other * (1.0 - other))
    deviation = sqrt(max(variance, 1e-12) * _design_effect(sessions_per_user, correlation))
    return ExperimentPlan("A/B test", difference, deviation, *_checked_levels(level, power))


def _check(**fractions: float) -> None:
    for name, value in fractions.items():
        if not 0.0 <= value <= 1.0:
            raise InputError(f"{parameter(name)} must lie between 0 and 1, not {value}.")


def _checked_levels(level: float, power: float) -> tuple[float, float]:
    if not 0.0 < power < 1.0:
        raise InputError(f"{parameter('power')} must lie between 0 and 1, not {power}.")
    return checked_level(level), power


def _design_effect(sessions_per_user: float, correlation: float) -> float:
    """Return how much larger the variance is with correlated sessions of users (Kish 1965)."""
    if sessions_per_user < 1:
        raise InputError(f"{parameter('sessions_per_user')} must be at least 1, not {sessions_per_user}.")
    return 1.0 + (sessions_per_user - 1.0) * correlation
