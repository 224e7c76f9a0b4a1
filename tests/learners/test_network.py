import numpy as np
import pytest

from rankwright.data import QueryGroups
from rankwright.errors import InputError
from rankwright.learners.network import Network

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
        with pytest.raises(InputError, match="no longer finite; learning_rate must be lower"):
            network(learning_rate=1e308).learn(queries, lambda _, scores: np.arange(len(scores)) - 9.0)
