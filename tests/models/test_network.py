import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.models import LinearScorer, NetworkScorer
from rankwright.models.model_file import decode, encode
from rankwright.models.nested_scorers import over_columns
from rankwright.models.network import count_parameters, network_of_columns
from rankwright.models.serialisation import State
from rankwright.rankers.shared.scaled_rankers import SCALINGS, columns_of, learned_scaling
from rankwright.training.training_set import TrainingSet
from reference import network as slow


def drawn(widths, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    sizes = np.array(widths)
    return NetworkScorer(sizes, spread * rng.normal(size=count_parameters(sizes)), rng.normal(size=widths[0]))


def documents(n_rows, n_features, seed=0):
    rng = np.random.default_rng([seed, 1])
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


WIDTHS = st.lists(st.integers(1, 6), min_size=1, max_size=4).map(lambda widths: [*widths, 1])


@given(WIDTHS, st.integers(0, 9), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1.0, 30.0]))
def test_scores_equal_the_slow_twin(widths, n_rows, seed, spread):
    scorer, X = drawn(widths, seed, spread), documents(n_rows, widths[0], seed)
    wanted = slow.scores(X, widths, scorer.parameters, scorer.missing)
    np.testing.assert_allclose(scorer.predict(X), wanted, rtol=1e-12, atol=1e-12 * (1 + spread))


