"""Coverage of the intervals of `rw.compare`, and false positives and power of its tests.

`python -m benchmarks.significance` draws values of queries from distributions like those of real metrics, many
times, and counts. An interval of 95 % should cover the true mean 95 times in 100. Two systems without a difference
should be called different 5 times in 100. A difference of the size `detectable` should show 80 times in 100.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from rankwright.statistics.intervals import mean_intervals
from rankwright.statistics.paired_tests import POWER, TESTS, compare_pairs, detectable_effect

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from rankwright.base.arrays import Doubles

    Draw = Callable[[Generator, tuple[int, int]], Doubles]

BATCH = 100  # repetitions that share their bootstrap samples
SIZES = (10, 22, 50, 200)


def ndcg(random: Generator, shape: tuple[int, int]) -> Doubles:
    """Return values spread between 0 and 1, as NDCG@10 of a middling system."""
    return random.beta(1.3, 1.6, shape)


def first(random: Generator, shape: tuple[int, int]) -> Doubles:
    """Return 0 and 1, as P@1 of a hard collection."""
    return random.binomial(1, 0.15, shape).astype(np.float64)


def precision(random: Generator, shape: tuple[int, int]) -> Doubles:
    """Return multiples of 1/5, as P@5."""
    return random.binomial(5, random.beta(1.5, 1.5, shape)) / 5.0


def reciprocal(random: Generator, shape: tuple[int, int]) -> Doubles:
    """Return 1, 1/2, 1/3, ..., as the reciprocal rank of the first relevant document."""
    return 1.0 / random.geometric(0.45, shape)


def hard(random: Generator, shape: tuple[int, int]) -> Doubles:
    """Return values of which most are near 0, as those of a hard collection."""
    return random.beta(0.5, 2.5, shape)


DRAWS: dict[str, Draw] = {
    "NDCG": ndcg,
    "P@5": precision,
    "P@1 of hard queries": first,
    "reciprocal rank": reciprocal,
    "hard queries": hard,
}


def main() -> None:
    """Print coverage, false alarms and power by the number of queries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=4000)
    repetitions = parser.parse_args().repetitions
    print(f"{f'{repetitions:,} repetitions, percent':<44}" + "".join(f"{size:>8}" for size in SIZES))
    for name, draw in DRAWS.items():
        _show(f"coverage, {name}", [_coverage(draw, size, repetitions) for size in SIZES])
    found = [_tested(size, repetitions, 0.0) for size in SIZES]
    for test in TESTS:
        _show(f"false alarms, {test}", [one[test] for one in found])
    _show("coverage, difference", [one["interval"] for one in found])
    found = [_tested(size, repetitions, float(detectable_effect(size, level=0.95))) for size in SIZES]
    for test in TESTS:
        _show(f"power at `detectable` ({POWER:.0%}), {test}", [one[test] for one in found])


def _show(name: str, fractions: list[float]) -> None:
    print(f"{name:<44}" + "".join(f"{100 * one:8.1f}" for one in fractions), flush=True)


def _coverage(draw: Draw, n_queries: int, repetitions: int) -> float:
    random = np.random.default_rng(n_queries)
    truth = float(draw(np.random.default_rng(0), (2000, 2000)).mean())
    covered = 0
    for batch in range(repetitions // BATCH):
        low, high = mean_intervals(draw(random, (BATCH, n_queries)), random_state=batch).T
        covered += int(((low <= truth) & (truth <= high)).sum())
    return covered / (repetitions // BATCH * BATCH)


def _tested(n_queries: int, repetitions: int, effect: float) -> dict[str, float]:
    """Return how often each test finds a difference of so many standard deviations, and the interval covers it.

    The differences are normal; each repetition is a pair of a system with its own rival.
    """
    random = np.random.default_rng(n_queries)
    counts = dict.fromkeys((*TESTS, "interval"), 0)
    pairs = np.arange(BATCH)
    for batch in range(repetitions // BATCH):
        differences = random.normal(effect, 1.0, (BATCH, n_queries))
        rivals = ndcg(random, (BATCH, n_queries))
        values = np.concatenate([rivals + differences, rivals])
        names = [str(number) for number in range(2 * BATCH)]
        found = compare_pairs(names, values, pairs, pairs + BATCH, level=0.95, random_state=batch)
        for test in TESTS:
            counts[test] += int((found.p_values[test] < 0.05).sum())
        inside = (found.columns["low"] <= effect) & (effect <= found.columns["high"])
        counts["interval"] += int(inside.sum())
    return {name: count / (repetitions // BATCH * BATCH) for name, count in counts.items()}


if __name__ == "__main__":
    main()
