import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups
from rankwright.training.learners.network_learner import Network
from reference import network as slow

X = np.random.default_rng(1).normal(size=(12, 3)).astype(np.float32)
GROUPS = QueryGroups.of_sizes([5, 3, 4])
QUERIES = np.arange(3)


def network(hidden=(), *, learning_rate=0.1, features=X, seed=0):
    random = np.random.default_rng(seed)
    return Network(features, GROUPS, hidden=hidden, learning_rate=learning_rate, random=random)


def test_without_hidden_layers_it_starts_at_zero():
    assert not network().parameters.any()
    assert network().widths.tolist() == [3, 1]


def test_weights_are_drawn_within_the_root_of_their_number():
    one = network((50, 4))
    assert one.widths.tolist() == [3, 50, 4, 1]
    first, biases, second = np.split(one.parameters, [150, 200])[0:3]
    assert 0.9 / np.sqrt(3) < np.abs(first).max() < 1 / np.sqrt(3)
    assert not biases.any()
    assert 0.9 / np.sqrt(50) < np.abs(second[:200]).max() < 1 / np.sqrt(50)
    assert network((50, 4)).parameters.tobytes() == one.parameters.tobytes()
    assert network((50, 4), seed=1).parameters.tobytes() != one.parameters.tobytes()


def test_a_feature_that_says_nothing_gets_no_weight():
    one = network((4,), features=X * np.array([1, 0, 1], dtype=np.float32))
    one.learn(QUERIES, lambda _, scores: 1.0 - scores)
    weights = one.parameters[:12].reshape(3, 4)
    assert not weights[1].any()
    assert weights[[0, 2]].all()


@pytest.mark.parametrize("hidden", [(), (8,), (8, 5)], ids=str)
def test_scores_go_where_they_are_pulled(hidden):
    one = network(hidden, learning_rate=0.02)
    wanted = X[:, 0] - X[:, 2] / 2
    parts = np.split(wanted, GROUPS.offsets[1:-1])
    for _ in range(300):
        one.learn(QUERIES, lambda query, scores: parts[query] - scores)
    assert np.abs(one.scores() - wanted).max() < 0.15


def test_the_first_step_moves_each_weight_by_the_learning_rate():
    one = network(learning_rate=0.01)
    one.learn(np.array([1]), lambda _, scores: np.arange(len(scores)) - 1.0)
    slope = X[7] - X[5]
    np.testing.assert_allclose(one.parameters, 0.01 * np.sign([*slope, 0]), rtol=1e-6)


def test_queries_come_once_a_round_in_another_order():
    seen, one = [], network()
    for _ in range(6):
        one.learn(np.array([0, 2]), lambda query, scores: seen.append(int(query)) or 0 * scores)
    rounds = np.reshape(seen, (6, 2))
    assert (np.sort(rounds, axis=1) == [0, 2]).all()
    assert len(np.unique(rounds, axis=0)) == 2


def test_scores_that_leave_all_bounds_are_told():
    for queries in (QUERIES, QUERIES[:1]):
        with pytest.raises(InputError, match="no longer finite; use a lower learning_rate"):
            network(learning_rate=1e308).learn(queries, lambda _, scores: np.arange(len(scores)) - 9.0)


@st.composite
def training_sets(draw):
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    n, n_features = sum(sizes), draw(st.integers(1, 4))
    X = rng.choice([0.0, 1.0, -0.5, rng.normal()], size=(n, n_features)).astype(np.float32)  # tied and constant
    labels = rng.integers(0, draw(st.integers(1, 4)), size=n).astype(np.float64)
    weights = draw(st.sampled_from([None, rng.random(n)]))
    return X, QueryGroups.of_sizes(sizes), labels, draw(st.sampled_from([(), (3,), (2, 2)])), weights


