"""Interleaving, A/B tests and their power: simulated users, units, refusals."""

import numpy as np
import pytest
from scipy.stats import t, ttest_ind

import rankwright as rw
from rankwright.base.errors import InputError


def drawn(random, n, preference, ties):
    return random.choice([-1.0, 0.0, 1.0], n, p=[(1 - ties - preference) / 2, ties, (1 - ties + preference) / 2])


def judged(first, second, **options):
    return rw.clicks.interleaving(rw.clicks.TeamCredits(first, second), **options)


def test_a_preference_is_found():
    signs = drawn(np.random.default_rng(0), 5000, 0.1, 0.5)
    result = rw.clicks.interleaving(
        rw.clicks.TeamCredits(signs < 0, signs > 0, names=("old", "new")), planned=5000
    )
    verdict = result.verdict
    assert result.summary.startswith("Users prefer new to old by")
    assert verdict.always_low <= verdict.low <= 0.1 <= verdict.high <= verdict.always_high
    assert verdict.decided_at < 5000
    assert sum(result.wins) == 5000
    assert "may be chance" in rw.clicks.interleaving(rw.clicks.TeamCredits([1, 0] * 50, [0, 1] * 50)).summary


def test_users_who_are_alike_count_once():
    """Sessions of a user are the same, so that a test by impression errs, and one by user does not."""
    random = np.random.default_rng(1)
    significant = {"impression": 0, "user": 0}
    for _ in range(200):
        signs = np.repeat(random.choice([-1.0, 1.0], 50), 10)
        credited = rw.clicks.TeamCredits(signs < 0, signs > 0, user=np.repeat(np.arange(50), 10))
        for unit, verdict in rw.clicks.interleaving(credited).verdicts.items():
            significant[unit] += verdict.p_value < 0.05
    assert significant["impression"] > 0.3 * 200
    assert significant["user"] < 0.1 * 200


def test_the_ab_test_is_welchs():
    random = np.random.default_rng(2)
    arms = random.choice(["old", "new"], 600)
    values = random.normal(size=600) * np.where(arms == "new", 2.0, 1.0)
    result = rw.clicks.ab_test(values, arms, names=("old", "new"))
    expected = ttest_ind(values[arms == "new"], values[arms == "old"], equal_var=False)
    interval = expected.confidence_interval(0.95)
    assert result.verdict.p_value == pytest.approx(expected.pvalue)
    assert (result.verdict.low, result.verdict.high) == pytest.approx((interval.low, interval.high))
    assert result.sizes == (int((arms == "old").sum()), int((arms == "new").sum()))


def test_the_ab_test_by_user():
    result = rw.clicks.ab_test([1, 3, 5, 0, 2, 0], list("aaabbb"), users=[1, 1, 2, 3, 3, 4])
    assert result.means == (3.5, 0.5)
    assert result.unit == "user"
    with pytest.raises(InputError, match="User '1' is in both arms"):
        rw.clicks.ab_test([1, 2, 3, 4], list("abab"), users=[1, 1, 2, 2])


def test_an_ab_test_with_peeking_errs_in_at_most_five_percent():
    random = np.random.default_rng(3)
    decided = 0
    for _ in range(100):
        arms = random.choice(["a", "b"], 2000)
        decided += rw.clicks.ab_test(random.random(2000) < 0.3, arms, names=("a", "b")).verdict.is_decided
    assert decided <= 0.05 * 100


