"""LambdaMART and LambdaRank as Wu et al. (2010) print them, beside a literal reading of the paper."""

from math import exp, log2

import numpy as np
import pytest

from rankwright import ExactStep, LambdaMART, LambdaRank
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.data.groups import QueryGroups
from rankwright.metrics import AP, NDCG, RR
from rankwright.models.model_file import encode
from rankwright.rankers.parameters import declaration
from rankwright.rankers.shared import lambdas
from rankwright.rankers.shared.lambdas import LambdaGradients
from rankwright.training.binned_features import BinnedFeatures
from rankwright.training.learners.signal import Gradients
from rankwright.training.learners.tree import FINE_LEVELS, LeastSquaresTrees, TreeLearner, TreeLimits, TreeSampling
from rankwright.training.training_set import QueryLabels, TrainingSet
from reference.lambdasmart import lambda_smart, lambdas_of_query, tree_leaves
from reference.sweep import sweep as slow_sweep

PRINTED = {
    "normalise": False, "cut_lambdas": True, "truncation": None, "split_by": "squared_error", "l2": 0.0,
    "subsample": 1.0, "feature_fraction": 1.0, "min_documents": 1,
}  # fmt: skip


def judged(seed, *, n_queries=6, n_documents=7, n_features=3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_queries * n_documents, n_features)).astype(np.float32)
    y = np.clip(np.round(X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=len(X))), 0, 3)
    return RankingData(X, y, np.repeat(np.arange(n_queries), n_documents))


