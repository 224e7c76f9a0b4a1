import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import rankwright as rw
from properties import examples
from rankers.test_rankboost import noisy, scores_by_round
from rankwright import MPBoost
from rankwright.base.errors import InputError
from rankwright.metrics import NDCG, KendallTau
from rankwright.models.model_file import encode
from rankwright.rankers.shared.distances import Binary, Distance, Linear, Logarithmic, Logistic, OnGains
from reference import pairs as slow
from shared_data import SHARED, needs_shared_data
from training.learners.test_pair_signal import DISTANCES, states

OWN = [Binary(), Linear(0.3), Logarithmic(0.5), Logistic(1.0)]


@pytest.mark.filterwarnings("ignore:.*condition 9")
@examples(60)
@given(
    state=states(),
    distance=DISTANCES,
    by_query=st.booleans(),
    newton=st.booleans(),
    learning_rate=st.sampled_from([1.0, 0.2]),
)
def test_every_round_takes_the_stump_of_brute_force(state, distance, by_query, newton, learning_rate):
    X, y, qid, *_ = state
    ranker = MPBoost(
        KendallTau(),  # labels may be negative
        distance=distance,
        rounds=4,
        pair_weights="query" if by_query else "uniform",
        newton=newton,
        learning_rate=learning_rate,
        n_jobs=1,
    )
    pairs = slow.pairs_of(y.tolist(), qid.tolist(), distance.between, by_query=by_query)
    try:
        ranker.fit(X, y, qid)
    except InputError:
        nothing = slow.squared_error(pairs, np.zeros(len(y)), newton=newton)
        assert slow.least_error(pairs, X, newton=newton) == pytest.approx(nothing, abs=slow.CLOSE)
        return
    before = np.zeros(len(y))
    for this, scores in zip(ranker.history_, scores_by_round(ranker, X), strict=True):
        weighed = slow.reweighted(pairs, before)
        f = (scores - before) / learning_rate
        least = slow.least_error(weighed, X, newton=newton)
        assert slow.squared_error(weighed, f, newton=newton) == pytest.approx(least, abs=1e-6)
        assert this.diagnostics["Z"] == pytest.approx(
            slow.loss(pairs, scores) / slow.loss(pairs, before), rel=1e-6
        )
        assert this.diagnostics["bound"] == pytest.approx(slow.loss(pairs, scores), rel=1e-6)
        assert this.diagnostics["misordered"] == pytest.approx(slow.misordered(pairs, scores), abs=1e-9)
        before = scores


