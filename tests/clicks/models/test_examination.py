import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from rankwright import _native
from rankwright.clicks.models.examination import UserBrowsingModel
from reference.clicks import browsing_pattern, click_chances, examination_step

CELL = st.tuples(st.integers(0, 3), st.integers(1, 30), st.floats(0, 1)).map(
    lambda cell: (cell[0], float(cell[1]), float(round(cell[1] * cell[2])))
)
PAIRS = st.lists(st.lists(CELL, min_size=1, max_size=4), min_size=1, max_size=8)
NODES = np.array([0.05, 0.2, 0.5, 0.9])
START = np.array([1.0, 0.5, 0.4, 0.3])


def fitted(pairs, max_steps, n_threads=1, nodes=NODES, start=START, trust=None, n_strata=1, prior_only=False):
    cells = [cell for pair in pairs for cell in pair]
    offsets = np.concatenate([[0], np.cumsum([len(pair) for pair in pairs])]).astype(np.int64)
    kinds = np.array([cell[0] for cell in cells], dtype=np.int32)
    shown, clicked = (np.array([cell[part] for cell in cells]) for part in (1, 2))
    prior = np.full(n_strata * len(nodes), 1 / len(nodes))
    strata = np.arange(len(pairs), dtype=np.int32) % n_strata
    trust = np.zeros(len(start)) if trust is None else trust
    estimates = nodes, prior, start, trust
    return _native.fit_examination(
        offsets, strata, kinds, shown, clicked, *estimates, prior_only, max_steps, 0.0, n_threads
    )


TRUST = st.sampled_from([[0.0] * 4, [0.5, 0.3, 0.2, 0.0], [0.1, 0.0, 0.6, 0.3]])


@given(PAIRS, st.integers(0, 4), TRUST, st.integers(1, 3), st.booleans())
def test_steps_are_those_of_the_literal_twin(pairs, max_steps, trust, n_strata, prior_only):
    mean, _, examination, trusted, prior, objectives = fitted(
        pairs, max_steps, trust=np.array(trust), n_strata=n_strata, prior_only=prior_only
    )
    expected, weights = START.tolist(), [[0.25] * 4 for _ in range(n_strata)]
    strata = [number % n_strata for number in range(len(pairs))]
    for step in range(len(objectives)):
        objective, new_weights, new, new_trust, means = examination_step(
            pairs, strata, NODES.tolist(), weights, expected, trust
        )
        assert objectives[step] == pytest.approx(objective, rel=1e-9, abs=1e-9)
        if step < len(objectives) - 1:
            weights = [[max(weight, 1e-300) for weight in of_stratum] for of_stratum in new_weights]
            expected, trust = (expected, trust) if prior_only else (new, new_trust)
    np.testing.assert_allclose(mean, means, rtol=1e-9)
    np.testing.assert_allclose(examination, expected, rtol=1e-9)
    np.testing.assert_allclose(trusted, trust, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(prior.reshape(n_strata, 4), weights, rtol=1e-7, atol=1e-12)


@given(PAIRS, TRUST, st.integers(1, 3), st.booleans())
def test_every_step_raises_the_likelihood(pairs, trust, n_strata, prior_only):
    objectives = fitted(pairs, 60, trust=np.array(trust), n_strata=n_strata, prior_only=prior_only)[-1]
    assert (np.diff(objectives) >= -1e-9 * np.abs(objectives[1:]) - 1e-12).all()


def test_threads_do_not_matter():
    random = np.random.default_rng(0)
    pairs = [
        [(int(kind), 9.0, float(random.integers(0, 4))) for kind in random.integers(0, 4, 2)]
        for _ in range(20_000)
    ]
    first, second = fitted(pairs, 5, 1), fitted(pairs, 5, 2)
    assert all(one.tobytes() == other.tobytes() for one, other in zip(first, second, strict=True))


def good_arguments():
    cells = [np.array([0, 1]), np.zeros(1, np.int32), np.zeros(1, np.int32), np.ones(1), np.ones(1)]
    return [*cells, NODES, np.full(4, 0.25), START, np.zeros(4), False, 5, 0.0, 1]


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        (0, np.array([0, 2]), "offsets must run"),
        (1, np.zeros(2, np.int32), "strata must have one number per pair"),
        (1, np.ones(1, np.int32), "a stratum is out of range"),
        (2, np.array([4], np.int32), "a class is out of range"),
        (2, np.array([-1], np.int32), "a class is out of range"),
        (3, np.array([np.nan]), "shown must be finite"),
        (4, np.array([2.0]), "clicked must be at least 0 and at most shown"),
        (5, np.array([0.1, 0.2, 0.3, 1.0]), "nodes must be above 0 and below 1"),
        (6, np.zeros(4), "prior must be above 0"),
        (6, np.ones(3), "prior must have one number per stratum and node"),
        (7, np.array([1.0, 2.0, 1.0, 1.0]), "examination must be above 0 and at most 1"),
        (7, np.zeros(0), "examination must be above 0 and at most 1"),
        (8, np.zeros(3), "trust must have one number per class"),
        (8, np.ones(4), "trust must be at least 0 and below 1"),
        (10, -1, "must not be negative"),
        (11, -1.0, "must not be negative"),
    ],
)
def test_the_binding_refuses(place, value, sentence):
    arguments = good_arguments()
    _native.fit_examination(*arguments)
    arguments[place] = value
    with pytest.raises(ValueError, match=sentence):
        _native.fit_examination(*arguments)