@given(WIDTHS, st.integers(0, 9), st.integers(0, 2**32 - 1))
def test_slopes_equal_the_slow_twin_and_finite_differences(widths, n_rows, seed):
    scorer, X = drawn(widths, seed), documents(n_rows, widths[0], seed)
    pull = np.random.default_rng([seed, 2]).normal(size=n_rows)

    def total(parameters):
        return pull @ slow.scores(X, widths, parameters, scorer.missing)

    found = _native.network_slope(
        widths=scorer.widths, parameters=scorer.parameters, missing=scorer.missing, values=X, pull=pull
    )
    wanted = slow.slope(X, widths, scorer.parameters, scorer.missing, pull)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)
    steps = 1e-6 * np.eye(len(found))
    by_steps = [(total(scorer.parameters + step) - total(scorer.parameters - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(found, by_steps, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("widths", [[7, 10, 3, 1], [7, 1]], ids=str)
def test_neither_threads_nor_neighbours_matter(widths):
    scorer, X = drawn(widths), documents(3000, 7)
    whole = scorer.predict(X, n_jobs=1)
    assert scorer.predict(X, n_jobs=3).tobytes() == whole.tobytes()
    for rows in (slice(0, 1), slice(5, 22), slice(2999, 3000), slice(None, None, -1)):
        assert scorer.predict(X[rows]).tobytes() == whole[rows].tobytes()


def test_comes_back_from_a_file():
    scorer = drawn([3, 2, 1]).described(feature_names=("a", "b", "c"), about={"ranker": "RankNet"})
    loaded = decode(encode(scorer), "model.rw")
    assert encode(loaded) == encode(scorer)
    assert loaded.predict(documents(9, 3)).tobytes() == scorer.predict(documents(9, 3)).tobytes()


def test_a_feature_without_weights_is_not_used():
    assert NetworkScorer([3, 2, 1], [0, 1, 0, 0, 2, 0, 9, 9, 1, 1, 9], np.zeros(3)).used_features.tolist() == [
        0,
        2,
    ]


def test_what_it_is_made_of_is_copied():
    widths, parameters = np.array([1, 1]), np.array([2.0, 1.0])
    scorer = NetworkScorer(widths, parameters, [0.0])
    widths[0], parameters[0] = 7, 7
    assert scorer.predict([[3.0]]).tolist() == [7]


@pytest.mark.parametrize(
    ("widths", "n_parameters", "n_missing", "sentence"),
    [
        ([2], 0, 2, "widths must be integers: the number of features"),
        ([], 0, 0, "widths must be integers: the number of features"),
        ([2, 2], 6, 2, "widths must be integers: the number of features"),
        ([[2, 1]], 3, 2, "widths must be integers: the number of features"),
        ([2.0, 1.0], 3, 2, "widths must be integers: the number of features"),
        ([0, 1], 1, 0, r"widths must be from 1 to 2147483647, not \[0, 1\]"),
        ([2, -1, 1], 3, 2, "widths must be from 1"),
        ([2, 2**31, 1], 3, 2, "widths must be from 1"),
        ([2, 1], 4, 2, r"A network of widths \[2, 1\] has 3 parameters, not 4"),
        ([2**31 - 1, 2**31 - 1, 1], 3, 2, "has 4611686018427387904 parameters"),
        ([2, 1], 3, 3, r"missing has shape \(3,\), expected shape \(2,\)"),
    ],
    ids=str,
)
def test_parts_that_do_not_fit_are_refused_also_from_a_file(widths, n_parameters, n_missing, sentence):
    with pytest.raises(InputError, match=sentence):
        NetworkScorer(np.array(widths), np.zeros(n_parameters), np.zeros(n_missing))
    arrays = {"widths": np.array(widths), "parameters": np.zeros(n_parameters), "missing": np.zeros(n_missing)}
    with pytest.raises(InputError, match=f"{sentence}|widths is .* expected int64 of 1 dimension"):
        NetworkScorer.from_state(State(arrays=arrays))


@pytest.mark.parametrize("name", ["parameters", "missing"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_must_be_finite(name, value):
    arrays = {"widths": np.array([2, 1]), "parameters": np.zeros(3), "missing": np.zeros(2)}
    arrays[name][1] = value
    with pytest.raises(InputError, match=rf"{name}\[1\] is {value}"):
        NetworkScorer.from_state(State(arrays=arrays))


@pytest.mark.parametrize("left_out", ["widths", "parameters", "missing"])
def test_a_part_that_is_not_there_is_told(left_out):
    arrays = {"widths": np.array([2, 1]), "parameters": np.zeros(3), "missing": np.zeros(2)}
    del arrays[left_out]
    with pytest.raises(InputError, match=f"The array {left_out} is missing"):
        NetworkScorer.from_state(State(arrays=arrays))


RIGHT = {
    "widths": np.array([2, 3, 1]),
    "parameters": np.zeros(13),
    "missing": np.zeros(2),
    "values": np.zeros((4, 2), dtype=np.float32),
}


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("widths", np.array([2]), "at least two entries"),
        ("widths", np.array([2, 3, 2]), "as many parameters|last width"),
        ("widths", np.array([2, 0, 1]), "at least 1"),
        ("widths", np.array([2, -(2**62), 1]), "at least 1"),
        ("widths", np.array([2**30, 2**30, 2**30, 1]), "as many parameters"),
        ("parameters", np.zeros(12), "as many parameters"),
        ("parameters", np.zeros(14), "as many parameters"),
        ("missing", np.zeros(3), "missing must be a number for every feature"),
        ("values", np.zeros((4, 3), dtype=np.float32), "a column for every feature"),
    ],
    ids=str,
)
def test_the_core_refuses_what_does_not_fit(name, value, sentence):
    for kernel, more in (
        (_native.network_scores, {"n_threads": 1}),
        (_native.network_slope, {"pull": np.zeros(4)}),
    ):
        with pytest.raises(ValueError, match=sentence):
            kernel(**{**RIGHT, name: value}, **more)


def test_the_core_takes_one_pull_a_row():
    with pytest.raises(ValueError, match="pull must be a number for every row"):
        _native.network_slope(**RIGHT, pull=np.zeros(5))


@pytest.mark.parametrize("name", SCALINGS)
@pytest.mark.parametrize("hidden", [(), (3,), (4, 2)], ids=str)
def test_scaling_becomes_part_of_the_network(name, hidden):
    X = documents(30, 3) * [1, 100, 0] + [0, 1e3, 7]
    data = RankingData(X, np.arange(30) % 3, np.arange(30) // 6)
    widths = np.array([3, *hidden, 1])
    parameters = np.random.default_rng(5).normal(size=count_parameters(widths)) / 3
    scaling = learned_scaling(name, TrainingSet(data))
    inner = network_of_columns(widths, parameters, scaling)
    assert isinstance(inner, NetworkScorer if hidden else LinearScorer)
    wanted = slow.scores(
        scaling.apply(columns_of(scaling, TrainingSet(data)).data.X), widths, parameters, np.zeros(3)
    )
    np.testing.assert_allclose(over_columns(inner, scaling).predict(data), wanted, rtol=1e-9, atol=1e-9)