@examples(60)
@given(training_sets(), st.booleans(), st.booleans())
def test_a_round_equals_the_slow_twin(data, native, adam):
    X, groups, labels, hidden, weights = data
    parts = [slice(*groups.offsets[query : query + 2]) for query in range(len(groups))]

    def cross_entropy(query, scores):
        return slow.softmax(labels[parts[query]].tolist()) - slow.softmax(scores.tolist())

    pull = _native.cross_entropy_pull(offsets=groups.offsets, labels=labels) if native else cross_entropy
    one = Network(X, groups, hidden=hidden, learning_rate=0.1, adam=adam, random=np.random.default_rng(3))
    first, draws = one.parameters, np.random.default_rng(3)
    for n_inputs, n_units in zip(one.widths[:-1], one.widths[1:], strict=True):
        draws.uniform(size=(n_inputs, n_units))
    orders = [draws.permutation(len(groups)) for _ in range(2)]
    for _ in range(2):
        one.learn(np.arange(len(groups)), pull, weights)
    wanted = slow.trained(
        X,
        parts,
        one.widths.tolist(),
        first,
        np.concatenate(orders),
        cross_entropy,
        learning_rate=0.1,
        weights=weights,
        adam=adam,
    )
    # A unit sums its inputs in the twin's order; only layers of several units add slopes up in another.
    np.testing.assert_allclose(one.parameters, wanted, rtol=0, atol=1e-9 if hidden else 0)


def test_a_round_takes_few_calls_of_the_native_core(monkeypatch):
    calls, train = [], _native.train_network
    monkeypatch.setattr(_native, "train_network", lambda **given: calls.append(given) or train(**given))
    groups = QueryGroups.of_sizes(np.full(5000, 2))
    one = Network(
        np.ones((10_000, 1), np.float32), groups, hidden=(), learning_rate=0.1, random=np.random.default_rng()
    )
    one.learn(np.arange(5000), _native.cross_entropy_pull(offsets=groups.offsets, labels=np.arange(1e4) % 2))
    assert len(calls) <= 64


def test_an_error_of_a_python_loss_passes_through():
    def failing(_query, _scores):
        raise RuntimeError("no loss")

    with pytest.raises(RuntimeError, match="no loss"):
        network().learn(QUERIES, failing)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"widths": np.array([3, 2, 1])}, "as many parameters"),
        ({"mean": np.zeros(3)}, "mean must be a number for every parameter"),
        ({"mean_square": np.zeros(5)}, "mean_square must be a number for every parameter"),
        ({"mean_square": np.zeros(0)}, "mean_square must be a number for every parameter"),
        ({"mean": np.zeros(0)}, "mean_square must be .* or empty as mean is"),
        ({"values": X[:, :2]}, "for every feature"),
        ({"offsets": np.array([0, 5, 8])}, "offsets must run from 0 to the number of rows"),
        ({"queries": np.array([3])}, "out of range"),
        ({"queries": np.array([-1])}, "out of range"),
        ({"weights": np.ones(3)}, "weights must be a finite number for every row"),
        ({"n_steps": -1}, r"n_steps must be from 0 to 2\^52"),
        ({"n_steps": 2**63 - 1}, r"n_steps must be from 0 to 2\^52"),
        ({"pull": lambda _query, _scores: np.zeros(1)}, "the pull must be a number for every document"),
    ],
)
def test_the_binding_checks_everything(changed, sentence):
    given = {
        "widths": np.array([3, 1]),
        "parameters": np.zeros(4),
        "mean": np.zeros(4),
        "mean_square": np.zeros(4),
        "n_steps": 0,
        "learning_rate": 0.1,
        "values": X,
        "offsets": GROUPS.offsets,
        "queries": QUERIES,
        "weights": None,
        "pull": _native.cross_entropy_pull(offsets=GROUPS.offsets, labels=np.arange(12.0)),
    }
    assert _native.train_network(**given) is not None
    with pytest.raises(ValueError, match=sentence):
        _native.train_network(**given | changed)


@pytest.mark.parametrize(
    ("offsets", "sentence"), [([0, 6, 8, 12], "the same number of documents"), ([0, 5], "no such query")]
)
def test_a_loss_must_be_of_the_same_queries(offsets, sentence):
    other = _native.cross_entropy_pull(offsets=np.array(offsets), labels=np.zeros(offsets[-1]))
    with pytest.raises(ValueError, match=sentence):
        network().learn(QUERIES, other)
