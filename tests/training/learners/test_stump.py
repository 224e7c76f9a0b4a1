import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright.data.groups import QueryGroups
from rankwright.metrics import NDCG
from rankwright.rankers.shared.distances import Binary, Linear
from rankwright.training.binned_features import BinnedFeatures
from rankwright.training.learners.pair_signal import FactoredPairs, LabelPairs, ListedPairs
from rankwright.training.learners.stump import MetricVoteLearner, StumpLearner, VoteLearner
from rankwright.training.training_set import QueryLabels
from reference import pairs as slow
from training.learners.test_pair_signal import DISTANCES, make, states, twin

BOTH = pytest.mark.parametrize("kind", [FactoredPairs, ListedPairs])


def binned(X):
    return BinnedFeatures.of(X, np.arange(len(X)))


@BOTH
@examples(80)
@given(state=states(), distance=DISTANCES, newton=st.booleans())
def test_a_stump_has_the_least_error_of_all(kind, state, distance, newton):
    X, scores = state[0], state[3]
    weighed = slow.reweighted(twin(state, distance), scores)
    learner = StumpLearner(binned(X), newton=newton, n_threads=1)
    weak = learner.fit(make(kind, state, distance).signal(scores))
    error = slow.squared_error(weighed, weak.outputs, newton=newton)
    # It may be lower still: the twin leaves alone a stump whose pairs weigh next to nothing.
    assert error <= slow.least_error(weighed, X, newton=newton) + slow.CLOSE
    np.testing.assert_array_equal(weak.outputs, weak.model.predict(X))


@BOTH
@examples(80)
@given(state=states(), directions=st.sampled_from([(1,), (1, -1)]))
def test_a_vote_has_the_largest_agreement_of_all(kind, state, directions):
    X, scores = state[0], state[3]
    weighed = slow.reweighted(twin(state, Binary()), scores)
    weak = VoteLearner(binned(X), directions=directions, n_threads=1).fit(
        make(kind, state, Binary()).signal(scores)
    )
    r = slow.agreement(weighed, weak.outputs)
    assert r == pytest.approx(max(0.0, slow.largest_agreement(weighed, X, directions)), abs=slow.CLOSE)
    np.testing.assert_array_equal(weak.outputs, weak.model.predict(X))


def signal_of(y, qid, scores=None):
    judged = QueryLabels(np.array(y, dtype=float), QueryGroups.of(qid))
    pairs = LabelPairs.of(judged, Binary().between, n_threads=1)
    return judged, pairs.signal(np.zeros(len(y)) if scores is None else np.array(scores, dtype=float))


def column(*values):
    return np.array(values, dtype=np.float32)[:, None]


def test_a_stump_is_0_below_its_threshold_and_where_a_value_is_missing():
    _, signal = signal_of([1, 0, 0], [1, 1, 1])
    weak = StumpLearner(binned(column(3, 1, np.nan)), newton=False, n_threads=1).fit(signal)
    assert weak.outputs.tolist() == [1, 0, 0]
    assert weak.model.predict(column(2.9, 1.1, np.nan, 1e30)).tolist() == [1, 0, 0, 1]


def test_minus_infinity_is_a_threshold_above_which_is_all_that_is_there():
    _, signal = signal_of([1, 1, 0], [1, 1, 1])
    for learner, low in (
        (StumpLearner(binned(column(3, 1, np.nan)), newton=False, n_threads=1), 0.0),
        (VoteLearner(binned(column(3, 1, np.nan)), directions=(1,), n_threads=1), 0.0),
    ):
        weak = learner.fit(signal)
        assert weak.outputs[0] == weak.outputs[1] > weak.outputs[2] == low
        assert weak.model.predict(column(-1e30, np.nan)).tolist() == [weak.outputs[0], low]


def test_a_vote_abstains_where_a_value_is_missing():
    _, signal = signal_of([1, 0, 1, 0], [1, 1, 2, 2])
    weak = VoteLearner(binned(column(3, 1, np.nan, 1)), directions=(1,), n_threads=1).fit(signal)
    assert weak.outputs.tolist() == [0.5, -0.5, 0.0, -0.5]
    # A feature that was never missing in training may be so later.
    full = VoteLearner(binned(column(3, 1, 3, 1)), directions=(1,), n_threads=1).fit(signal)
    assert full.model.predict(column(9, -9, np.nan)).tolist() == [0.5, -0.5, 0.0]


def test_a_vote_may_be_for_low_values_if_told():
    _, signal = signal_of([1, 0, 1, 0], [1, 1, 2, 2])
    falling = binned(column(1, 3, 1, 3))
    assert VoteLearner(falling, directions=(1,), n_threads=1).fit(signal).outputs.tolist() == [0, 0, 0, 0]
    assert VoteLearner(falling, directions=(1, -1), n_threads=1).fit(signal).outputs.tolist() == [0.5, -0.5] * 2


@pytest.mark.parametrize("value", [0.0, np.nan, 3e38])
def test_a_column_that_says_nothing_yields_nothing(value):
    judged, signal = signal_of([1, 0, 2], [1, 1, 1])
    same = binned(column(value, value, value))
    for learner in (
        StumpLearner(same, newton=False, n_threads=1),
        VoteLearner(same, directions=(1, -1), n_threads=1),
        MetricVoteLearner(same, judged, NDCG(), directions=(1, -1), n_threads=1),
    ):
        weak = learner.fit(signal)
        assert weak.outputs.tolist() == [0, 0, 0]
        assert weak.model.predict(column(1, np.nan)).tolist() == [0, 0]


def test_by_metric_the_vote_is_taken_that_the_ensemble_gains_most_from():
    # The first feature orders more pairs, the second puts the best document on top.
    y, qid = [3, 1, 1, 1, 0, 0, 0], [1] * 7
    X = np.array([[0, 1], [1, 0], [1, 0], [1, 0], [0, 0], [0, 0], [0, 0]], dtype=np.float32)
    judged, signal = signal_of(y, qid)
    by_r = VoteLearner(binned(X), directions=(1,), n_threads=1).fit(signal)
    by_metric = MetricVoteLearner(binned(X), judged, NDCG(k=1), directions=(1,), n_threads=1).fit(signal)
    assert by_r.model.used_features.tolist() == [0]
    assert by_metric.model.used_features.tolist() == [1]


def test_newton_makes_linear_distances_of_any_size_one_model():
    random = np.random.default_rng(1)
    X, y = random.normal(size=(60, 3)).astype(np.float32), random.integers(0, 3, 60).astype(float)
    judged = QueryLabels(y, QueryGroups.of(np.repeat(np.arange(6), 10)))
    stumps = [
        StumpLearner(binned(X), newton=True, n_threads=1)
        .fit(LabelPairs.of(judged, Linear(alpha).between, n_threads=1).signal(np.zeros(60)))
        .model
        for alpha in (0.1, 1.0)
    ]
    assert stumps[0].threshold.tolist() == stumps[1].threshold.tolist()
    assert stumps[0].leaf_value[1] == pytest.approx(10 * stumps[1].leaf_value[1])
