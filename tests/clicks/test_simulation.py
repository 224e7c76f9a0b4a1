import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.clicks import PositionBias, simulate
from rankwright.clicks.simulation import sessions_per_query

DATA = rw.synthetic.polynomial_queries(12, n_documents=6, n_features=4, n_active=2, n_terms=3)


def test_the_same_seed_gives_the_same_log():
    first, again, other = (simulate(DATA, DATA.X[:, 0], random_state=seed).clicked for seed in (3, 3, 4))
    assert (first == again).all()
    assert (first != other).any()


def test_the_ranker_orders_the_lists():
    log = simulate(DATA, DATA.X[:, 1], sessions=2)
    rows = log.rows_in(DATA)
    assert (rows >= 0).all()
    for begin, end in zip(log.offsets[:-1], log.offsets[1:], strict=True):
        assert (np.diff(DATA.X[rows[begin:end], 1]) <= 0).all()
        assert log.position[begin:end].tolist() == [1, 2, 3, 4, 5, 6]
    same = simulate(DATA, "-2", sessions=2)
    assert (same.document == log.document).all()
    assert (same.clicked == log.clicked).all()


def test_click_rates_are_examination_times_attraction():
    data = rw.RankingData([[3.0], [2.0], [1.0]], [2, 0, 1], [1, 1, 1])
    log = simulate(data, data.X[:, 0], PositionBias(0.5), sessions=100_000, noise=0.1)
    rates = np.bincount(log.position, log.clicked)[1:] / np.bincount(log.position)[1:]
    attraction = 0.1 + 0.9 * np.array([1, 0, 1 / 3])
    np.testing.assert_allclose(rates, attraction / np.sqrt([1, 2, 3]), atol=0.006)


def test_policies_are_drawn_and_named():
    log = simulate(DATA, {"old": DATA.X[:, 0], "new": DATA.X[:, 1]}, sessions=200, shuffled=0.25)
    assert log.policy_ids.tolist() == ["old", "new", "shuffled"]
    lists = np.bincount(log.policy[log.offsets[:-1]]) / log.n_lists
    np.testing.assert_allclose(lists, [0.375, 0.375, 0.25], atol=0.04)
    shuffled = log.take_lists(log.policy[log.offsets[:-1]] == 2)
    shown = np.histogram2d(shuffled.rows_in(DATA) % 6, shuffled.position, bins=6)[0]
    np.testing.assert_allclose(shown / shown.sum(axis=0), 1 / 6, atol=0.06)


def test_depth_limits_the_lists():
    log = simulate(DATA, DATA.X[:, 0], depth=2, sessions=3)
    assert (np.diff(log.offsets) == 2).all()


def test_sessions_follow_a_power_law():
    equal = sessions_per_query(50, 20, 0.0, 1)
    assert set(equal.tolist()) == {20}
    steep = np.sort(sessions_per_query(1000, 20, 1.0, 1))[::-1]
    assert steep.sum() == 20_000
    assert steep[0] / steep[9] == pytest.approx(10, rel=0.02)
    assert sessions_per_query(10, 0.5, 0.0, 1).sum() == 5


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sessions": 0}, "sessions must be a positive number, not 0."),
        ({"power": -1}, "power must lie between 0 and 10, not -1."),
        ({"depth": 0}, "depth must be a positive integer, not 0."),
        ({"noise": 2}, "noise must lie between 0 and 1, not 2."),
        ({"shuffled": -0.1}, "shuffled must lie between 0 and 1, not -0.1."),
        ({"behaviour": PositionBias(), "eta": 1.0}, "eta and trust are for behaviours given by name."),
        (
            {"sessions": 1e9},
            "That would be 72,000,000,000 impressions; at most 2,147,483,647 can be simulated.",
        ),
    ],
)
def test_a_wrong_option_is_refused(options, sentence):
    with pytest.raises(InputError) as refused:
        simulate(DATA, DATA.X[:, 0], **options)
    assert str(refused.value) == sentence


def test_queries_without_sessions_and_labels_of_one_value():
    data = rw.RankingData(DATA.X, np.zeros(len(DATA)), DATA.qid)
    log = simulate(data, data.X[:, 0], "none", sessions=0.25, noise=0.0)
    assert (log.n_lists, log.n_clicks) == (3, 0)
