import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from rankwright.clicks.models.chains import reading_chances
from reference.clicks import click_chances, reading_pattern

CHANCES = st.lists(st.floats(0.05, 0.95), min_size=4, max_size=4)


@given(CHANCES, CHANCES, st.tuples(*[st.integers(0, 1)] * 4))
def test_probabilities_are_sums_over_patterns(attraction, going_on, clicks):
    log = rw.clicks.from_sessions([("q", list("abcd"), clicks)])
    marginal, conditional = click_chances(
        lambda pattern: reading_pattern(pattern, attraction, going_on), 4, clicks
    )
    arrays = np.array(attraction), np.array(going_on)
    np.testing.assert_allclose(reading_chances(log, *arrays, given_clicks=False), marginal, rtol=1e-9)
    np.testing.assert_allclose(reading_chances(log, *arrays, given_clicks=True), conditional, rtol=1e-9)


def read_lists(n_lists, satisfaction, random):
    """Return sessions of users who read from the top and stop if a clicked document satisfies them."""
    attraction = {"a": 0.6, "b": 0.3, "c": 0.8, "d": 0.5}
    for _ in range(n_lists):
        documents, clicks, stopped = random.permutation(list(attraction)).tolist(), [], False
        for document in documents:
            clicks.append(not stopped and random.random() < attraction[document])
            stopped |= clicks[-1] and random.random() < satisfaction[document]
        yield "q", documents, clicks


def test_the_cascade_model_recovers_attraction():
    always = dict.fromkeys("abcd", 1.0)
    log = rw.clicks.from_sessions(read_lists(4000, always, np.random.default_rng(1)))
    model = rw.clicks.fit_click_model(log, "cascade")
    truth = dict(zip("abcd", (0.6, 0.3, 0.8, 0.5), strict=True))
    expected = [truth[name] for name in log.document_ids[model.attraction.document]]
    assert (np.abs(model.attraction.values - expected) < 4 * model.attraction.errors).all()


def test_counts_of_each_model_by_hand():
    log = rw.clicks.from_sessions(
        [("q", ["a", "b", "c"], [1, 0, 1]), ("q", ["a", "b", "c"], [0, 1, 0]), ("q", ["b", "a"], [0, 0])]
    )
    cells = rw.clicks.ClickCounts.of(log)
    np.testing.assert_allclose(cells.by_pair(cells.read), [3, 3, 1])
    np.testing.assert_allclose(cells.by_pair(cells.ended), [0, 1, 1])
    dependent = rw.clicks.fit_click_model(log, "dependent")
    prior = dependent.attraction.prior
    expected = (np.array([1, 1, 1]) + prior.mean * prior.strength) / (np.array([3, 3, 1]) + prior.strength)
    np.testing.assert_allclose(dependent.attraction.values, expected)
    np.testing.assert_allclose(dependent.continuation[1:], [1.5 / 2, 0.5 / 2, 0.5 / 2])
    bayesian = rw.clicks.fit_click_model(log, "simplified_bayesian")
    prior = bayesian.satisfaction.prior
    expected = (np.array([0, 1, 1]) + prior.mean * prior.strength) / (np.array([1, 1, 1]) + prior.strength)
    np.testing.assert_allclose(bayesian.satisfaction.values, expected)


@pytest.mark.parametrize("name", ["cascade", "dependent", "simplified_bayesian"])
def test_unknown_documents_and_deeper_lists_are_predicted(name):
    log = rw.clicks.from_sessions([("q", ["a", "b"], [1, 0]), ("q", ["b", "a"], [1, 1])])
    new = rw.clicks.from_sessions([("other", ["x", "a", "b", "c"], [0, 0, 1, 0])])
    model = rw.clicks.fit_click_model(log, name)
    for chances in (model.conditional(new), model.marginal(new)):
        assert ((chances >= 0) & (chances <= 1)).all()
    assert model.conditional(new)[0] == model.attraction.prior.mean
