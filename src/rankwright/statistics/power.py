"""Statistical power of a paired t-test: the smallest detectable difference, and the queries that one needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles

POWER = 0.8
MOST_EXACT_LIMIT = 30.0  # of t
MOST_TABULATED = 200  # above, the normal approximation is right to one query


def t_limit(n_queries: int | Doubles, level: float) -> Doubles:
    """Return the value of Student's t that is exceeded in either direction with probability 1 - level."""
    from scipy.special import stdtrit

    n = np.asarray(n_queries, dtype=np.float64)
    return np.where(n > 1, stdtrit(np.maximum(n - 1.0, 1.0), (1.0 + level) / 2.0), np.nan)


def detectable_effect(n_queries: int | Doubles, *, level: float, power: float = POWER) -> Doubles:
    """Return the smallest mean difference, in standard deviations, that is significant with this probability.

    By the noncentral t distribution; the chance of a significant difference in the wrong direction is neglected.
    Far out, where scipy would compute for minutes, a normal approximation is used (Johnson and Welch 1940),
    which is right to five percent.
    """
    from scipy.special import nctdtrinc, ndtri

    n = np.asarray(n_queries, dtype=np.float64)
    freedom, limits = np.maximum(n - 1.0, 1.0), t_limit(n, level)
    exact = nctdtrinc(freedom, 1.0 - power, np.minimum(limits, MOST_EXACT_LIMIT))
    normal = limits * (1.0 - 0.25 / freedom) + ndtri(power) * np.sqrt(1.0 + limits**2 / (2.0 * freedom))
    return np.asarray(np.where(limits <= MOST_EXACT_LIMIT, exact, normal) / np.sqrt(n))


def queries_needed(effects: Doubles, *, level: float, power: float = POWER) -> Doubles:
    """Return the number of queries that show each difference, in standard deviations, with this probability.

    Infinite for a difference of 0, NaN for NaN.
    """
    from scipy.special import ndtri

    sizes = np.arange(2.0, MOST_TABULATED + 1.0)
    tabulated = detectable_effect(sizes, level=level, power=power)
    effects = np.abs(effects)
    index = len(sizes) - np.searchsorted(tabulated[::-1], effects, side="right")
    limit = ndtri((1.0 + level) / 2.0)
    with np.errstate(divide="ignore"):
        # Guenther (1981)
        many = np.ceil(((limit + ndtri(power)) / effects) ** 2 + limit**2 / 2.0)
    needed = np.where(index < len(sizes), sizes[np.minimum(index, len(sizes) - 1)], many)
    return np.where(np.isnan(effects), np.nan, needed)
