"""Tests of a mean at a fixed number of units, and verdicts that hold whenever one looks.

A test that is repeated while data arrive errs far more often than its level says. The always-valid p-value is that
of a sequential probability ratio test with a normal mixture (Robbins 1970; Johari, Pekelis & Walsh 2022), and the
interval is its confidence sequence with estimated variances (Waudby-Smith et al. 2024): under no difference, at
most 5 % of experiments ever have a p-value below 0.05, however often one looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.statistics.intervals import checked_level

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles

FIRST_LOOK = 100  # units before the first verdict, since variances are estimated


class Path(NamedTuple):
    """The estimate and its variance after each unit, from `FIRST_LOOK` units on, and the numbers of units."""

    units: Doubles
    value: Doubles
    variance: Doubles


@dataclass(frozen=True)
class Verdict:
    """A difference, tested once, and as one may test it at any time.

    Parameters
    ----------
    difference, low, high, p_value
        The estimate, its interval and its p-value, for one look after a number of units that was fixed before.
    always_low, always_high, always_p_value
        The same for any number of looks.
    n_units
        Number of units: impressions, sessions or users.
    decided_at
        Number of units after which the always-valid p-value was significant for the first time; None if it is not.
    """

    difference: float
    low: float
    high: float
    p_value: float
    always_low: float
    always_high: float
    always_p_value: float
    n_units: int
    decided_at: int | None

    @classmethod
    def of(cls, path: Path, freedom: float, level: float, planned: int) -> Verdict:
        """Test the end of a path, and all of it."""
        from scipy.special import stdtr, stdtrit

        if not planned >= FIRST_LOOK:
            raise InputError(f"{parameter('planned')} must be at least {FIRST_LOOK}, not {planned}.")
        checked_level(level)
        value, error = float(path.value[-1]), float(np.sqrt(path.variance[-1]))
        reach = float(stdtrit(freedom, (1.0 + level) / 2.0)) * error
        p_value = 2.0 * float(stdtr(freedom, -abs(value) / error)) if error > 0 else float(value == 0)
        p_values, reaches = always_valid(path, 1.0 - level, planned)
        significant = np.flatnonzero(p_values <= 1.0 - level)
        return cls(
            value,
            value - reach,
            value + reach,
            p_value,
            value - float(reaches[-1]),
            value + float(reaches[-1]),
            float(p_values.min()),
            int(path.units[-1]),
            int(path.units[significant[0]]) if len(significant) else None,
        )

    @property
    def is_decided(self) -> bool:
        """Whether the experiment may stop."""
        return self.decided_at is not None


def always_valid(path: Path, alpha: float, planned: int) -> tuple[Doubles, Doubles]:
    """Return the p-value and half the width of the interval at each look.

    With m the number of units divided by the width of the mixture, which is narrowest at the planned number: the
    likelihood ratio is exp(z^2 / 2 m / (1 + m)) / sqrt(1 + m), z the estimate over its standard error.
    """
    m = path.units * _mixture(alpha, planned)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = np.where(path.variance > 0, path.value**2 / path.variance, np.where(path.value == 0, 0.0, np.inf))
        p_values = np.minimum(1.0, np.sqrt(1.0 + m) * np.exp(-0.5 * z * m / (1.0 + m)))
    reaches = np.sqrt(path.variance * (1.0 + m) / m * (2.0 * np.log(1.0 / alpha) + np.log1p(m)))
    early = path.units < FIRST_LOOK
    return np.where(early, 1.0, p_values), np.where(early, np.inf, reaches)


def _mixture(alpha: float, planned: int) -> float:
    """Return the variance of the mixture, per unit, that makes the interval narrowest at the planned number."""
    limit = -2.0 * np.log(alpha)
    return float((limit + np.log(limit + 1.0)) / planned)


def running_moments(values: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Return the numbers of values so far, their means, and the variances of these means."""
    n = np.arange(1.0, len(values) + 1.0)
    mean = np.cumsum(values) / n
    squares = np.maximum(np.cumsum(values**2) - n * mean**2, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return n, mean, np.where(n > 1, squares / (n - 1.0) / n, np.nan)


def unit_means(values: Doubles, units: list[str] | None) -> Doubles:
    """Return the mean value of each unit, in the order of their first appearance."""
    if units is None:
        return values
    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(unit, len(numbers)) for unit in units], dtype=np.int64)
    return np.asarray(np.bincount(codes, values) / np.bincount(codes))
