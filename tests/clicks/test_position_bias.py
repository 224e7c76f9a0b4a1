import json

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError

DATA = rw.synthetic.polynomial_queries(150, n_documents=6, seed=5)
RANKERS = {"old": DATA.X[:, 0], "new": DATA.X[:, 1]}
TRUTH = 1 / np.arange(1, 7)


@pytest.mark.parametrize("method", ["model", "pivot", "shuffled"])
def test_propensities_are_recovered_and_intervals_hold_them(method):
    inside = []
    for seed in range(4):
        log = rw.clicks.simulate(DATA, RANKERS, sessions=150, shuffled=0.2, random_state=seed)
        found = rw.clicks.propensities(log, method)
        assert found.position.tolist() == [1, 2, 3, 4, 5, 6]
        np.testing.assert_allclose(found.values, TRUTH, atol=0.12)
        inside += ((found.low <= TRUTH) & (found.high >= TRUTH))[1:].tolist()
        assert (found.low[0], found.high[0]) == (1.0, 1.0)
    assert np.mean(inside) >= 0.8


def test_harvesting_is_not_fooled_by_a_good_ranker():
    good = {"true": DATA.y + 0.01 * DATA.X[:, 0], "other": DATA.X[:, 1]}
    log = rw.clicks.simulate(DATA, good, sessions=300)
    rates = np.bincount(log.position, log.clicked)[1:] / np.bincount(log.position)[1:]
    assert rates[1] / rates[0] < 0.42  # of which half is relevance
    for method in ("model", "pivot"):
        found = rw.clicks.propensities(log, method)
        assert found.values[1] == pytest.approx(0.5, abs=0.07)


def test_what_the_log_cannot_tell_is_said():
    log = rw.clicks.from_sessions([("q", ["a", "b", "c"], [1, 0, 1]), ("q", ["b", "a", "c"], [1, 1, 0])])
    for method in ("model", "pivot"):
        found = rw.clicks.propensities(log, method)
        assert np.isnan(found.values).tolist() == [False, False, True]
        assert found.notes
        with pytest.raises(InputError, match="There is no propensity of position 3: too few documents"):
            found.in_log(log)
        json.dumps(found.to_dict(), allow_nan=False)


def test_propensities_of_impressions():
    log = rw.clicks.simulate(DATA, RANKERS, sessions=50)
    found = rw.clicks.propensities(log)
    assert (found.in_log(log) == found.values[log.position - 1]).all()
    assert len(found.charts) == 1
    assert len(found.frame()) == 6


@pytest.mark.parametrize(
    ("log", "method", "sentence"),
    [
        (
            rw.clicks.simulate(DATA, RANKERS, sessions=1),
            "swap",
            "method must be 'shuffled', 'pivot', 'model', 'features' or 'trust', not 'swap'.",
        ),
        (
            rw.clicks.simulate(DATA, RANKERS, sessions=1),
            "shuffled",
            "The log has no policy 'shuffled'; name that of the lists in random order in policy.",
        ),
        (
            rw.clicks.from_sessions([("q", ["a"], [1])]),
            "model",
            "All impressions are at position 1; there is nothing to compare it with.",
        ),
        (
            rw.clicks.from_sessions([("q", ["a", "b"], [0, 1])]),
            "pivot",
            "There are no clicks at position 1, with which other positions are compared.",
        ),
    ],
)
def test_what_cannot_be_estimated_is_refused(log, method, sentence):
    with pytest.raises(InputError) as refused:
        rw.clicks.propensities(log, method)
    assert str(refused.value) == sentence


@pytest.mark.parametrize("method", ["pivot", "shuffled"])
def test_a_position_without_a_click_is_not_never_examined(method):
    lists = [("q", ["a", "b"], [1, 0]), ("q", ["b", "a"], [1, 0])] * 20
    shown = rw.clicks.from_sessions(lists).columns() | {"policy": ["shuffled"] * 80}
    log = rw.clicks.ClickLog(**shown, notes=["1 impression left out."])
    found = rw.clicks.propensities(log, method)
    assert found.values[1] == pytest.approx(0.5 / 40)
    assert (found.low[1], found.high[1]) == (0.0, pytest.approx(3.69 / 40))
    assert found.notes == ("1 impression left out.",)


@pytest.mark.parametrize("method", ["model", "pivot"])
def test_a_log_of_one_ranker_tells_the_first_position_alone(method):
    found = rw.clicks.propensities(rw.clicks.simulate(DATA, DATA.X[:, 0]), method)
    assert found.summary == "The log does not tell the propensity of any position but the first."
    assert len(found.notes) == 1
