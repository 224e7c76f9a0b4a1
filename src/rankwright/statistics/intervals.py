"""What to expect on new queries: intervals of held-out means, and simpler choices to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.base.arrays import Doubles

LEVEL = 0.95  # of the interval
MOST_NAMED = 10  # systems whose values are in the description of a chart
# Fits on different folds share most of their queries, so that the mean varies more than independent values would
# (Bates, Hastie & Tibshirani 2024): in `benchmarks/estimates.py`, on other collections, by this factor.
WIDENING = 1.2


@dataclass(frozen=True)
class Rival:
    """What a simpler choice would give on the same queries, and how far the other one is ahead of it.

    `name` is the choice by all queries; the value is that of the same choice made without the judging queries.
    """

    name: str
    value: float
    ahead: float
    p_value: float


def spelled_means(rows: Sequence[tuple[str, float, float, float]]) -> str:
    """Return names with their means and intervals, for the description of a chart; of many, the first ones."""
    named = [
        f"{name} {value:.4f}" + (f" ({low:.4f} to {high:.4f})" if np.isfinite(low) else "")
        for name, value, low, high in rows[:MOST_NAMED]
    ]
    more = f", and {len(rows) - MOST_NAMED:,} more" if len(rows) > MOST_NAMED else ""
    return ", ".join(named) + more


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
    """Return the number, cut to between 0 and 1 if all values are, as those of most metrics."""
    limited = np.nanmin(values, initial=0.0) >= 0 and np.nanmax(values, initial=0.0) <= 1
    return float(np.clip(number, 0.0, 1.0) if limited else number)


def without_nan(value: Any) -> Any:
    """Return plain JSON with None in place of NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {name: without_nan(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
