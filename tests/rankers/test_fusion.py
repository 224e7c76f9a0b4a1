"""Fusion as a ranker: fixed weights, learned ones, and those of a useless retriever."""

from types import SimpleNamespace

import numpy as np
import pytest

import rankwright as rw
from rankwright.auto.portfolio import portfolio_for
from rankwright.data.groups import QueryGroups
from rankwright.models import FusionScorer
from rankwright.training.fusion_weights import shrunk_weights


def simulated(n_queries, quality, seed=0, n_documents=30):
    """Return columns whose relevance signal has the given strengths, and labels."""
    rng = np.random.default_rng(seed)
    labels = (rng.random((n_queries, n_documents)) < 0.15).astype(float)
    columns = np.stack([labels * strength + rng.standard_normal(labels.shape) for strength in quality], axis=-1)
    groups = QueryGroups.of_sizes([n_documents] * n_queries)
    return columns.reshape(-1, len(quality)), labels.ravel(), groups


def test_weights_equal_a_direct_minimum():
    optimize = pytest.importorskip("scipy.optimize")
    columns, labels, groups = simulated(40, (2.0, 1.0))
    scaled = columns / columns.std()

    def loss(weights):
        total = 0.0
        for rows in groups:
            scores = scaled[rows] @ weights
            if labels[rows].any():
                total += np.log(np.exp(scores).sum()) - labels[rows] @ scores / labels[rows].sum()
        return total

    common = optimize.minimize_scalar(lambda size: loss(np.full(2, size)), bounds=(0, 20), method="bounded").x
    best = optimize.minimize(
        lambda w: loss(w * common) + 2.5 * ((w - 1) ** 2).sum(), np.ones(2), bounds=[(0, 50)] * 2, tol=1e-12
    ).x
    made = shrunk_weights(columns, labels, groups, np.ones(len(groups)), 5.0)
    np.testing.assert_allclose(made, best, rtol=2e-3)
    assert made[0] > made[1]


def test_few_queries_stay_close_to_the_fixed_fusion_and_many_do_not():
    columns, labels, groups = simulated(400, (2.0, 0.0))
    assert shrunk_weights(columns, labels, groups, np.ones(400), 5.0)[1] < 0.1
    columns, labels, groups = simulated(3, (2.0, 0.0))
    assert shrunk_weights(columns, labels, groups, np.ones(3), 5.0)[1] > 0.1
    nothing = shrunk_weights(columns, np.zeros(len(labels)), groups, np.ones(3), 5.0)
    assert nothing.tolist() == [1.0, 1.0]
    constant = shrunk_weights(np.ones_like(columns), labels, groups, np.ones(3), 5.0)
    assert np.isfinite(constant).all()


def test_the_scorer_of_a_fusion_is_saved(tmp_path):
    scorer = FusionScorer(np.array([2, 0]), np.array([1.0, 0.5]), rw.data.fusion.FusionMethod.RRF, n_features=3)
    rw.save(scorer, tmp_path / "m.rw")
    X, qid = np.random.default_rng(0).random((20, 3)), np.repeat([1, 2], 10)
    loaded = rw.load(tmp_path / "m.rw")
    np.testing.assert_array_equal(loaded.predict(X, qid), scorer.predict(X, qid))
    np.testing.assert_allclose(loaded.contributions(X, qid).sum(axis=1), scorer.predict(X, qid))
    assert loaded.used_features.tolist() == [0, 2]


def test_a_fusion_needs_retrievers():
    with pytest.raises(rw.InputError, match="needs the scores of several retrievers"):
        rw.Fusion().fit(rw.synthetic.gaussian_queries(5))


def test_a_fusion_learns_from_a_file_of_features():
    columns, labels, _ = simulated(60, (2.0, 0.0))
    names = ["BM25: retrieval score", "other", "minilm: retrieval score"]
    X = np.column_stack([columns[:, 0], np.zeros(len(labels)), columns[:, 1]])
    data = rw.RankingData(X, labels, np.repeat(np.arange(60), 30), feature_names=names)
    model = rw.Fusion().fit(data).model_
    assert model.columns.tolist() == [0, 2]
    assert model.weights[1] < 0.2 * model.weights[0]
    assert "fusion" in [entry.name for entry in portfolio_for(SimpleNamespace(is_large=False), data, "default")]