@pytest.mark.parametrize(("preference", "ties"), [(0.05, 0.6), (0.1, 0.0), (0.2, 0.3)])
def test_the_power_of_interleaving(preference, ties):
    random = np.random.default_rng(4)
    plan = rw.clicks.plan_interleaving(preference, ties=ties)
    for sessions in (plan.sessions // 2, plan.sessions):
        signs = random.choice(
            [-1.0, 0.0, 1.0], (4000, sessions), p=[(1 - ties - preference) / 2, ties, (1 - ties + preference) / 2]
        )
        z = signs.mean(axis=1) / signs.std(axis=1, ddof=1) * np.sqrt(sessions)
        assert (np.abs(z) > t.isf(0.025, sessions - 1)).mean() == pytest.approx(plan.power_at(sessions), abs=0.03)


def test_the_power_of_an_ab_test():
    random = np.random.default_rng(5)
    plan = rw.clicks.plan_ab_test(0.3, 0.1)
    half = plan.sessions // 2
    arms = [(random.random((4000, half)) < rate).astype(float) for rate in (0.3, 0.4)]
    p_values = ttest_ind(*arms, axis=1, equal_var=False).pvalue
    assert (p_values < 0.05).mean() == pytest.approx(plan.power_at(plan.sessions), abs=0.03)


def test_the_power_by_user():
    """Sessions of a user share a part of their preference."""
    random, users, each = np.random.default_rng(6), 200, 5
    plan = rw.clicks.plan_interleaving(0.15, sessions_per_user=each, correlation=0.25)
    shares = random.random((2000, users, each)) < 0.5  # so two sessions share their sign with probability 0.25
    own = np.where(random.random((2000, users, each)) < 0.575, 1.0, -1.0)
    common = np.where(random.random((2000, users, 1)) < 0.575, 1.0, -1.0)
    means = np.where(shares, common, own).mean(axis=2)
    z = means.mean(axis=1) / means.std(axis=1, ddof=1) * np.sqrt(users)
    assert (np.abs(z) > 1.972).mean() == pytest.approx(plan.power_at(users * each), abs=0.03)


def test_both_beside_each_other():
    random = np.random.default_rng(7)
    signs = drawn(random, 4000, 0.1, 0.5)
    interleaved = rw.clicks.interleaving(rw.clicks.TeamCredits(signs < 0, signs > 0, names=("old", "new")))
    arms = random.choice(["old", "new"], 4000)
    ab = rw.clicks.ab_test(random.random(4000) < np.where(arms == "new", 0.35, 0.3), arms, names=("new", "old"))
    balance = rw.clicks.ExperimentBalance(interleaved, ab)
    assert balance.agree  # although the A/B test names them the other way round
    assert balance.sensitivity > 1
    assert "favour the same ranker" in str(balance)


def test_a_log_with_two_policies_is_an_ab_test():
    data = rw.synthetic.polynomial_queries(50, n_documents=5, seed=1)
    log = rw.clicks.simulate(data, {"old": data.X[:, 0], "ideal": data.y}, sessions=50)
    result = rw.clicks.ab_test(*rw.clicks.session_outcomes(log))
    lists = log.take_lists(log.policy[log.offsets[:-1]] == 1)
    assert result.means[result.names.index("ideal")] == pytest.approx(lists.n_clicks / lists.n_lists)
    with pytest.raises(InputError, match="no policies"):
        rw.clicks.session_outcomes(rw.clicks.simulate(data, data.y, sessions=2))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: judged([1], [0]),
            "There is 1 impression; a test needs at least two.",
        ),
        (
            lambda: judged([1, 0], [0, 1], by="user"),
            "The credits have no user.",
        ),
        (
            lambda: judged([1, 0], [0, 1], by="day"),
            "by must be 'impression', 'session' or 'user', not 'day'.",
        ),
        (
            lambda: judged([1, 0], [0, 1], planned=5),
            "planned must be at least 100, not 5.",
        ),
        (lambda: rw.clicks.TeamCredits([1, 0], [0]), "There are 2 impressions but 1 by second."),
        (
            lambda: rw.clicks.ab_test([1, 2], ["a", "a"]),
            "An A/B test has two arms; there are a: name two of them in names.",
        ),
        (lambda: rw.clicks.ab_test([1, np.inf], ["a", "b"]), "Outcome 1 is not a finite number."),
        (lambda: rw.clicks.ab_test([1, 2], ["a", "b"]), "Each arm needs at least two units."),
        (
            lambda: rw.clicks.plan_interleaving(0.5, ties=0.6),
            "preference must lie between 0 and the fraction without ties, 0.4.",
        ),
        (
            lambda: rw.clicks.plan_ab_test(0.3, 0.8),
            "difference must not be 0, and no rate may be outside of 0 and 1.",
        ),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == sentence


@pytest.mark.parametrize("sign", [1, -1])
def test_a_lead_that_was_decided_and_lost_is_said(sign):
    signs = sign * np.concatenate([np.ones(300), np.tile([-1, 1], 1500), -np.ones(250)])
    credited = rw.clicks.TeamCredits(signs < 0, signs > 0, names=("old", "new"))
    result = rw.clicks.interleaving(credited, planned=1000)
    assert result.verdict.always_low < 0.0 < result.verdict.always_high
    names = "new is ahead of old" if sign > 0 else "old is ahead of new"
    assert result.summary == (
        f"Decided after 100 impressions, but no longer clear: {names} by 0.0141 (-0.0382 to 0.0664 at any time) "
        "over 3,550 impressions."
    )


def test_sessions_of_an_ab_test_are_in_the_order_of_time():
    columns = {"session": [1, 2, 3], "query": ["q"] * 3, "document": ["d"] * 3, "position": [1] * 3}
    log = rw.clicks.ClickLog(**columns, clicked=[0, 1, 0], time=[9, 5, 7], policy=["b", "a", "b"])
    outcomes, arms = rw.clicks.session_outcomes(log)
    assert (outcomes.tolist(), arms) == ([1.0, 0.0, 0.0], ["a", "b", "b"])


def test_few_units_have_no_verdict_at_any_time():
    credited = rw.clicks.TeamCredits([0] * 70, [1] * 70, names=("old", "new"))
    assert rw.clicks.interleaving(credited).summary == (
        "Not decided: new is ahead of old by 1.0000 over 70 impressions, too few for a verdict at any time, which "
        "needs 100."
    )
