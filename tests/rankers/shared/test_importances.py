"""Importances of features, for every kind of model."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import rankwright as rw
from rankwright.data.dataset import RankingData
from rankwright.rankers.catalogue import known_rankers
from rankwright.rankers.shared import importances

CLASSES = sorted((one for one in known_rankers().values() if not one.needs_text), key=lambda one: one.__name__)
QUICK = {
    "portfolio": "ranksvm,adarank",
    "leaves": (3,),
    "rounds_tried": (5,),
    "splits": 2,
    "calibrations": ("standard",),
    "rounds": 10,
}


def judged(n_queries=30, *, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * 8, 5)).astype(np.float32)
    X[:, 4] = np.repeat(rng.normal(size=n_queries), 8)  # the same for all documents of a query
    y = np.clip(np.round(X[:, 0] * 2 + X[:, 1] + rng.normal(size=len(X)) / 4), 0, 3)
    return RankingData(X, y, np.repeat(np.arange(n_queries), 8), feature_names=list("abcde"))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda one: one.__name__)
def test_every_ranker_has_importances(kind):
    data = judged()
    ranker = kind(n_jobs=1, **{name: QUICK[name] for name in QUICK.keys() & kind.declared})
    assert not hasattr(ranker, "feature_importances_")
    with pytest.raises(NotFittedError):
        _ = ranker.feature_importances_
    values = ranker.fit(data).feature_importances_
    assert values.shape == (5,)
    assert (values >= 0).all()
    assert values.sum() == pytest.approx(1.0)
    assert values[:2].sum() > 0.6
    by_name = ranker.importances()
    assert list(by_name.values()) == sorted(values, reverse=True)
    assert by_name["a"] == values[0]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ranker)).feature_importances_, values)
    assert next(iter(ranker.fit(data.X, data.y, data.qid).importances())) in {"1", "2"}


def test_trees_report_their_gain_also_of_columns_made_within_the_query():
    data = judged()
    ranker = rw.LambdaMART(rounds=5, query_features=("rank", "zscore"), n_jobs=1).fit(data)
    gain = ranker.model_.inner.importances("gain").reshape(3, 5).sum(axis=0)
    np.testing.assert_allclose(ranker.feature_importances_, gain / gain.sum(), rtol=1e-12)
    residual = rw.LambdaMART(rounds=5, n_jobs=1).fit(data, start=data.X[:, 0])
    gain = residual.model_.inner.importances("gain")
    np.testing.assert_allclose(residual.feature_importances_, gain / gain.sum(), rtol=1e-12)


def test_a_weighted_sum_reports_weight_times_deviation_within_queries():
    data = judged()
    ranker = rw.AdaRank(rounds=4, n_jobs=1).fit(data)
    frame = pd.DataFrame(data.X.astype(np.float64)).groupby(data.qid)
    deviation = np.sqrt(((data.X - frame.transform("mean")) ** 2).mean().to_numpy())
    expected = np.abs(ranker.model_.weights) * deviation
    np.testing.assert_allclose(ranker.feature_importances_, expected / expected.sum(), rtol=1e-6)
    assert ranker.feature_importances_[4] == pytest.approx(0.0, abs=1e-12)


def test_a_network_reports_permutation_importance():
    data = judged()
    ranker = rw.RankNet(rounds=30, learning_rate=0.05, hidden=4, n_jobs=1).fit(data)
    found = rw.permutation_importance(ranker, data, metric=ranker.metric, repeats=importances.REPEATS)
    expected = np.maximum(found.means, 0.0)
    np.testing.assert_allclose(ranker.feature_importances_, expected / expected.sum(), rtol=1e-12)
    assert list(found.by_name())[:2] == ["a", "b"]


def test_only_a_sample_of_whole_queries_is_kept_and_none_by_trees(monkeypatch):
    monkeypatch.setattr("rankwright.rankers.ranker.SAMPLE_DOCUMENTS", 50)
    data = judged()
    sample = rw.RankNet(rounds=1, n_jobs=1).fit(data)._sample
    assert 0 < len(sample) <= 50
    assert set(sample.groups.sizes) == {8}
    assert rw.LambdaMART(rounds=1, n_jobs=1).fit(data)._sample is None


def test_importances_are_a_dict_and_a_result():
    shown = importances.by_name(np.array([0.25, 0.75]), ["a", "b"])
    assert shown == shown.to_dict() == {"b": 0.75, "a": 0.25}
    assert str(shown).split("\n") == [
        "Importance of features: b 0.75, a 0.25.",
        "",
        "feature  importance",
        "b              0.75",
        "a              0.25",
    ]
