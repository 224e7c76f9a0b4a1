import numpy as np
import pytest

from rankwright.clicks.models.click_model import BetaPrior


@pytest.mark.parametrize(("mean", "strength"), [(0.3, 10.0), (0.05, 40.0), (0.5, 2.0)])
def test_the_prior_is_recovered_by_moments(mean, strength):
    random = np.random.default_rng(1)
    rates = random.beta(mean * strength, (1 - mean) * strength, 20_000)
    trials = random.integers(1, 200, len(rates)).astype(float)
    prior = BetaPrior.of(random.binomial(trials.astype(int), rates).astype(float), trials)
    assert prior.mean == pytest.approx(mean, rel=0.03)
    assert prior.strength == pytest.approx(strength, rel=0.1)
    shrunken, errors = prior.shrunken(rates * trials, trials)
    assert (np.abs(shrunken - prior.mean) <= np.abs(rates - prior.mean) + 1e-12).all()
    assert (errors > 0).all()


def test_rates_without_differences_are_the_mean():
    prior = BetaPrior.of(np.array([5.0, 10.0]), np.array([10.0, 20.0]))
    assert (prior.mean, prior.strength) == (0.5, 1e6)
    assert BetaPrior.of(np.zeros(2), np.zeros(2)) == BetaPrior(0.5, 1.0)


def test_a_prior_with_the_moments_of_a_grid():
    nodes = np.linspace(0.001, 0.999, 4001)
    weights = nodes**2 * (1 - nodes) ** 5
    prior = BetaPrior.on_grid(nodes, weights / weights.sum())
    assert (prior.mean, prior.strength) == (pytest.approx(1 / 3, rel=1e-3), pytest.approx(9, rel=1e-2))
