"""Coverage of the intervals of `rw.analyses.learning_curve`: `python -m benchmarks.learning_curve`.

Values are simulated, so that the true curve is known: each test query has its own difficulty, each training query
its own merit, and each value some noise. The seeds and curves were not used to choose the rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.analyses.extrapolation import Measured, extrapolate

if TYPE_CHECKING:
    from collections.abc import Callable

QUERIES, FOLDS, DRAWS, SEEDS = 80, 5, 3, range(1000, 1060)
CURVES: dict[str, Callable[[float], float]] = {
    "0.9 - 0.6 n^-0.3": lambda n: 0.9 - 0.6 * n**-0.3,
    "0.8 - n^-0.75": lambda n: 0.8 - 1.0 * n**-0.75,
    "0.5 + 0.04 log n": lambda n: 0.5 + 0.04 * np.log(n),
    "0.6, flat": lambda n: 0.6 + 0.0 * n,
    "0.5 + 0.05 log n, flat from 80 queries on": lambda n: 0.5 + 0.05 * np.log(min(n, 80)),
}


def simulated(curve: Callable[[float], float], seed: int) -> Measured:
    """Return values whose expectation follows the curve."""
    random = np.random.default_rng(seed)
    merit, difficulty = random.normal(size=QUERIES) * np.sqrt(0.02), random.normal(size=QUERIES) * 0.2
    folds = random.permutation(QUERIES) % FOLDS
    n_train = QUERIES - QUERIES // FOLDS
    sizes = [size for size in (n_train // 2**power for power in range(4, -1, -1)) if size >= 5]
    values = [np.empty((DRAWS if size < n_train else 1, QUERIES)) for size in sizes]
    for fold in range(FOLDS):
        judges, train = folds == fold, np.flatnonzero(folds != fold)
        for draw in range(DRAWS):
            drawn = random.permutation(train)
            for size, rows in zip(sizes, values, strict=True):
                if draw < len(rows):
                    noise = random.normal(size=judges.sum()) * 0.1
                    rows[draw, judges] = curve(size) + difficulty[judges] + merit[drawn[:size]].mean() + noise
    return Measured(np.array(sizes, dtype=np.float64), values, folds, n_train)


def main() -> None:
    """Print one row per curve."""
    print("| true curve | true gain | mean estimate | value held | gain held |\n|---|---|---|---|---|")
    for name, curve in CURVES.items():
        gain, estimates, held = curve(2 * QUERIES) - curve(QUERIES), [], np.zeros(2, dtype=int)
        for seed in SEEDS:
            found = extrapolate(simulated(curve, seed), np.array([QUERIES, 2.0 * QUERIES]))
            (_, low, high), (value, least, most) = found.estimates()[1], found.difference(1, 0)
            held += [low <= curve(2 * QUERIES) <= high, least <= gain <= most]
            estimates.append(value)
        of = f"of {len(SEEDS)}"
        print(f"| {name} | {gain:.4f} | {np.mean(estimates):.4f} | {held[0]} {of} | {held[1]} {of} |", flush=True)


if __name__ == "__main__":
    main()
