import numpy as np
import pytest

from rankers.test_lambdamart import judged
from rankwright import MART
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.metrics import AP, NDCG
from rankwright.models import TreeEnsemble
from rankwright.rankers.mart import LeastSquaresRule

TRAIN, TEST = judged(), judged(seed=2)
EVERYTHING = {"subsample": 1.0, "feature_fraction": 1.0, "l2": 0.0}


def fitted(data=TRAIN, *, sample_weight=None, **parameters):
    few = {"rounds": 8, "learning_rate": 0.2, "n_jobs": 1}
    return MART(**few | parameters).fit(data, sample_weight=sample_weight)


def test_a_full_step_of_a_stump_is_the_mean_of_each_side():
    data = RankingData([[1.0], [2.0], [3.0], [4.0]], [0, 1, 2, 5], [1, 1, 1, 1])
    ranker = fitted(data, rounds=1, learning_rate=1.0, max_leaves=2, **EVERYTHING)
    # The split that leaves the least squares: 5 alone. Scores are less the mean of all, 2.
    np.testing.assert_allclose(ranker.predict(data), [-1, -1, -1, 3])
    gains = fitted(data, rounds=1, learning_rate=1.0, max_leaves=2, targets="gains", **EVERYTHING)
    np.testing.assert_allclose(gains.predict(data), [4 / 3 - 8.75] * 3 + [31 - 8.75])


def test_enough_trees_fit_the_labels():
    ranker = fitted(rounds=200, max_leaves=30, min_documents=1, **EVERYTHING)
    scores = ranker.predict(TRAIN) + TRAIN.y.mean()
    assert np.mean((scores - TRAIN.y) ** 2) < 0.05 * np.var(TRAIN.y)


@pytest.mark.slow
def test_documents_of_a_millionth_of_the_largest_weight_are_still_fitted():
    weights = np.where(np.arange(len(TRAIN)) < 3, 1e6, 1.0)
    ranker = fitted(rounds=200, max_leaves=30, min_documents=1, sample_weight=weights, **EVERYTHING)
    scores = ranker.predict(TRAIN) + np.average(TRAIN.y, weights=weights)
    assert np.mean((scores - TRAIN.y) ** 2) < 0.05 * np.var(TRAIN.y)


def test_residuals_are_the_gradient_of_half_the_squared_error():
    rng = np.random.default_rng(1)
    targets, scores, weights = rng.normal(size=6), rng.normal(size=6), rng.random(6)
    signal = LeastSquaresRule(targets, weights, 0.1).signal(scores)

    def loss(given):
        return (weights * (targets - given) ** 2).sum() / 2

    for row in range(6):
        step = np.eye(6)[row] * 1e-4
        assert signal.gradient[row] == pytest.approx(-(loss(scores + step) - loss(scores - step)) / 2e-4, rel=1e-6)
    np.testing.assert_array_equal(signal.hessian, weights)


def test_a_document_of_no_weight_counts_for_nothing():
    X, y, qid = TRAIN
    weights = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    wild = np.where(weights == 0, 3.0 - y, y)
    plain = {"subsample": 1.0, "min_documents": 5}
    models = [
        fitted(RankingData(X, labels, qid), sample_weight=weights, **plain).predict(TEST) for labels in (y, wild)
    ]
    # Rows lie in another order, so that sums may differ by rounding.
    np.testing.assert_allclose(models[0], models[1], rtol=1e-9, atol=1e-12)


def test_it_learns_and_the_model_is_trees():
    ranker = fitted(rounds=60)
    assert isinstance(ranker.model_, TreeEnsemble)
    assert ranker.score(*TEST) > max(NDCG(k=10)(TEST.y, TEST.X[:, one], TEST.qid) for one in range(5)) + 0.03


def test_the_metric_does_not_change_the_trees():
    assert fitted(metric=AP()).predict(TEST).tobytes() == fitted(metric=NDCG(k=1)).predict(TEST).tobytes()


def test_negative_labels_will_do_as_targets_and_not_as_gains():
    data = RankingData(TRAIN.X, TRAIN.y - 1, TRAIN.qid)
    metric = {"metric": AP(threshold=0)} if "threshold" in AP.__dataclass_fields__ else {"metric": AP()}
    assert np.isfinite(fitted(data, **metric).predict(TEST)).all()
    with pytest.raises(InputError, match="not defined for negative labels, but one label is -1"):
        fitted(data, targets="gains", **metric)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"targets": "label"}, "targets must be 'labels' or 'gains', not 'label'"),
        ({"learning_rate": 0}, "learning_rate must be a positive number, not 0"),
        ({"max_leaves": 1}, "max_leaves must be None or an integer of at least 2, not 1"),
        ({"subsample": 1.5}, "subsample must be None or a number above 0 and at most 1"),
        ({"l2": -1.0}, "l2 must be a non-negative number"),
    ],
)
def test_a_wrong_parameter_is_told_in_a_sentence(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        fitted(**parameters)
