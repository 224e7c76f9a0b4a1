"""Verdicts at any time: error rates with peeking, equal to the ratio computed by integration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm
from tests.properties import examples

from rankwright.clicks.experiments.any_time import FIRST_LOOK, Path, Verdict, always_valid, unit_means
from rankwright.clicks.experiments.interleaving import mean_path

PLANNED = 2000


def errors(draw, *, experiments, units, planned=PLANNED):
    """Return how often experiments without a difference are ever significant, if one looks every hundred units."""
    looks = np.arange(FIRST_LOOK - 2, units - 1, 100)  # paths begin with two units
    ever = 0
    for _ in range(experiments):
        p_values, _ = always_valid(mean_path(draw(units)), 0.05, planned)
        ever += (p_values[looks] <= 0.05).any()
    return ever / experiments


def test_peeking_every_hundred_sessions_errs_in_at_most_five_percent():
    random = np.random.default_rng(0)
    signs = [-1.0, 0.0, 1.0]
    assert errors(lambda n: random.choice(signs, n, p=[0.2, 0.6, 0.2]), experiments=300, units=3000) <= 0.05


@pytest.mark.long
@pytest.mark.parametrize("ties", [0.0, 0.5, 0.95])
@pytest.mark.parametrize("planned", [1000, 10_000])
def test_error_rates(ties, planned):
    random = np.random.default_rng(1)
    chances = [(1 - ties) / 2, ties, (1 - ties) / 2]

    def draws(n):
        return random.choice([-1.0, 0.0, 1.0], n, p=chances)

    assert errors(draws, experiments=2000, units=10_000, planned=planned) <= 0.05


@examples(30)
@given(st.floats(-6.0, 6.0), st.floats(0.1, 2.0), st.integers(FIRST_LOOK, 5000))
def test_the_ratio_of_the_mixture_is_its_integral(z, deviation, units):
    error = deviation / np.sqrt(units)
    value = z * error
    limit = -2 * np.log(0.05)
    mixture = np.sqrt((limit + np.log(limit + 1)) / PLANNED) * deviation

    def density(theta):
        return norm.pdf(value, theta, error) / norm.pdf(value, 0.0, error) * norm.pdf(theta, 0.0, mixture)

    middle = value * mixture**2 / (mixture**2 + error**2)
    width = mixture * error / np.sqrt(mixture**2 + error**2)
    ratio = quad(density, middle - 12 * width, middle + 12 * width, points=[middle])[0]
    path = Path(np.array([float(units)]), np.array([value]), np.array([error**2]))
    p_values, reaches = always_valid(path, 0.05, PLANNED)
    assert p_values[0] == pytest.approx(min(1.0, 1.0 / ratio), rel=1e-5)
    assert (p_values[0] <= 0.05) == (abs(value) >= reaches[0])


def test_one_look_is_students_test():
    from scipy.stats import ttest_1samp

    scores = np.random.default_rng(2).choice([-1.0, 0.0, 1.0], 500, p=[0.2, 0.5, 0.3])
    verdict = Verdict.of(mean_path(scores), 499, 0.95, PLANNED)
    expected = ttest_1samp(scores, 0.0)
    interval = expected.confidence_interval(0.95)
    assert verdict.p_value == pytest.approx(expected.pvalue)
    assert (verdict.low, verdict.high) == pytest.approx((interval.low, interval.high))
    assert verdict.always_high > verdict.high


def test_units_count_once():
    assert unit_means(np.array([1.0, 0.0, -1.0]), ["a", "b", "a"]).tolist() == [0.0, 0.0]
