"""Extrapolation: known curves are found, and intervals cover them."""

import numpy as np
import pytest

from rankwright.analyses.extrapolation import Measured, extrapolate


def simulated(curve, n_queries, random, *, folds=5, draws=3):
    """Values whose mean follows the curve, with noise of test queries, of training queries and of both."""
    fold = random.permutation(n_queries) % folds
    hard, good = random.normal(size=n_queries) * 0.2, random.normal(size=n_queries) * 0.14
    n_train = n_queries - n_queries // folds
    sizes = [n_train // 2**power for power in range(3, -1, -1)]
    values = [np.empty((draws if size < n_train else 1, n_queries)) for size in sizes]
    for number in range(folds):
        judges, train = fold == number, np.flatnonzero(fold != number)
        for draw in range(draws):
            drawn = random.permutation(train)
            for size, rows in zip(sizes, values, strict=True):
                if draw < len(rows):
                    own = random.normal(size=judges.sum()) * 0.1
                    rows[draw, judges] = curve(size) + hard[judges] + good[drawn[:size]].mean() + own
    return Measured(np.array(sizes, dtype=float), values, fold, n_train)


class TestExtrapolation:
    def test_a_curve_without_noise_is_found(self):
        sizes = np.array([10.0, 20.0, 40.0, 80.0])
        values = [np.full((2, 100), 0.8 - 0.6 * size**-0.5) for size in sizes]
        measured = Measured(sizes, values, np.arange(100) % 5, 80)
        found = extrapolate(measured, np.array([100.0, 200.0]))
        assert found.best == pytest.approx([0.8 - 0.06, 0.8 - 0.6 * 200**-0.5], abs=1e-4)

    def test_a_curve_does_not_leave_the_range_of_the_metric(self):
        sizes = np.array([10.0, 20.0, 40.0, 80.0])
        rising = 0.4 + 0.18 * np.log2(sizes / 10.0)
        values = [np.full((2, 100), mean) for mean in rising]
        predicted = extrapolate(Measured(sizes, values, np.arange(100) % 5, 80), np.array([100.0, 200.0]))
        assert predicted.best.max() == 1.0
        assert predicted.samples.max() == 1.0
        above_one = [2.0 * column for column in values]  # DCG, say, which has no such limit
        predicted = extrapolate(Measured(sizes, above_one, np.arange(100) % 5, 80), np.array([100.0, 200.0]))
        assert predicted.best.max() > 2.0

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "curve",
        [lambda n: 0.8 - 0.6 * n**-0.5, lambda n: 0.5 + 0.05 * np.log(n), lambda n: 0.7 + 0.0 * n],
        ids=["power", "log", "flat"],
    )
    @pytest.mark.long
    def test_intervals_cover_what_twice_the_queries_give(self, curve):
        hits = np.zeros(2)
        for seed in range(40):
            measured = simulated(curve, 100, np.random.default_rng(seed))
            found = extrapolate(measured, np.array([100.0, 200.0]))
            (_, low, high), (_, gain_low, gain_high) = found.estimates()[1], found.difference(1, 0)
            gain = curve(200) - curve(100)
            hits += [low <= curve(200) <= high, gain_low <= gain <= gain_high]
        assert (hits >= 35).all()
