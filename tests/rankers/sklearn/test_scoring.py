"""scikit-learn's tools with rankers: searches, cross-validation, pipelines, frames, scorers and weights."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_regression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    validation_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

import rankwright as rw
from rankwright.base.errors import InputError

CV = GroupKFold(3)


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def judged(n_queries=12, n_documents=8, n_features=5, *, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n_documents, n_features)).astype(np.float32)
    y = np.clip(np.round(X[:, :2].sum(axis=1) + rng.normal(size=len(X)) / 4), 0, 3)
    return X, y, np.repeat(np.arange(n_queries), n_documents)


X, y, qid = judged()
FRAME = pd.DataFrame(X, columns=list("abcde"))
GIVEN = {"qid": qid, "groups": qid}
RANKER = rw.LambdaMART("ndcg@5", rounds=3, n_jobs=1)
PIPELINE = make_pipeline(StandardScaler(), RANKER)


def by_hand(make, metric="ndcg@5"):
    """The metric on each fold, computed without scikit-learn's tools."""
    values = []
    for train, test in CV.split(X, y, qid):
        fitted = make().fit(X[train], y[train], qid[train])
        values.append(rw.metrics.parse(metric)(y[test], fitted.predict(X[test], qid[test]), qid[test]))
    return values


# Without metadata routing


@pytest.mark.parametrize("estimator", [RANKER, PIPELINE], ids=["ranker", "pipeline"])
@pytest.mark.parametrize("given", [{}, {"qid": qid}], ids=["nothing", "qid"])
@pytest.mark.parametrize(
    "tool",
    [
        lambda one, given: cross_val_score(one, X, y, groups=qid, cv=CV, params=given),
        lambda one, given: cross_validate(one, X, y, groups=qid, cv=CV, params=given),
        lambda one, given: learning_curve(one, X, y, groups=qid, cv=CV, params=given),
        lambda one, given: validation_curve(
            one, X, y, groups=qid, cv=CV, params=given, param_name="rounds", param_range=[1]
        ),
    ],
    ids=["cross_val_score", "cross_validate", "learning_curve", "validation_curve"],
)
def test_cross_validation_without_routing_says_the_two_lines_to_add(tool, estimator, given):
    with pytest.raises(InputError) as error:
        tool(estimator, given)
    assert str(error.value) == (
        "Without metadata routing scikit-learn passes no query ids to LambdaMART: call "
        "sklearn.set_config(enable_metadata_routing=True), then cross_val_score(..., cv=GroupKFold(), "
        "params={'qid': qid, 'groups': qid})."
    )


@pytest.mark.parametrize("estimator", [RANKER, PIPELINE], ids=["ranker", "pipeline"])
@pytest.mark.parametrize("given", [{}, {"qid": qid}], ids=["nothing", "qid"])
@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV])
def test_a_search_without_routing_says_the_two_lines_to_add(search, estimator, given):
    grid = {"lambdamart__rounds" if estimator is PIPELINE else "rounds": [1, 2]}
    options = {"n_iter": 2} if search is RandomizedSearchCV else {}
    with pytest.raises(InputError) as error:
        search(estimator, grid, cv=CV, **options).fit(X, y, groups=qid, **given)
    assert str(error.value).endswith(
        "call sklearn.set_config(enable_metadata_routing=True), then "
        "GridSearchCV(..., cv=GroupKFold()).fit(X, y, qid=qid, groups=qid)."
    )


def test_without_routing_clones_and_predictions_out_of_fold_still_work():
    assert clone(PIPELINE)[-1].rounds == 3
    assert clone([RANKER])[0].rounds == 3
    found = cross_val_predict(RANKER, X, y, groups=qid, cv=CV, params={"qid": qid})
    for train, test in CV.split(X, y, qid):
        np.testing.assert_array_equal(
            found[test], clone(RANKER).fit(X[train], y[train], qid[train]).predict(X[test])
        )
    with pytest.raises(InputError, match="fit needs labels and query ids"):
        cross_val_predict(RANKER, X, y, groups=qid, cv=CV)


# With metadata routing


def test_cross_validation_measures_the_metric_of_the_ranker(routing):
    expected = by_hand(lambda: clone(RANKER))
    assert cross_val_score(RANKER, X, y, cv=CV, params=GIVEN).tolist() == expected
    assert cross_validate(RANKER, X, y, cv=CV, params=GIVEN)["test_score"].tolist() == expected
    frames = {"qid": pd.Series(qid), "groups": pd.Series(qid)}
    assert cross_val_score(RANKER, FRAME, pd.Series(y), cv=CV, params=frames).tolist() == expected
    by_map = clone(RANKER).set_params(metric="map")
    assert cross_val_score(by_map, X, y, cv=CV, params=GIVEN).tolist() == by_hand(lambda: clone(by_map), "map")


def test_a_missing_query_id_is_told_with_routing_too(routing):
    with pytest.raises(ValueError, match=r"fit needs labels and query ids: fit\(X, y, qid\)"):
        cross_val_score(RANKER, X, y, cv=CV, params={"groups": qid})


@pytest.mark.parametrize("kind", [rw.LambdaMART, rw.RankSVM])
def test_metrics_as_scorers(routing, kind):
    ranker = kind(n_jobs=1).set_params(**({"rounds": 3} if kind is rw.LambdaMART else {}))
    pipeline = make_pipeline(StandardScaler(), ranker)

    def best_first(labels):
        return labels[0]

    scoring = {"map": rw.make_scorer("map"), "first": rw.make_scorer(best_first)}
    found = cross_validate(ranker, X, y, cv=CV, params=GIVEN, scoring=scoring)
    assert found["test_map"].tolist() == by_hand(lambda: clone(ranker), "map")
    assert 0 < found["test_first"].mean() <= 3
    one = cross_val_score(ranker, X, y, cv=CV, params=GIVEN, scoring=rw.make_scorer("map"))
    assert one.tolist() == found["test_map"].tolist()
    piped = cross_val_score(pipeline, X, y, cv=CV, params=GIVEN, scoring=rw.make_scorer("map"))
    assert np.isfinite(piped).all()


