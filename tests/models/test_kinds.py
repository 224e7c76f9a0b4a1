import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.examples import X_EXAMPLE, features, linear_scorers, scorers
from rankwright.base.errors import InputError
from rankwright.models import Combination, FeatureScorer, LinearScorer


def test_a_feature_in_both_directions():
    up = FeatureScorer(1, n_features=3, missing=-3.5)
    assert up.predict(X_EXAMPLE).tolist() == [2, np.float32(0.1), -3.5, 0]
    down = FeatureScorer(1, -1, n_features=3, missing=-3.5)
    assert down.predict(X_EXAMPLE).tolist() == [-2, -np.float32(0.1), 3.5, 0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"feature": 3}, "feature must be from 0 to 2, not 3"),
        ({"feature": -1}, "not -1"),
        ({"feature": 1.0}, "feature must be an integer, not 1.0"),
        ({"feature": True}, "feature must be an integer"),
        ({"direction": 0}, "direction must be 1 or -1, not 0"),
        ({"direction": "up"}, "direction must be an integer"),
        ({"n_features": 0}, "n_features must be from 1"),
        ({"missing": float("nan")}, "missing must be a finite number"),
        ({"missing": 10**400}, "missing must be a finite number"),
        ({"missing": None}, "missing must be a finite number"),
    ],
)
def test_wrong_features_are_refused(arguments, sentence):
    right = {"feature": 1, "direction": 1, "n_features": 3, "missing": 0.0}
    with pytest.raises(InputError, match=sentence):
        FeatureScorer(**(right | arguments))


@given(linear_scorers, features)
def test_linear_adds_in_feature_order(scorer, X):
    for row, score in zip(X.tolist(), scorer.predict(X), strict=True):
        expected = scorer.intercept
        for value, weight, missing in zip(row, scorer.weights.tolist(), scorer.missing.tolist(), strict=True):
            if weight != 0:
                expected += weight * (missing if np.isnan(value) else value)
        assert score == expected


@pytest.mark.parametrize(
    ("weights", "missing", "intercept", "sentence"),
    [
        ([1.0, np.nan], [0, 0], 0.0, r"weights\[1\] is nan"),
        ([1.0, 2.0], [0, np.inf], 0.0, r"missing\[1\] is inf"),
        ([1.0, 2.0], [0], 0.0, r"missing has shape \(1,\), expected shape \(2,\)"),
        ([[1.0, 2.0]], [0, 0], 0.0, "expected one dimension"),
        ([], [], 0.0, "at least one feature"),
        (["a"], [0], 0.0, "weights must be numbers"),
        ([1.0], [0], np.inf, "intercept must be a finite number"),
    ],
)
def test_wrong_linear_scorers_are_refused(weights, missing, intercept, sentence):
    with pytest.raises(InputError, match=sentence):
        LinearScorer(weights, missing, intercept)


def test_weights_are_copied():
    weights = np.ones(2)
    scorer = LinearScorer(weights, np.zeros(2))
    weights[0] = 9
    assert scorer.predict([[1, 1]]).tolist() == [2]


@given(st.lists(st.tuples(scorers, st.floats(-10, 10)), min_size=1, max_size=3), features)
def test_a_combination_is_the_weighted_sum(pairs, X):
    members, weights = zip(*pairs, strict=True)
    expected = sum((weight * member.predict(X) for member, weight in pairs), np.zeros(len(X)))
    assert Combination(members, weights).predict(X).tolist() == expected.tolist()


def test_a_combination_takes_over_its_members_names():
    named = LinearScorer([1.0, 2.0], [0.0, 0.0], feature_names=("a", "b"), about={"ranker": "RankSVM"})
    plain = FeatureScorer(0, n_features=2, missing=0)
    mix = Combination([plain, named], [1, 1])
    assert mix.feature_names == ("a", "b")
    assert mix.members[1].feature_names is None
    assert mix.members[1].about == {}
    assert named.feature_names == ("a", "b")


def test_members_must_agree():
    a, b = (LinearScorer([1.0, 2.0], [0.0, 0.0], feature_names=names) for names in (("a", "b"), ("b", "a")))
    with pytest.raises(InputError, match="same feature names"):
        Combination([a, b], [1, 1])
    with pytest.raises(InputError, match="same feature names"):
        Combination([a], [1], feature_names=("x", "y"))
    with pytest.raises(InputError, match="model 2 has 3, the first 2"):
        Combination([a, FeatureScorer(0, n_features=3, missing=0)], [1, 1])


@pytest.mark.parametrize("members", [[], [3], ["linear"]])
def test_members_must_be_scorers(members):
    with pytest.raises(InputError, match="must be scorers"):
        Combination(members, np.ones(len(members)))


@pytest.mark.parametrize("weights", [[1.0], [1.0, np.nan], [[1.0, 2.0]]])
def test_every_member_needs_a_finite_weight(weights):
    member = FeatureScorer(0, n_features=1, missing=0)
    with pytest.raises(InputError, match="weights"):
        Combination([member, member], weights)


def test_depth():
    scorer = FeatureScorer(0, n_features=1, missing=0)
    assert scorer.depth == 1
    assert Combination([scorer, Combination([scorer], [1])], [1, 1]).depth == 3
