"""Rankers as scikit-learn estimators: its own checks, metadata routing, pipelines, searches and clones."""

import copy
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import check_is_fitted

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.data.dataset import Documents, RankingData
from rankwright.rankers.catalogue import known_rankers

pytestmark = pytest.mark.slow

CLASSES = sorted((one for one in known_rankers().values() if not one.needs_text), key=lambda one: one.__name__)
POOL = {"leaves": (3,), "rounds_tried": (5,), "splits": 2, "calibrations": ("standard",)}

every_ranker = pytest.mark.parametrize("kind", CLASSES, ids=lambda one: one.__name__)


def quick(kind, **parameters):
    """The ranker with few rounds."""
    few = {"rounds": 3, "portfolio": "adarank", **POOL}  # a mixture of several depends on the other rows
    return kind(**{name: few[name] for name in few.keys() & kind().get_params()} | parameters)


def judged(n_queries=12, n_documents=8, n_features=5, *, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n_documents, n_features)).astype(np.float32)
    y = np.clip(np.round(X[:, :3].sum(axis=1) + rng.normal(size=len(X)) / 2), 0, 3)
    return RankingData(X, y, np.repeat(np.arange(n_queries), n_documents))


# scikit-learn's own checks. They call fit(X, y) and predict(X), so rankers run them with query ids made up.


def made_up_queries(n_rows):
    return np.random.default_rng(0).permutation(n_rows) // 5


def with_queries(kind):
    """A subclass that makes up the query ids that a call lacks."""

    def fit(self, X, y=None, qid=None, **options):
        known = qid is not None or np.ndim(y) != 1
        return kind.fit(self, X, y, qid if known else made_up_queries(len(y)), **options)

    def predict(self, X, qid=None, **options):
        known = qid is not None or isinstance(X, Documents) or len(np.shape(X)) != 2
        return kind.predict(self, X, qid if known else made_up_queries(np.shape(X)[0]), **options)

    def score(self, X, y=None, qid=None):
        return kind.score(self, X, y, qid if qid is not None or y is None else made_up_queries(len(y)))

    members = {"fit": fit, "predict": predict, "score": score, "__module__": __name__}
    return type(f"{kind.__name__}WithQueries", (kind,), members)


def checked(kind):
    """The ranker as the checks take it: scores must not depend on the other rows of a call."""
    settings = {"scaling": "global", "directions": "both"}
    return quick(kind, **{name: settings[name] for name in settings.keys() & kind().get_params()})


WITH_QUERIES = [with_queries(kind) for kind in CLASSES]
globals().update({kind.__name__: kind for kind in WITH_QUERIES})  # where pickle finds them

OWN_SENTENCE = "the mistake is refused, by an InputError in our own words"
NOT_APPLICABLE = {
    "check_complex_data": OWN_SENTENCE,
    "check_dtype_object": OWN_SENTENCE + ", which is no TypeError",
    "check_estimators_empty_data_messages": OWN_SENTENCE,
    "check_fit2d_1sample": OWN_SENTENCE,
    "check_fit2d_predict1d": OWN_SENTENCE,
    "check_n_features_in_after_fitting": OWN_SENTENCE,
    "check_requires_y_none": OWN_SENTENCE,
    "check_array_api_input": "rankers compute in numpy and C++; the check runs only if SCIPY_ARRAY_API is set",
}
NOT_ALLOWED_DEFAULT = (
    "MPBoostWithQueries",
    "check_parameters_default_constructible",
)  # a Distance is not callable


def checks_of(kind):
    with warnings.catch_warnings():
        # Deriving from BaseEstimator would make every command import scikit-learn, so rankers do without.
        warnings.filterwarnings("ignore", "Estimator .* does not inherit from")
        generated = list(estimator_checks_generator(checked(kind)))
    pairs = [(name_of(check), estimator, check) for estimator, check in generated]
    return [(*one, kind.__name__) for one in pairs if (kind.__name__, one[0]) != NOT_ALLOWED_DEFAULT]


def name_of(check):
    return getattr(check, "func", check).__name__


CHECKS = [one for kind in WITH_QUERIES for one in checks_of(kind)]


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=f"{kind}-{name}")
        for name, estimator, check, kind in CHECKS
        if name not in NOT_APPLICABLE
    ],
)
@pytest.mark.filterwarnings("ignore:There are only two labels")
def test_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", sorted(NOT_APPLICABLE.keys() - {"check_array_api_input"}))
def test_the_list_of_checks_that_do_not_apply_is_not_too_long(name):
    estimator, check = next((e, c) for n, e, c, kind in CHECKS if n == name and kind == "LambdaMARTWithQueries")
    with pytest.raises((AssertionError, InputError, ValueError, np.exceptions.ComplexWarning)):
        check(estimator)


# Query ids


@every_ranker
@pytest.mark.parametrize("method", ["fit", "score"])
def test_a_call_without_query_ids_says_what_to_add(kind, method):
    X, y, qid = judged()
    ranker = quick(kind).fit(X, y, qid)
    sentence = (
        rf"{method} needs labels and query ids: {method}\(X, y, qid\) or {method}\(data\); within scikit-learn"
    )
    for given in ((X, y), (X,)):
        with pytest.raises(InputError, match=sentence) as error:
            getattr(ranker, method)(*given)
        assert str(error.value).endswith("GridSearchCV(..., cv=GroupKFold()).fit(X, y, qid=qid, groups=qid).")


