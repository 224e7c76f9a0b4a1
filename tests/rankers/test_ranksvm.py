import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

import rankwright as rw
from rankwright import RankingData, RankSVM
from rankwright.base.errors import InputError
from reference import margin as slow
from shared_data import SHARED, needs_shared_data


def noisy(n_queries=12, *, seed=1, n_features=4):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 9, n_queries)
    X = rng.normal(size=(sizes.sum(), n_features)).astype(np.float32)
    y = np.clip(np.round(X[:, :2].sum(axis=1) + rng.normal(size=len(X))), 0, 2)
    return RankingData(X, y, np.repeat(np.arange(n_queries), sizes))


def listed_pairs(data, balance, weights=None):
    """The difference of every pair, and how much the pair counts."""
    pairs = list(slow.ordered_pairs(data.y, data.qid))
    X = data.X.astype(np.float64)
    differences = np.array([X[i] - X[j] for i, j in pairs])
    queries = np.array([data.qid[i] for i, _ in pairs])
    if balance == "pairs":
        counts = np.full(len(pairs), 1.0 / len(pairs))
    else:
        _, place, sizes = np.unique(queries, return_inverse=True, return_counts=True)
        counts = 1.0 / (len(sizes) * sizes[place])
    if weights is not None:
        counts = counts * [np.sqrt(weights[i] * weights[j]) for i, j in pairs]
    return differences, counts


