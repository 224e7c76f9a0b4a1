"""Permutation importance: what is lost when a feature's values are shuffled."""

import numpy as np
import pytest

from rankwright.analyses.importance import permutation_importance
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.metrics import AP, NDCG
from rankwright.models import LinearScorer


def judged(n_queries=30):
    """Feature 0 is the label, feature 1 a weaker copy of it, feature 2 noise."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 10 * n_queries).astype(float)
    X = np.column_stack([y, y + rng.normal(scale=3, size=len(y)), rng.normal(size=len(y))])
    return RankingData(X, y, np.arange(len(y)) // 10)


def linear(*weights):
    return LinearScorer(weights, np.zeros(len(weights)))


def test_what_matters_is_missed():
    found = permutation_importance(linear(1.0, 0.2, 0.0), judged(), metric=NDCG(k=5))
    assert found.metric == "ndcg@5"
    assert found.drops.shape == (3, 5)
    assert found.means[0] > found.means[1] > 0
    assert found.drops[2].tolist() == [0.0] * 5
    assert (found.deviations[:2] > 0).all()
    assert found.deviations[2] == 0


def test_the_value_is_that_of_the_ranking():
    data = judged()
    model = linear(1.0, 1.0, 0.0)
    assert permutation_importance(model, data, metric="map", repeats=1).value == pytest.approx(
        AP()(data.y, model.predict(data), data.qid)
    )


def test_only_used_features_are_scored():
    class Counting:
        calls = 0
        used_features = np.array([1])

        def predict(self, X, *_, **__):
            self.calls += 1
            return X[:, 1]

    model = Counting()
    found = permutation_importance(model, judged(), metric="ndcg", repeats=3)
    assert model.calls == 1 + 3
    assert not found.drops[[0, 2]].any()


def test_anything_that_predicts_will_do():
    class Plain:
        def predict(self, X, *_, **__):
            return X[:, 0]

    found = permutation_importance(Plain(), judged(), metric="ndcg", repeats=2)
    assert found.means[0] > 0
    assert not found.means[1:].any()


def test_the_same_seed_gives_the_same_drops():
    runs = [
        permutation_importance(
            linear(1.0, weight, 0.1), judged(), metric="ndcg", random_state=seed, n_jobs=n
        ).drops
        for weight, seed, n in ((0.5, 3, 1), (0.5, 3, 2), (0.5, 4, 1))
    ]
    assert runs[0].tobytes() == runs[1].tobytes()
    assert runs[0].tobytes() != runs[2].tobytes()


def test_the_data_are_left_alone():
    data = judged()
    before = data.X.copy()
    permutation_importance(linear(1.0, 1.0, 1.0), data, metric="ndcg", repeats=1)
    assert data.X.tobytes() == before.tobytes()


@pytest.mark.parametrize("wrong", [{"repeats": 0}, {"repeats": 1.5}, {"repeats": True}, {"random_state": -1}])
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(InputError, match=r"must be (a positive integer|an integer of at least 0), not"):
        permutation_importance(linear(1.0, 1.0, 1.0), judged(2), metric="ndcg", **wrong)