@pytest.mark.slow
@every_ranker
def test_cross_validation_and_pipelines_route_query_ids(kind):
    X, y, qid = judged()
    with config_context(enable_metadata_routing=True):
        given = {"qid": qid, "groups": qid}
        alone = cross_val_score(quick(kind), X, y, params=given, cv=GroupKFold(3))
        pipeline = make_pipeline(StandardScaler(), quick(kind))
        piped = cross_val_score(pipeline, X, y, params=given, cv=GroupKFold(3))
        fitted = pipeline.fit(X, y, qid=qid)
        scores = fitted.predict(X, qid=qid)
        value = fitted.score(X, y, qid=qid)
    by_hand = [
        quick(kind).fit(X[train], y[train], qid[train]).score(X[test], y[test], qid[test])
        for train, test in GroupKFold(3).split(X, y, qid)
    ]
    assert alone.tolist() == by_hand
    assert piped.shape == (3,)
    assert np.isfinite(piped).all()
    scaled = StandardScaler().fit_transform(X)
    expected = quick(kind).fit(scaled, y, qid)
    np.testing.assert_array_equal(scores, expected.predict(scaled, qid))
    assert value == expected.score(scaled, y, qid)


def test_a_search_over_a_pipeline_routes_query_ids():
    X, y, qid = judged()
    pipeline = make_pipeline(StandardScaler(), rw.LambdaMART(rounds=3))
    with config_context(enable_metadata_routing=True):
        grid = {"lambdamart__max_leaves": [2, 4]}
        search = GridSearchCV(pipeline, grid, cv=GroupKFold(3)).fit(X, y, qid=qid, groups=qid)
        assert search.score(X, y, qid=qid) == search.best_estimator_.score(X, y, qid=qid)


# Data in one object, and attributes


@every_ranker
def test_fit_predict_and_score_take_data_alike(kind):
    data = judged()
    ranker = quick(kind).fit(data)
    expected = quick(kind).fit(*data)
    scores = expected.predict(data.X, data.qid)
    np.testing.assert_array_equal(ranker.predict(data), scores)
    np.testing.assert_array_equal(ranker.predict(Documents(data.X, data.qid)), scores)
    assert ranker.score(data) == expected.score(*data)
    with pytest.raises(
        InputError, match=r"score takes RankingData alone, without y and qid\. To add labels to Documents, call"
    ):
        ranker.score(Documents(data.X, data.qid))


@every_ranker
def test_attributes_of_a_fitted_estimator(kind):
    X, y, qid = judged()
    ranker = quick(kind)
    with pytest.raises(NotFittedError):
        check_is_fitted(ranker)
    ranker.fit(pd.DataFrame(X, columns=list("abcde")), y, qid)
    check_is_fitted(ranker)
    assert ranker.n_features_in_ == 5
    assert ranker.feature_names_in_.tolist() == list("abcde")
    assert not hasattr(ranker.fit(X, y, qid), "feature_names_in_")
    tags = ranker.__sklearn_tags__()
    assert (tags.target_tags.required, tags.input_tags.allow_nan, tags.input_tags.sparse) == (True, True, True)


# Copies


@every_ranker
def test_pickle_deepcopy_and_joblib_keep_a_fitted_ranker(kind, tmp_path):
    data = judged()
    ranker = quick(kind).fit(data)
    joblib.dump(ranker, tmp_path / "ranker")
    for copied in (pickle.loads(pickle.dumps(ranker)), copy.deepcopy(ranker), joblib.load(tmp_path / "ranker")):
        assert copied.get_params() == ranker.get_params()
        np.testing.assert_array_equal(copied.predict(data), ranker.predict(data))


def test_a_clone_has_companions_of_its_own():
    ranker = rw.CalibratedAdaBoost(companions=[rw.RankSVM(C=3.0), rw.MART(rounds=4)], **POOL)
    assert ranker.get_params(deep=True)["companions"] is ranker.companions
    other = clone(ranker)
    assert [type(one) for one in other.companions] == [rw.RankSVM, rw.MART]
    assert [one.get_params() for one in other.companions] == [one.get_params() for one in ranker.companions]
    assert all(a is not b for a, b in zip(ranker.companions, other.companions, strict=True))
    ranker.fit(judged())
    assert not any(hasattr(one, "model_") for one in ranker.companions)


def test_threads_may_fit_clones_and_share_a_fitted_ranker():
    data = judged()
    ranker = quick(rw.LambdaMART).fit(data)
    expected = ranker.predict(data)
    with ThreadPoolExecutor(4) as workers:
        refitted = [workers.submit(lambda: clone(ranker).fit(data).predict(data)) for _ in range(8)]
        scored = [workers.submit(ranker.predict, data) for _ in range(8)]
        for one in refitted + scored:
            np.testing.assert_array_equal(one.result(), expected)