def by_brute_force(differences, counts, C, loss):
    if loss == "hinge":
        svm = LinearSVC(C=1.0, loss="hinge", fit_intercept=False, tol=1e-10, max_iter=1_000_000)
        signs = np.where(np.arange(len(counts)) % 2, 1, -1)  # the classifier wants both kinds
        return svm.fit(differences * signs[:, None], signs, sample_weight=C * counts).coef_[0]

    def objective(w):
        short = np.maximum(0.0, 1.0 - differences @ w)
        return 0.5 * w @ w + C * counts @ short**2, w - 2 * C * (counts * short) @ differences

    return minimize(objective, np.zeros(differences.shape[1]), jac=True, options={"gtol": 1e-10}).x


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("balance", ["queries", "pairs"])
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_the_optimum_is_that_of_a_solver_on_all_pairs(loss, balance, C):
    data = noisy()
    ranker = RankSVM(C=C, loss=loss, balance=balance, scaling="none", tolerance=1e-9, max_iterations=5000)
    expected = by_brute_force(*listed_pairs(data, balance), C, loss)
    np.testing.assert_allclose(ranker.fit(data).model_.weights, expected, atol=2e-3 if loss == "hinge" else 1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_pair_counts_the_geometric_mean_of_its_documents(loss):
    data = noisy()
    weights = np.random.default_rng(2).random(len(data)) + 0.1
    ranker = RankSVM(C=10.0, loss=loss, scaling="none", tolerance=1e-9, max_iterations=5000)
    expected = by_brute_force(*listed_pairs(data, "queries", weights), 10.0, loss)
    found = ranker.fit(data, sample_weight=weights).model_.weights
    np.testing.assert_allclose(found, expected, atol=2e-3 if loss == "hinge" else 1e-5)


def test_a_query_that_counts_double_counts_as_two():
    data = noisy()
    twice = [2.0 if query == 3 else 1.0 for query in range(12)]
    rows = np.flatnonzero(data.qid == 3)
    more = RankingData(
        np.concatenate([data.X, data.X[rows]]),
        np.concatenate([data.y, data.y[rows]]),
        np.concatenate([data.qid, np.full(len(rows), 99)]),
    )
    taught = 12 - RankSVM().fit(data).skipped_queries_  # what the mean is over; there it is one more
    heavy = RankSVM(C=taught, scaling="none", tolerance=1e-10).fit(data, query_weight=twice)
    copied = RankSVM(C=taught + 1, scaling="none", tolerance=1e-10).fit(more)
    np.testing.assert_allclose(heavy.model_.weights, copied.model_.weights, atol=1e-5)


@pytest.mark.parametrize("scaling", ["none", "query-minmax", "query-zscore", "global"])
def test_every_scaling_is_part_of_the_scorer(scaling):
    train, test = noisy(100), noisy(100, seed=2)
    ranker = RankSVM(scaling=scaling).fit(train)
    scores = ranker.model_.predict(test)
    for rows in test.groups:
        np.testing.assert_array_equal(ranker.model_.predict(test.X[rows], 1), scores[rows])  # a query by itself
    assert ranker.score(*test) > ranker.metric(test.y, np.zeros(len(test)), test.qid) + 0.05


def test_queries_with_one_label_are_skipped_and_counted():
    data = noisy()
    extra = RankingData(
        np.concatenate([data.X, data.X[:5]]),
        np.concatenate([data.y, [1, 1, 0, 0, 0]]),
        np.concatenate([data.qid, [90, 90, 91, 91, 92]]),
    )
    skipped = sum(np.ptp(data.y[rows]) == 0 for rows in data.groups)
    plain, more = RankSVM(scaling="none").fit(data), RankSVM(scaling="none").fit(extra)
    assert plain.skipped_queries_ == plain.model_.about["skipped_queries"] == skipped
    assert more.skipped_queries_ == skipped + 3
    np.testing.assert_allclose(more.model_.weights, plain.model_.weights, rtol=1e-9)


def test_large_numbers_that_a_query_shares_do_no_harm():
    data = noisy()
    shifted = RankingData(data.X + 4096.0 * data.qid[:, None], data.y, data.qid)
    weights = [RankSVM(scaling="none").fit(one).model_.weights for one in (data, shifted)]
    np.testing.assert_allclose(*weights, atol=1e-2)  # what float32 keeps of such sums


@pytest.mark.parametrize(("loss", "most"), [("hinge", 2), ("squared_hinge", 1)])
def test_no_convergence_is_told_with_its_gap(loss, most):
    ranker = RankSVM(C=1000.0, loss=loss, max_iterations=most, tolerance=1e-8)
    sentence = rf"RankSVM stopped after {most} iterations: .* as much as \d\S* of itself above the optimum"
    with pytest.warns(UserWarning, match=sentence):
        ranker.fit(noisy())
    assert np.isfinite(ranker.predict(noisy())).all()


def test_the_model_is_the_last_iteration_whatever_the_validation_part_says():
    train, valid = noisy(), noisy(seed=2)
    told = []
    ranker = RankSVM().fit(train, validation=valid, on_round=told.append)
    assert ranker.history_.converging
    assert ranker.history_.best_round == len(ranker.history_) == len(told)
    assert ranker.score(*valid) == pytest.approx(told[-1].validation, rel=1e-12)
    np.testing.assert_array_equal(ranker.predict(valid), RankSVM().fit(train).predict(valid))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"C": 0}, "C must be a positive number, not 0."),
        ({"C": -1.0}, "C must be a positive number, not -1.0."),
        ({"C": np.nan}, "C must be a positive number, not nan."),
        ({"loss": "log"}, "loss must be 'squared_hinge' or 'hinge', not 'log'."),
        ({"balance": "documents"}, "balance must be 'queries' or 'pairs', not 'documents'."),
        ({"scaling": "max"}, "scaling must be .*, not 'max'."),
        ({"tolerance": 0.0}, "tolerance must be a positive number, not 0.0."),
        ({"max_iterations": 0}, "max_iterations must be a positive integer, not 0."),
    ],
)
def test_wrong_parameters_are_told(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        RankSVM(**parameters).fit(noisy())


def test_features_that_say_nothing_teach_nothing():
    with pytest.raises(InputError, match="nothing to learn: no feature tells better documents from worse ones"):
        RankSVM().fit([[0], [1], [1], [0]], [1, 0, 1, 0], [1, 1, 2, 2])


@pytest.mark.long
@needs_shared_data
def test_ohsumed_reaches_more_than_letor_published():
    folds = SHARED / "letor" / "OHSUMED"
    result = rw.cross_validate(
        RankSVM(), folds, metrics=["ndcg@10", "map"], convention="letor3", tune="validation"
    )
    assert result.mean("ndcg@10") >= 0.4400
    assert result.mean("map") >= 0.4440
