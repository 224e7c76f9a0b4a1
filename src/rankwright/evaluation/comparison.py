"""Significance of the difference between two systems: randomisation test and bootstrap interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.errors import InputError

if TYPE_CHECKING:
    from rankwright.arrays import Doubles

SAMPLES = 10_000
BLOCK = 500  # samples drawn together; limits memory


@dataclass(frozen=True)
class Comparison:
    """A paired comparison of two systems over queries.

    `p_value` is the fraction of random sign flips of the queries' differences whose mean is at least as far from 0
    as the observed one: the paired randomisation test (Smucker, Allan & Carterette 2007).
    """

    difference: float
    interval: tuple[float, float]
    p_value: float
    better: int
    worse: int
    equal: int


def compare(one: Doubles, other: Doubles, *, samples: int = SAMPLES, random_state: int = 0) -> Comparison:
    """Compare two systems' values on the same queries; queries with NaN in either are ignored."""
    if one.shape != other.shape:
        raise InputError(f"Both systems need the same queries: one has {len(one)} values, the other {len(other)}.")
    differences = (one - other)[~np.isnan(one - other)]
    if len(differences) == 0:
        raise InputError("There is no query for which both systems have a value.")
    return Comparison(
        float(differences.mean()),
        mean_interval(differences, samples=samples, random_state=random_state),
        _sign_flip_test(differences, samples, np.random.default_rng(random_state)),
        int((differences > 0).sum()),
        int((differences < 0).sum()),
        int((differences == 0).sum()),
    )


def mean_interval(
    values: Doubles, *, level: float = 0.95, samples: int = SAMPLES, random_state: int = 0
) -> tuple[float, float]:
    """Return the bootstrap confidence interval of the mean."""
    kept = values[~np.isnan(values)]
    if len(kept) == 0:
        return float("nan"), float("nan")
    random = np.random.default_rng(random_state)
    means = [
        kept[random.integers(0, len(kept), (min(BLOCK, samples - done), len(kept)))].mean(axis=1)
        for done in range(0, samples, BLOCK)
    ]
    low, high = np.quantile(np.concatenate(means), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _sign_flip_test(differences: Doubles, samples: int, random: np.random.Generator) -> float:
    seen, further = abs(differences.mean()), 0
    for done in range(0, samples, BLOCK):
        signs = random.choice([-1.0, 1.0], (min(BLOCK, samples - done), len(differences)))
        # The tolerance counts means that are equal but for rounding.
        further += int((np.abs((signs * differences).mean(axis=1)) >= seen - 1e-12).sum())
    return (further + 1) / (samples + 1)
