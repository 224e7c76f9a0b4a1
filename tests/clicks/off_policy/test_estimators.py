"""Estimators of importance sampling: equal to loops and to obp, intervals that cover the truth."""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.off_policy import coverage, data_folder, our_estimates, questions
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

import rankwright as rw
from rankwright.base.errors import InputError

OBP = json.loads((Path(__file__).parent / "open_bandit.json").read_text())


def in_loops(rewards, weights, predicted, expected, clip):
    """Compute the estimates decision by decision."""
    n = len(rewards)
    sums = dict.fromkeys(("ips", "clipped", "weights", "direct", "doubly_robust"), 0.0)
    for reward, weight, guess, mean in zip(rewards, weights, predicted, expected, strict=True):
        sums["ips"] += weight * reward
        sums["clipped"] += min(weight, clip) * reward
        sums["weights"] += weight
        sums["direct"] += mean
        sums["doubly_robust"] += mean + min(weight, clip) * (reward - guess)
    means = {name: total / n for name, total in sums.items()}
    normaliser = means.pop("weights")
    return means | {"self_normalised": means["ips"] / normaliser}


DECISIONS = st.lists(
    st.tuples(st.integers(0, 3), st.floats(0, 50), st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30
)


@examples(100)
@given(DECISIONS, st.floats(0.5, 60))
def test_equal_to_loops(decisions, clip):
    rewards, weights, predicted, expected = (
        np.array(column, dtype=float) for column in zip(*decisions, strict=True)
    )
    ours = rw.clicks.importance_estimates(rewards, weights, predicted=predicted, expected=expected, clip=clip)
    if weights.sum() == 0:
        assert np.isnan(ours["self_normalised"].value)
        return
    for name, value in in_loops(rewards, weights, predicted, expected, clip).items():
        assert ours[name].value == pytest.approx(value, rel=1e-9, abs=1e-12)
    for name in ("ips", "clipped", "doubly_robust"):
        assert min(0, ours[name].value) <= ours[name].low <= ours[name].value <= ours[name].high


def test_without_a_reward_the_upper_limit_allows_for_one():
    estimate = rw.clicks.importance_estimates(np.zeros(1000), np.ones(1000))["ips"]
    assert estimate.value == estimate.low == 0
    assert estimate.high == pytest.approx(-np.log(0.025) / 1000)  # that of a Poisson variable


def open_bandit():
    folder = data_folder()
    if folder is None:
        pytest.skip("the Open Bandit data are in obp's wheel: pip install --no-deps obp==0.4.1")
    return questions(folder)


def test_equal_to_obp():
    for question in open_bandit():
        ours = our_estimates(question)
        for name, value in OBP[question.name].items():
            assert ours[name].value == pytest.approx(value, abs=1e-9)


@pytest.mark.long
def test_intervals_cover_the_on_policy_value():
    asked = [question for question in open_bandit() if question.name.endswith("random from bts")]
    assert [coverage(question) >= 0.93 for question in asked] == [True] * 3


@pytest.mark.slow
def test_intervals_cover_a_known_truth():
    random = np.random.default_rng(0)
    rates = random.beta(1, 50, size=40)
    shown = random.dirichlet(np.full(40, 0.3))
    missed = np.zeros(2)
    for _ in range(300):
        items = random.choice(40, size=5000, p=shown)
        clicks = random.random(5000) < rates[items]
        guess = np.full(5000, 0.01)
        estimates = rw.clicks.importance_estimates(
            clicks, (1 / 40) / shown[items], predicted=guess, expected=guess
        )
        limits = [(estimates[name].low, estimates[name].high) for name in ("ips", "doubly_robust")]
        missed += [not low <= rates.mean() <= high for low, high in limits]
    assert (missed <= 0.05 * 300).all()


@pytest.mark.parametrize(
    ("rewards", "weights", "options", "sentence"),
    [
        ([], [], {}, "There are no rewards."),
        ([1.0], [1.0, 2.0], {}, "There are 1 rewards but 2 weights."),
        ([-1.0], [1.0], {}, "Reward 0 is negative."),
        ([1.0], [-1.0], {}, "Weight 0 is negative."),
        ([1.0], [1.0], {"clip": 0.0}, "clip must be a positive number, not 0.0."),
        ([1.0], [1.0], {"predicted": [0.5]}, "predicted and expected belong together."),
        ([1.0], [np.nan], {}, "weights must be a list of finite numbers."),
    ],
)
def test_refusals(rewards, weights, options, sentence):
    with pytest.raises(InputError) as error:
        rw.clicks.importance_estimates(rewards, weights, **options)
    assert str(error.value) == sentence