@pytest.mark.parametrize("distance", [Logistic(1.0), OnGains(Linear(0.3))], ids=str)
def test_every_threshold_of_a_feature_with_many_values(distance):
    """Algorithm 1 with the appendix's stumps, of more values than there are bins."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 2)).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.clip(np.round(np.nan_to_num(X[:, 0]) + rng.normal(size=600)), 0, 2)
    qid = np.repeat(np.arange(100), 6)
    options = {"distance": distance, "rounds": 2, "learning_rate": 1.0, "n_jobs": 1}
    ranker = MPBoost.as_printed(distance=distance, rounds=2, n_jobs=1).fit(X, y, qid)
    pairs, before = slow.pairs_of(y.tolist(), qid.tolist(), distance.between, by_query=False), np.zeros(600)
    for scores in scores_by_round(ranker, X):
        weighed = slow.reweighted(pairs, before)
        least = slow.least_error(weighed, X, newton=False)
        assert slow.squared_error(weighed, scores - before, newton=False) == pytest.approx(least, rel=1e-9)
        before = scores
    binned = MPBoost(**options).fit(X, y, qid)
    assert ranker.history_[0].diagnostics["Z"] <= binned.history_[0].diagnostics["Z"] + 0.01
    assert encode(binned.model_) != encode(ranker.model_)
    again = MPBoost(**options | {"n_jobs": 2}, all_thresholds=True).fit(X, y, qid)
    np.testing.assert_array_equal(again.predict(X), ranker.predict(X))


def test_every_threshold_is_what_bins_are_where_values_are_few():
    data = few_values()
    plain, exact = (
        MPBoost(rounds=5, all_thresholds=one, n_jobs=1).fit(*data).predict(data[0]) for one in (False, True)
    )
    np.testing.assert_array_equal(plain, exact)
    for options, sentence in (
        ({"max_leaves": 4}, "all_thresholds is for stumps"),
        ({"max_bins": 20}, "give no max_bins"),
    ):
        with pytest.raises(InputError, match=sentence):
            MPBoost(all_thresholds=True, **options).fit(*data)


def few_values():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 20, size=(120, 3)).astype(np.float32)
    return X, np.clip(X[:, 0] // 7 + rng.integers(-1, 2, 120), 0, 2), np.repeat(np.arange(20), 6)


@pytest.mark.parametrize("distance", OWN, ids=str)
@pytest.mark.parametrize("learning_rate", [1.0, 0.1])
@pytest.mark.parametrize("max_leaves", [None, 4])
def test_the_bound_of_theorem_1_holds_every_round(distance, learning_rate, max_leaves):
    ranker = MPBoost(distance=distance, learning_rate=learning_rate, rounds=40, max_leaves=max_leaves)
    history = ranker.fit(*noisy(missing=0.1)).history_
    assert len(history) == 40
    assert (history.curve("misordered") <= history.curve("bound") + 1e-12).all()
    np.testing.assert_allclose(np.cumprod(history.curve("Z")), history.curve("bound"))
    assert history.curve("bound")[-1] < 0.9


def test_a_stump_is_a_tree_of_one_split():
    model = MPBoost(rounds=7).fit(*noisy()).model_
    assert model.n_trees == len(model.feature) == 7


def test_trees_see_what_stumps_cannot():
    random = np.random.default_rng(1)
    X = random.integers(0, 2, (400, 2)).astype(float)
    y, qid = (X[:, 0] != X[:, 1]).astype(float), np.repeat(np.arange(40), 10)
    parameters = {"rounds": 20, "learning_rate": 0.5}
    assert MPBoost(**parameters, max_leaves=4, min_documents=1).fit(X, y, qid).score(X, y, qid) > 0.99
    assert MPBoost(**parameters).fit(X, y, qid).score(X, y, qid) < 0.9


def test_the_farther_apart_labels_are_the_more_a_pair_counts():
    # The first feature orders two pairs of neighbours, the second one pair of extremes.
    X = np.array([[0, 1], [1, 0], [0, 0], [1, 0], [0, 0], [0, 1], [0, 0]])
    y, qid = [1, 2, 1, 2, 1, 4, 0], [1, 1, 1, 2, 2, 3, 3]
    by_sign, by_magnitude = (
        MPBoost(distance=distance, rounds=1, pair_weights="uniform").fit(X, y, qid).model_.used_features
        for distance in (Binary(), Linear(0.25))
    )
    assert by_sign.tolist() == [0]
    assert by_magnitude.tolist() == [1]


@pytest.mark.parametrize("pair_weights", ["uniform", "query"])
@pytest.mark.parametrize("distance", [Logistic(), Linear(0.3)], ids=str)
def test_the_weight_of_a_query_counts(pair_weights, distance):
    X, y, qid = noisy()
    ranker = MPBoost(distance=distance, pair_weights=pair_weights, rounds=20)
    alike = clone(ranker).fit(X, y, qid).predict(X)
    double = clone(ranker).fit(X, y, qid, query_weight=np.where(np.arange(30) == 0, 2.0, 1.0)).predict(X)
    assert np.abs(double - alike).max() > 1e-6


@dataclass(frozen=True)
class Root(Distance):
    """A user's own."""

    scale: float = 0.5

    def between(self, first, second):
        return self.scale * np.sign(first - second) * np.sqrt(np.abs(first - second))


@dataclass(frozen=True)
class Downhill(Distance):
    def between(self, first, second):
        return second - first


class Upside(Linear):
    """Derives from one that is directed, but is not."""

    def between(self, first, second):
        return -super().between(first, second)


def test_a_distance_of_ones_own_trains_and_is_checked():
    data = noisy()
    ranker = MPBoost(distance=Root(), rounds=20).fit(*data)
    assert ranker.score(*data) > NDCG(k=10)(data[1], np.zeros(len(data[1])), data[2]) + 0.1
    assert ranker.model_.about["parameters"]["distance"] == "root(0.5)"
    for wrong in (Downhill(), Upside()):
        with pytest.raises(InputError, match="requirement 3"):
            MPBoost(distance=wrong).fit(*data)