def test_a_scorer_works_alone_and_on_other_estimators():
    from sklearn.linear_model import LinearRegression

    scorer = rw.make_scorer("MAP")
    assert repr(scorer) == "make_scorer('map')"
    other = LinearRegression().fit(X, y)
    assert scorer(other, X, y, qid=qid) == rw.metrics.AP()(y, other.predict(X), qid)
    with pytest.raises(InputError, match=r"The metric map needs query ids: call sklearn.set_config"):
        scorer(other, X, y)


def test_grid_search(routing):
    search = GridSearchCV(RANKER, {"rounds": [1, 4], "metric": ["ndcg@5"]}, cv=CV).fit(X, y, **GIVEN)
    expected = [np.mean(by_hand(lambda n=n: clone(RANKER).set_params(rounds=n))) for n in (1, 4)]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-15)
    assert search.best_params_["metric"] == "ndcg@5"
    assert search.score(X, y, qid=qid) == search.best_estimator_.score(X, y, qid=qid)
    np.testing.assert_array_equal(search.predict(X), search.best_estimator_.predict(X, qid=qid))
    best = rw.evaluate(search, (X, y, qid), metrics="ndcg@5")
    assert best.mean("LambdaMART", "ndcg@5") == search.score(X, y, qid=qid)


def test_randomised_search_over_a_pipeline(routing):
    grid = {"lambdamart__max_leaves": [2, 3, 4], "lambdamart__learning_rate": [0.1, 0.3]}
    search = RandomizedSearchCV(PIPELINE, grid, n_iter=3, cv=CV, random_state=0).fit(X, y, **GIVEN)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    fitted = search.best_estimator_
    report = rw.evaluate({"search": search, "scores": fitted.predict(X, qid=qid)}, (X, y, qid))
    assert report.mean("search", "map") == report.mean("scores", "map")


def test_predictions_out_of_fold(routing):
    found = cross_val_predict(RANKER, X, y, cv=CV, params=GIVEN)
    train, test = next(CV.split(X, y, qid))
    np.testing.assert_array_equal(found[test], clone(RANKER).fit(X[train], y[train], qid[train]).predict(X[test]))
    # scikit-learn does not pass query ids to predict here, which some models need.
    with pytest.raises(InputError, match="scores documents relative to their query, so query ids are needed"):
        cross_val_predict(rw.RankSVM(), X, y, cv=CV, params=GIVEN)


@pytest.mark.parametrize("last", [RANKER, rw.RankSVM(n_jobs=1)], ids=["trees", "within the query"])
def test_pipelines_with_transformers_in_front(routing, last):
    frame = FRAME.assign(kind=["page", "news"] * (len(X) // 2))
    columns = ColumnTransformer(
        [("numbers", MinMaxScaler(), ["a", "b", "c"]), ("kind", OneHotEncoder(), ["kind"])], sparse_threshold=0
    )
    pipeline = make_pipeline(columns, SelectKBest(f_regression, k=3), clone(last)).fit(frame, y, qid=qid)
    made = pipeline[:-1].transform(frame)
    expected = clone(last).fit(made, y, qid)
    np.testing.assert_array_equal(pipeline.predict(frame, qid=qid), expected.predict(made, qid))
    assert pipeline.score(frame, y, qid=qid) == expected.score(made, y, qid)
    assert np.isfinite(cross_val_score(pipeline, frame, y, cv=CV, params=GIVEN)).all()


def test_frames_between_steps_give_names(routing):
    scaler = StandardScaler().set_output(transform="pandas")
    pipeline = make_pipeline(scaler, SelectKBest(f_regression, k=2).set_output(transform="pandas"), clone(RANKER))
    pipeline.fit(FRAME, y, qid=qid)
    assert pipeline[-1].feature_names_in_.tolist() == ["a", "b"]
    assert list(pipeline[-1].importances()) in (["a", "b"], ["b", "a"])
    np.testing.assert_array_equal(
        pipeline.predict(FRAME, qid=qid), pipeline[-1].predict(pipeline[:-1].transform(FRAME))
    )


def test_weights_are_routed(routing):
    weights = np.random.default_rng(0).uniform(0.1, 5.0, len(X))
    weighted = clone(RANKER).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
    found = cross_val_score(weighted, X, y, cv=CV, params={**GIVEN, "sample_weight": weights})
    expected = [
        clone(RANKER).fit(X[a], y[a], qid[a], sample_weight=weights[a]).score(X[b], y[b], qid[b])
        for a, b in CV.split(X, y, qid)
    ]
    assert found.tolist() == expected
    assert found.tolist() != cross_val_score(RANKER, X, y, cv=CV, params=GIVEN).tolist()


@pytest.mark.parametrize(
    "ranker",
    [rw.MART(rounds=30, n_jobs=1), rw.RankSVM(n_jobs=1), rw.RankNet(rounds=20, learning_rate=0.05, n_jobs=1)],
)
def test_features_are_selected_by_importances(routing, ranker):
    X, y, qid = judged(60)
    frame = pd.DataFrame(X, columns=list("abcde"))
    fitted = clone(ranker).fit(frame, y, qid)
    selected = SelectFromModel(fitted, max_features=2, threshold=-np.inf, prefit=True).fit(frame)
    assert set(selected.get_feature_names_out()) == {"a", "b"}
    rfe = RFE(clone(ranker), n_features_to_select=2).fit(X, y, qid=qid)
    assert rfe.support_[:2].all()