DATA = rw.synthetic.polynomial_queries(150, n_documents=6, seed=2)
RANKERS = {"old": DATA.X[:, 0], "new": DATA.X[:, 1]}
TRUTH = 0.1 + 0.9 * (2**DATA.y - 1) / (2 ** DATA.y.max() - 1)


def attraction_of(log):
    truth = np.zeros(len(log.pairs.query))
    truth[log.pairs.of_impression] = TRUTH[log.rows_in(DATA)]
    return truth


@pytest.mark.parametrize("seed", range(3))
def test_the_position_based_model_recovers_its_parameters(seed):
    log = rw.clicks.simulate(DATA, RANKERS, sessions=200, random_state=seed)
    model = rw.clicks.fit_click_model(log, "position")
    z = ((model.examination - 1 / model.position) / np.maximum(model.errors, 1e-12))[1:]
    assert np.abs(z).max() < 4
    assert (model.errors[1:] < 0.05).all()
    errors = (model.attraction.values - attraction_of(log)) / model.attraction.errors
    assert 0.8 < np.sqrt((errors**2).mean()) < 1.2
    assert np.mean(np.abs(errors) < 1.96) > 0.92
    assert model.notes == ()


def test_the_user_browsing_model_recovers_its_parameters():
    log = rw.clicks.simulate(DATA, RANKERS, "browsing", sessions=400)
    model = rw.clicks.fit_click_model(log, "browsing")
    z = ((model.examination - 1 / (model.position - model.last)) / np.maximum(model.errors, 1e-12))[1:]
    assert np.abs(z).max() < 4.5
    assert np.sqrt((z**2).mean()) < 1.6


def test_a_log_without_moves_identifies_nothing_and_says_so():
    log = rw.clicks.simulate(DATA, DATA.X[:, 0], sessions=20)
    model = rw.clicks.fit_click_model(log, "position")
    assert np.isnan(model.errors[1:]).all()
    assert "The log does not tell examination from relevance at all other positions, so that" in model.notes[0]
    some = rw.clicks.from_sessions([("q", ["a", "b", "c"], [1, 0, 1]), ("q", ["b", "a", "c"], [1, 1, 0])])
    model = rw.clicks.fit_click_model(some, "position")
    assert np.isnan(model.errors).tolist() == [False, False, True]
    assert "at 1 of 2 other positions" in model.notes[0]


def test_a_position_without_a_click_is_not_impossible():
    lists = [
        ("q", ["a", "b", "c"], [1, 0, 0]),
        ("q", ["b", "c", "a"], [1, 1, 0]),
        ("q", ["c", "a", "b"], [0, 1, 0]),
    ]
    model = rw.clicks.fit_click_model(rw.clicks.from_sessions(lists * 20), "position")
    attraction = model.attraction.values
    assert model.examination[2] == pytest.approx(0.5 / (20 * attraction.sum() + 1))
    assert 0 < model.errors[2] < 0.1


def test_stopping_early_is_said():
    log = rw.clicks.simulate(DATA, RANKERS, sessions=20)
    (note,) = rw.clicks.fit_click_model(log, "position", max_steps=2).notes
    assert note == "EM for the position-based model was stopped before it converged; raise max_steps."


@given(st.lists(st.floats(0.05, 0.95), min_size=4, max_size=4), st.tuples(*[st.integers(0, 1)] * 4))
def test_browsing_probabilities_are_sums_over_patterns(attraction, clicks):
    from rankwright.clicks.models.click_model import BetaPrior, PairEstimates

    log = rw.clicks.from_sessions([("q", list("abcd"), clicks)])
    places = [(position, last) for position in range(1, 5) for last in range(position)]
    examination = np.linspace(0.2, 1.0, len(places))
    estimates = PairEstimates(
        *log.pairs[:2],
        log.query_ids,
        log.document_ids,
        np.array(attraction),
        np.zeros(4),
        np.ones(4),
        BetaPrior(0.5, 1),
    )
    position, last = (np.array([place[part] for place in places]) for part in (0, 1))
    model = UserBrowsingModel(1, (), estimates, position, last, examination, examination, examination)
    table = dict(zip(places, examination.tolist(), strict=True))
    chances = click_chances(lambda pattern: browsing_pattern(pattern, attraction, table), 4, clicks)
    np.testing.assert_allclose(model.marginal(log), chances[0], rtol=1e-9)
    np.testing.assert_allclose(model.conditional(log), chances[1], rtol=1e-9)


@pytest.mark.slow
def test_examination_does_not_explain_what_rankers_know():
    ratios, covered = [], []
    for seed in range(6):
        data = rw.synthetic.polynomial_queries(200, n_documents=8, seed=seed)
        noise = np.random.default_rng(seed).normal(size=(2, len(data)))
        rankers = {"old": data.y + noise[0], "new": data.y + noise[1]}  # attractive documents are shown high
        log = rw.clicks.simulate(data, rankers, sessions=30, random_state=seed)
        found = rw.clicks.propensities(log)
        truth = 1.0 / found.position
        ratios.append(found.values[1:] / truth[1:])
        covered.append((found.low <= truth) & (truth <= found.high))
    assert abs(np.mean(ratios) - 1.0) < 0.06
    assert np.mean(covered) > 0.9