@pytest.mark.parametrize("distance", [Linear(1e308), Linear(1e200), Linear(5e-324)], ids=str)
@pytest.mark.parametrize("many_labels", [False, True])
def test_distances_beyond_numbers_are_refused(distance, many_labels):
    X, y, qid = noisy()
    labels = y + np.linspace(0, 0.5, len(y)) if many_labels else y / 2
    with pytest.raises(InputError, match="it must be above 0 and at most 1e"):
        MPBoost(distance=distance).fit(X, labels, qid)


@pytest.mark.parametrize("distance", [Linear(0.05), Linear(1.0), Logarithmic(30.0)], ids=str)
def test_distances_far_from_1_are_warned_of(distance):
    with pytest.warns(UserWarning, match=r"between the lowest and the highest label, .* \(condition 9\)"):
        MPBoost(distance=distance, rounds=1).fit(*noisy())


@pytest.mark.parametrize("distance", [Binary(), Linear(1 / 3), Logarithmic(1.0), Logistic(5.0)], ids=str)
def test_distances_close_to_1_are_not(distance):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MPBoost(distance=distance, rounds=1).fit(*noisy())


def test_real_labels_in_any_number_train():
    X, y, qid = noisy()
    real = y + np.random.default_rng(2).random(len(y)) / 2
    ranker = MPBoost(distance=Linear(0.3), rounds=20).fit(X, real, qid)
    assert (ranker.history_.curve("misordered") <= ranker.history_.curve("bound")).all()
    assert ranker.score(X, real, qid) > NDCG(k=10)(real, np.zeros(len(y)), qid) + 0.1


@pytest.mark.filterwarnings("error", "ignore:.*condition 9")
@pytest.mark.parametrize("many_labels", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        {"learning_rate": 1e308, "distance": Linear(0.3)},
        {"learning_rate": 1e308, "max_leaves": 4},
        {"learning_rate": 1e50, "distance": Linear(1e149)},
    ],
    ids=str,
)
def test_steps_beyond_numbers_are_told(parameters, many_labels):
    X, y, qid = noisy()
    labels = y + np.linspace(0, 0.5, len(y)) if many_labels else y
    with pytest.raises(InputError, match=r"no longer finite; use a lower learning_rate"):
        MPBoost(**parameters, rounds=100).fit(X, labels, qid)


def test_steps_that_diverge_do_not_overflow():
    X, y, qid = noisy()
    with pytest.warns(UserWarning, match="condition 9"):
        ranker = MPBoost(distance=Linear(50.0), rounds=200, learning_rate=1.0).fit(X, y, qid)
    assert np.isfinite(ranker.predict(X)).all()
    assert np.isfinite(ranker.history_.curve("bound")).all()


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"distance": 0.5}, r"distance must be a Distance such as Linear\(alpha=0.5\), not 0.5."),
        ({"distance": {}}, r"A distance must be one of .*, such as linear\(0.5\), not {}."),
        ({"learning_rate": 0}, "learning_rate must be a positive number, not 0."),
        ({"newton": 1}, "newton must be True or False, not 1."),
        ({"pair_weights": None}, "pair_weights must be 'uniform' or 'query', not None."),
        ({"max_leaves": 1}, "max_leaves must be None or an integer of at least 2, not 1."),
        ({"min_documents": 0}, "min_documents must be a positive integer, not 0."),
    ],
)
def test_wrong_parameters_are_told(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        MPBoost(**parameters).fit(*noisy())


@needs_shared_data
@pytest.mark.parametrize("collection", ["OHSUMED", "MQ2008"])
@pytest.mark.parametrize("distance", [Binary(), Linear(0.5), Logarithmic(1.0), Logistic(1.0)], ids=str)
def test_the_bound_holds_on_real_folds(collection, distance):
    train, valid, _ = rw.read_fold(SHARED / "letor" / collection / "Fold1")
    history = MPBoost(distance=distance, rounds=60, learning_rate=1.0).fit(train, validation=valid).history_
    assert (history.curve("misordered") <= history.curve("bound")).all()
