import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright.data.dataset import RankingData
from rankwright.metrics import AP, NDCG, KendallTau
from rankwright.training.learners.query_learners import BestFeature, LeastLossFeature
from rankwright.training.learners.signal import QueryWeights
from reference import adarank as slow

SCALES = np.sqrt([2.0, 3.0, 5.0])  # so that sums of different columns do not tie by chance
metrics = st.sampled_from([NDCG(k=2), AP(), KendallTau()])


@st.composite
def judged_and_weighted(draw):
    """Queries with documents of different labels, and the state of an ensemble."""
    sizes = draw(st.lists(st.integers(2, 4), min_size=1, max_size=4))
    n = sum(sizes)
    value = st.sampled_from([-1.0, 0.0, 1.0, np.nan])
    X = (np.array(draw(st.lists(st.tuples(value, value, value), min_size=n, max_size=n))) * SCALES).astype("f4")
    y = np.concatenate([draw(st.permutations([0, 1, 2, 0][:size])) for size in sizes])
    data = RankingData(X, y, np.repeat(np.arange(len(sizes)), sizes))
    weights = np.array(draw(st.lists(st.floats(0.1, 1), min_size=len(sizes), max_size=len(sizes))))
    scores = np.array(draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n)), dtype=float)
    return data, QueryWeights(weights / weights.sum(), scores, loss=np.inf)


def lowest(X):
    return np.array([min((x for x in column if not np.isnan(x)), default=0.0) for column in X.T], dtype=float)


def make(learner, data, metric, directions=(1, -1), n_threads=1):
    return learner(data, metric, missing=lowest(data.X), directions=directions, n_threads=n_threads)


def chosen(weak):
    return slow.WeakRanker(weak.model.feature, weak.model.direction)


@examples(60)
@given(judged_and_weighted(), metrics, st.sampled_from(["up", "both"]))
def test_quality_is_that_of_the_slow_twin(state, metric, directions):
    data, _ = state
    queries = slow.queries_of(*data)
    learner = make(BestFeature, data, metric, (1, -1) if directions == "both" else (1,))
    wanted = [slow.qualities(metric, weak, queries) for weak in slow.weak_rankers(3, directions)]
    np.testing.assert_allclose(learner.quality, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("learner", "choose"), [(BestFeature, "measure"), (LeastLossFeature, "loss")])
@examples(60)
@given(state=judged_and_weighted(), metric=metrics)
def test_the_choice_is_the_slow_twins(learner, choose, state, metric):
    data, signal = state
    queries = slow.queries_of(*data)
    f = [signal.scores[rows] for rows in data.groups]
    worth = {
        weak: slow.worth_of(choose, metric, signal.weights, f, weak, queries)
        for weak in slow.weak_rankers(3, "both")
    }
    weak = make(learner, data, metric).fit(signal)
    assert worth[chosen(weak)] >= max(worth.values()) - slow.CLOSE
    np.testing.assert_array_equal(weak.outputs, np.concatenate([slow.outputs(chosen(weak), q) for q in queries]))


@given(judged_and_weighted(), metrics)
def test_the_step_is_the_slow_twins(state, metric):
    data, signal = state
    learner = make(BestFeature, data, metric)
    together = signal.half_log_odds(learner.quality)
    wanted = [slow.step(signal.weights, E) for E in learner.quality.tolist()]
    np.testing.assert_allclose(together, wanted, rtol=1e-5, atol=1e-12)
    # One alone is the same to the last bit: what a choice was made by is what is then taken.
    assert together.tolist() == [float(signal.half_log_odds(row)) for row in learner.quality]


@given(judged_and_weighted(), st.randoms())
def test_the_order_of_the_queries_changes_no_bit(state, random):
    data, signal = state
    quality = make(BestFeature, data, NDCG()).quality
    queries = list(range(len(data.groups)))
    random.shuffle(queries)
    shuffled = QueryWeights(signal.weights[queries], signal.scores, signal.loss)
    assert signal.mean(quality).tolist() == shuffled.mean(quality[:, queries]).tolist()


# The first feature ranks the first query, the second feature the second one.
ONE_EACH = RankingData([[2, 1], [1, 2], [1, 2], [2, 1]], [1, 0, 1, 0], [1, 1, 2, 2])


@pytest.mark.parametrize(("weights", "feature"), [([0.9, 0.1], 0), ([0.1, 0.9], 1), ([0.5, 0.5], 0)])
def test_the_best_feature_is_best_where_the_weight_lies(weights, feature):
    signal = QueryWeights(np.array(weights), np.zeros(4), loss=np.inf)
    assert make(BestFeature, ONE_EACH, NDCG(), (1,)).fit(signal).model.feature == feature


@pytest.mark.parametrize(("scores", "feature"), [([9.0, 0, 0, 0], 1), ([0, 0, 9.0, 0], 0)])
def test_the_least_loss_is_with_the_feature_that_the_ensemble_lacks(scores, feature):
    signal = QueryWeights(np.array([0.5, 0.5]), np.array(scores), loss=np.inf)
    assert make(LeastLossFeature, ONE_EACH, NDCG(), (1,)).fit(signal).model.feature == feature


def test_a_feature_put_aside_is_measured_alone(monkeypatch):
    random = np.random.default_rng(1)
    data = RankingData(random.normal(size=(40, 20)), random.integers(0, 3, 40), np.repeat(np.arange(10), 4))
    learner = BestFeature(data, NDCG(), missing=np.zeros(20), repeats="aside", n_threads=1)
    signal = QueryWeights(np.full(10, 0.1), np.zeros(40), loss=-np.inf)  # which no feature lowers
    first = learner.fit(signal).model.feature
    measured = []
    monkeypatch.setattr(learner, "_measure", lambda scores: measured.append(scores) or np.ones(10))
    assert learner.fit(signal).model.feature != first
    assert len(measured) == 1


def test_perfect_and_all_wrong_features_have_finite_steps():
    data = RankingData([[2], [1], [4], [3]], [1, 0, 1, 0], [1, 1, 2, 2])
    signal = QueryWeights(np.array([0.5, 0.5]), np.zeros(4), loss=np.inf)
    up, down = signal.half_log_odds(make(BestFeature, data, KendallTau()).quality)
    assert up == pytest.approx(14.16, rel=1e-3)
    assert down == pytest.approx(-up, rel=1e-3)


def test_missing_values_count_as_told():
    data = RankingData([[np.nan], [1.0]], [1, 0], [1, 1])
    for missing, value in ((0.0, 0.0), (2.0, 1.0)):
        learner = BestFeature(data, KendallTau(), missing=np.array([missing]), n_threads=1)
        assert learner.quality.tolist() == [[2 * value - 1]]