def test_lambdas_of_four_documents_by_hand():
    """Equations 2 to 5 with NDCG@2: documents of labels 0, 2, 1, 0, ranked in that order."""
    labels, scores = np.array([0.0, 2, 1, 0]), np.array([3.0, 2, 1, 0])
    best = 3 + 1 / log2(3)

    def pair(change, difference):  # |delta NDCG| / (1 + exp(o_ij)), and its derivative
        rho = 1 / (1 + exp(difference))
        return abs(change) / best * rho, abs(change) / best * rho * (1 - rho)

    first, second = 1.0, 1 / log2(3)
    of = {
        (1, 0): pair(3 * (first - second), -1),  # the label 2 rises from rank 2 to 1
        (2, 0): pair(first, -2),  # the label 1 rises from below the cut-off
        (1, 2): pair((3 - 1) * second, 1),
        (1, 3): pair(3 * second, 2),
        (2, 3): (0.0, 0.0),  # both below the cut-off
    }
    gradient, hessian = np.zeros(4), np.zeros(4)
    for (better, worse), (force, curvature) in of.items():
        gradient[[better, worse]] += force, -force
        hessian[[better, worse]] += curvature
    found = LambdaGradients(NDCG(k=2), labels, QueryGroups.of_one(4), normalise=False)(scores)
    np.testing.assert_allclose(found, [gradient, hessian], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(
        np.transpose(lambdas_of_query(labels, scores, 2)), [gradient, hessian], rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("cut", [3, 10])
@pytest.mark.parametrize("seed", range(4))
def test_it_equals_algorithm_1(seed, cut):
    """The preset, as it is called, and a literal reading of the paper: the same scores to nine digits."""
    data = judged(seed)
    start = np.random.default_rng(100 + seed).permutation(len(data)) / 50
    ranker = LambdaMART.as_printed(metric=NDCG(k=cut), rounds=4, max_leaves=4, n_jobs=1).fit(data, start=start)
    wanted = lambda_smart(
        data.X.astype(float), data.y, list(data.groups), start, rounds=4, n_leaves=4, shrinkage=0.1, cut=cut
    )
    np.testing.assert_allclose(ranker.predict(data, init_score=start), wanted[-1], rtol=1e-9, atol=1e-10)


def test_every_threshold_of_a_feature_with_many_values():
    """More values than there are bins: Algorithm 1 splits between any two of them."""
    data = judged(9, n_queries=60)
    assert len(np.unique(data.X[:, 0])) == 420
    start = np.random.default_rng(9).permutation(len(data)) / 50
    options = {"metric": NDCG(k=5), "rounds": 2, "max_leaves": 3, "n_jobs": 1}
    exact, binned = (
        LambdaMART.as_printed(**options, **more) for more in ({}, {"all_thresholds": False, "max_bins": 9})
    )
    wanted = lambda_smart(
        data.X.astype(float), data.y, list(data.groups), start, rounds=2, n_leaves=3, shrinkage=0.1, cut=5
    )
    found = exact.fit(data, start=start).predict(data, init_score=start)
    np.testing.assert_allclose(found, wanted[-1], rtol=1e-9, atol=1e-10)
    assert exact.model_.inner.feature.max() < 3
    assert not np.allclose(binned.fit(data, start=start).predict(data, init_score=start), wanted[-1])
    assert encode(LambdaMART.as_printed(**options | {"n_jobs": 2}).fit(data, start=start).model_) == encode(
        exact.model_
    )


def test_every_threshold_goes_with_other_options():
    data = judged(10, n_queries=60)
    options = {"all_thresholds": True, "rounds": 8, "n_jobs": 1}
    plain = LambdaMART(**options, feature_fraction=0.4, random_state=2).fit(data)
    assert len(set(plain.model_.feature.tolist())) > 1
    ordered = LambdaMART(**options, monotone={0: 1, 1: -1}).fit(data).model_
    for feature, direction in ((0, 1), (1, -1)):
        X = np.repeat(data.X[:20], 50, axis=0)
        X[:, feature] = np.tile(np.linspace(-3, 3, 50), 20)
        steps = np.diff(ordered.predict(X, qid=0).reshape(20, 50), axis=1)
        assert (direction * steps >= 0).all()
    wide = LambdaMART(**options, query_features=["rank"]).fit(data)
    assert np.isfinite(wide.predict(data)).all()
    for more, sentence in (({"coarse": True}, "coarse=True searches bins"), ({"max_bins": 9}, "give no max_bins")):
        with pytest.raises(InputError, match=sentence):
            LambdaMART(**options, **more).fit(data)


def test_every_threshold_only_where_memory_allows(monkeypatch):
    data = judged(11, n_queries=60)
    train = TrainingSet(data)
    assert train.exact_codes == 420 * 3 * 2 == train.exactly_binned().n_features * 420
    models = []
    for most in (2520, 2519):
        monkeypatch.setattr(declaration, "EXACT_BYTES", most)
        models.append(LambdaMART.as_printed(rounds=2, n_jobs=1).fit(train).model_)
    assert models[0].threshold.tolist() != models[1].threshold.tolist()
    for model, every in zip(models, (True, False), strict=True):
        expected = LambdaMART.as_printed(rounds=2, n_jobs=1, all_thresholds=every).fit(train).model_
        np.testing.assert_array_equal(model.threshold, expected.threshold)


def test_double_precision_only_where_data_are_small(monkeypatch):
    data = judged(12)  # 6 queries of 7 documents
    pairs = []
    monkeypatch.setattr(lambdas, "LambdaGradients", lambda *_, double, **__: pairs.append(double))
    for most in (147, 146):
        monkeypatch.setattr(lambdas, "DOUBLE_PAIRS", most)
        for asked in (None, True, False):
            LambdaRank(double_lambdas=asked)._gradients(QueryLabels(data.y, data.groups))
    assert pairs == [True, True, False, False, True, False]


@pytest.mark.parametrize("option", ["normalise", "cut_lambdas", "split_by"])
def test_every_option_changes_the_model(option):
    data = judged(1)
    change = {"normalise": True, "cut_lambdas": False, "split_by": "newton"}[option]
    one, other = (
        LambdaMART(NDCG(k=3), rounds=4, n_jobs=1, **PRINTED | more).fit(data).predict(data)
        for more in ({}, {option: change})
    )
    assert not np.allclose(one, other)


def test_leaves_of_equal_mean_have_their_own_newton_values():
    X = np.array([[0.0], [1.0], [2.0]], dtype=np.float32)
    learner = TreeLearner(
        BinnedFeatures.of(X, np.arange(3)),
        QueryGroups.of_one(3),
        limits=TreeLimits(3, 1, 0.0, 0.0, levels=FINE_LEVELS),
        sampling=TreeSampling(1.0, "documents", 1.0),
        monotone=np.zeros(0, dtype=np.int8),
        random=np.random.default_rng(0),
        n_threads=1,
    )
    signal = Gradients(np.array([1.0, -2.0, 1.0]), np.array([1.0, 1.0, 3.0]))
    np.testing.assert_allclose(LeastSquaresTrees(learner, None, l2=1.0).fit(signal).outputs, [0.5, -1.0, 0.25])
    vanished = Gradients(signal.gradient, np.array([1.0, 0.0, 1e-300]))
    np.testing.assert_allclose(LeastSquaresTrees(learner, None, l2=0.0).fit(vanished).outputs, [1.0, 0.0, 0.0])


def test_weights_multiply_squared_errors():
    """One weight for all changes neither splits nor values."""
    data = judged(2)
    plain, heavy = (
        LambdaMART(NDCG(k=3), rounds=2, n_jobs=1, **PRINTED).fit(data, sample_weight=weights).model_
        for weights in (None, np.full(len(data), 3.0))
    )
    np.testing.assert_array_equal(plain.threshold, heavy.threshold)
    np.testing.assert_allclose(plain.leaf_value, heavy.leaf_value, rtol=1e-6)


def test_documents_of_weight_zero_leave_values_finite():
    data, weights = judged(3), np.ones(42)
    weights[::7] = 0.0
    model = LambdaMART(NDCG(k=3), rounds=3, n_jobs=1, **PRINTED).fit(data, sample_weight=weights).model_
    assert np.isfinite(model.leaf_value).all()


def test_threads_do_not_change_the_model():
    data = judged(4, n_queries=40)
    one, two = (LambdaMART(NDCG(k=3), rounds=5, n_jobs=n, **PRINTED).fit(data).model_ for n in (1, 2))
    assert encode(one) == encode(two)


def test_what_would_change_nothing_is_refused():
    data = judged(5)
    for metric in (NDCG(), RR(), AP()):
        for kind in (LambdaMART, LambdaRank):
            with pytest.raises(InputError, match="cut_lambdas=True changes nothing"):
                kind(metric, cut_lambdas=True).fit(data)
    with pytest.raises(InputError, match="min_hessian is not used"):
        LambdaMART(split_by="squared_error", min_hessian=0.1).fit(data)
    with pytest.raises(InputError, match="monotone needs split_by='newton'"):
        LambdaMART(split_by="squared_error", monotone={0: 1}).fit(data)


@pytest.mark.parametrize("option", [{"normalise": False}, {"cut_lambdas": True}])
def test_a_network_learns_on_the_lambdas_of_the_paper(option):
    data = judged(6, n_queries=30)
    plain, changed = (LambdaRank(NDCG(k=3), rounds=3, n_jobs=1, **more).fit(data) for more in ({}, option))
    assert not np.allclose(plain.predict(data), changed.predict(data))
    metric = NDCG(k=3) if "cut_lambdas" in option else NDCG()
    lambdas = LambdaGradients(metric, data.y, data.groups, normalise=option.get("normalise", True))
    scores = np.random.default_rng(1).normal(size=len(data))
    pull = changed._pull(QueryLabels(data.y, data.groups))
    found = np.concatenate([pull(query, scores[rows]) for query, rows in enumerate(data.groups)])
    np.testing.assert_allclose(found, lambdas(scores)[0], rtol=1e-6, atol=1e-9)


# The optimal combiner of section 5.6


def test_the_combiner_weights_trees_of_mean_lambdas():
    data, metric = judged(7), NDCG(k=5)
    start = np.random.default_rng(7).permutation(len(data)) / 50
    step = ExactStep(low=0.1, high=100.0)
    ranker = LambdaMART(
        metric, rounds=4, max_leaves=4, step=step, leaf_values="mean", n_jobs=1, **PRINTED
    ).fit(data, start=start)  # fmt: skip
    X, trees = data.X.astype(float), ranker.model_.inner
    for number, one in enumerate(ranker.history_):
        scores = start + trees.first(number).predict(data)
        lambdas = np.concatenate(
            [np.array(lambdas_of_query(data.y[rows], scores[rows], 5))[:, 0] for rows in data.groups]
        )
        mean = np.zeros(len(data))
        for rows in tree_leaves(X, lambdas, 4):
            mean[rows] = lambdas[rows].mean()
        added = trees.first(number + 1).predict(data) - trees.first(number).predict(data)
        np.testing.assert_allclose(added / one.weight, mean, rtol=1e-3, atol=1e-5)
        best = max(value for _, value in slow_sweep(metric, data.y, data.groups, scores, mean, 0.1, 100.0))
        assert one.train == pytest.approx(best, abs=1e-9)


def test_means_are_shrunk_by_l2_and_need_squared_errors():
    data = judged(8)
    options = {"rounds": 1, "max_leaves": 2, "learning_rate": 1.0, "leaf_values": "mean", "n_jobs": 1}
    plain, shrunk = (LambdaMART(NDCG(k=3), **PRINTED | {"l2": l2} | options).fit(data).model_ for l2 in (0, 5))
    np.testing.assert_allclose(plain.leaf_value * plain.cover / (plain.cover + 5), shrunk.leaf_value, rtol=1e-9)
    with pytest.raises(InputError, match="needs split_by='squared_error'"):
        LambdaMART(leaf_values="mean").fit(data)
