import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from rankwright import _native
from reference.clicks import reading_posteriors

CHANCE = st.floats(0.05, 0.95)
ROWS = st.lists(st.tuples(st.booleans(), CHANCE, CHANCE), min_size=1, max_size=6)


@given(st.lists(ROWS, min_size=1, max_size=4), CHANCE)
def test_expectations_are_sums_over_all_ways_to_stop(lists, continuation):
    rows = [row for each in lists for row in each]
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    clicked, attraction, satisfaction = (np.array(column) for column in zip(*rows, strict=True))
    got = _native.expect_reading(offsets, clicked.view(np.uint8), attraction, satisfaction, continuation, 1)
    expected = [reading_posteriors(*zip(*each, strict=True), continuation) for each in lists]
    for part in (0, 1):
        np.testing.assert_allclose(
            got[part], np.concatenate([each[part] for each in expected]), rtol=1e-9, atol=1e-12
        )
    np.testing.assert_allclose(got[2], [each[2] for each in expected], rtol=1e-9)


def test_threads_and_empty_lists():
    random = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(random.integers(0, 4, 10_000))])
    size = offsets[-1]
    clicked = random.integers(0, 2, size).astype(np.uint8)
    chances = random.uniform(0.1, 0.9, (2, size))
    first, second = (_native.expect_reading(offsets, clicked, *chances, 0.7, threads) for threads in (1, 2))
    assert all(one.tobytes() == other.tobytes() for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        (0, np.array([0, 2]), "offsets must run"),
        (2, np.ones(1), "attraction must be between 0 and 1"),
        (3, np.full(2, 0.5), "satisfaction must be between 0 and 1"),
        (4, 1.0, "continuation must be between 0 and 1"),
    ],
)
def test_the_binding_refuses(place, value, sentence):
    arguments = [np.array([0, 1]), np.ones(1, np.uint8), np.full(1, 0.5), np.full(1, 0.5), 0.5, 1]
    _native.expect_reading(*arguments)
    arguments[place] = value
    with pytest.raises(ValueError, match=sentence):
        _native.expect_reading(*arguments)


ATTRACTION = dict(zip("abcdef", (0.7, 0.3, 0.5, 0.2, 0.6, 0.4), strict=True))
SATISFACTION = dict(zip("abcdef", (0.8, 0.4, 0.2, 0.6, 0.3, 0.5), strict=True))


def users(n_lists, continuation, random):
    """Return sessions of users who may give up after every document."""
    for _ in range(n_lists):
        documents, clicks, reads = random.permutation(list(ATTRACTION)).tolist(), [], True
        for document in documents:
            clicks.append(reads and random.random() < ATTRACTION[document])
            satisfied = clicks[-1] and random.random() < SATISFACTION[document]
            reads = reads and not satisfied and random.random() < continuation
        yield "q", documents, clicks


def test_parameters_are_recovered_and_every_step_raises_the_likelihood():
    log = rw.clicks.from_sessions(users(20_000, 0.8, np.random.default_rng(3)))
    model = rw.clicks.fit_click_model(log, "bayesian")
    assert model.continuation == pytest.approx(0.8, abs=0.02)
    names = log.document_ids[model.attraction.document]
    np.testing.assert_allclose(model.attraction.values, [ATTRACTION[name] for name in names], atol=0.03)
    np.testing.assert_allclose(model.satisfaction.values, [SATISFACTION[name] for name in names], atol=0.05)
    assert (np.diff(model.objectives) > -1e-6).all()
    assert rw.clicks.compare_click_models(log, ["simplified_bayesian", "bayesian", "cascade"]).best == "bayesian"


@given(st.lists(st.tuples(st.permutations("abc"), st.tuples(*[st.booleans()] * 3)), min_size=1, max_size=6))
def test_steps_never_lower_the_objective(lists):
    log = rw.clicks.from_sessions([("q", documents, clicks) for documents, clicks in lists])
    if log.n_clicks:
        objectives = rw.clicks.fit_click_model(log, "bayesian", max_steps=30).objectives
        assert (np.diff(objectives) >= -1e-6 * np.abs(objectives[1:])).all()


def test_predictions_are_those_of_the_likelihood():
    log = rw.clicks.from_sessions(users(200, 0.8, np.random.default_rng(4)))
    model = rw.clicks.fit_click_model(log, "bayesian", max_steps=3)
    chances = model.conditional(log)
    by_list = np.add.reduceat(np.log(np.where(log.clicked > 0, chances, 1 - chances)), log.offsets[:-1])
    arrays = model.attraction.in_log(log), model.satisfaction.in_log(log)
    clicked = (log.clicked > 0).view(np.uint8)
    likelihood = _native.expect_reading(log.offsets, clicked, *arrays, model.continuation, 1)[2]
    np.testing.assert_allclose(by_list, likelihood, rtol=1e-9)
    assert "stopped before it converged" in model.notes[0]
