"""Confidence intervals of means on new queries after a choice among settings, and the alternatives to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.wording import difference, metric_value, said_p_value
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.reports.blocks import Block

LEVEL = 0.95  # of the interval
# Fits on different folds share most of their queries, so that the mean varies more than independent values would
# (Bates, Hastie & Tibshirani 2024): in `benchmarks/estimates.py`, on other collections, by this factor.
WIDENING = 1.2


@dataclass(frozen=True, repr=False)
class Rival(Result):
    """A simpler choice measured on the same queries: its value, and the difference of the choice made from it.

    `name` is the choice by all queries; the value is that of the same choice made without the judging queries.
    """

    name: str
    value: float
    ahead: float
    p_value: float

    @property
    def summary(self) -> str:
        """Its value, and how far the choice made is ahead of it."""
        ahead = f"{difference(self.ahead)}, {said_p_value(self.p_value)}"
        return f"{self.name} has {metric_value(self.value)} (the choice made is ahead by {ahead})."

    def blocks(self) -> list[Block]:
        """Return nothing more than the summary."""
        return []


def interval_of(values: Doubles, gain: float = 0.0) -> tuple[float, float]:
    """Return Student's confidence interval of the mean plus a gain, widened; NaN for a single value.

    If all values are between 0 and 1, so is the interval.
    """
    from scipy.stats import t

    kept = values[~np.isnan(values)]
    if len(kept) < 2:
        return np.nan, np.nan
    error = WIDENING * float(kept.std(ddof=1)) / float(np.sqrt(len(kept)))
    reach = float(t.ppf((1 + LEVEL) / 2, len(kept) - 1)) * error
    middle = float(kept.mean()) + gain
    return within_range(middle - reach, kept), within_range(middle + reach, kept)


def within_range(number: float, values: Doubles) -> float:
    """Return the number, clipped to between 0 and 1 if all values are, as those of most metrics."""
    limited = np.nanmin(values, initial=0.0) >= 0 and np.nanmax(values, initial=0.0) <= 1
    return float(np.clip(number, 0.0, 1.0) if limited else number)
