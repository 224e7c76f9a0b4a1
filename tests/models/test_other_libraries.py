"""Other libraries' fitted models and scikit-learn's wrappers, wherever a system is expected."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.models import FeatureScorer
from rankwright.models.other_libraries import scores_by
from rankwright.models.scorer import name_of

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4)).astype(np.float32)
y = np.clip(np.round(X[:, 0] + X[:, 1] / 2), 0, 3).astype(int)
qid = np.repeat(np.arange(12), 10)
FRAME = pd.DataFrame(X, columns=["bm25", "length", "clicks", "age"])

PLAIN = RankingData(X, y, qid)
NAMED = RankingData(FRAME, y, qid)
OTHER_ORDER = RankingData(FRAME[FRAME.columns[::-1]], y, qid)
MORE_COLUMNS = RankingData(FRAME.assign(more=0.0)[["more", *FRAME.columns]], y, qid)


def lightgbm_ranker(given):
    library = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    return library.LGBMRanker(n_estimators=3, verbose=-1, min_child_samples=2, n_jobs=1).fit(
        given, y, group=[10] * 12
    )


def xgboost_ranker(given):
    library = pytest.importorskip("xgboost", reason="XGBoost is not installed")
    return library.XGBRanker(n_estimators=3, n_jobs=1).fit(given, y, qid=qid)


def catboost_ranker(given):
    library = pytest.importorskip("catboost", reason="CatBoost is not installed")
    ranker = library.CatBoostRanker(iterations=3, verbose=False, allow_writing_files=False, thread_count=1)
    return ranker.fit(given, y, group_id=qid)


FITS = {
    "LightGBM": lightgbm_ranker,
    "LightGBM's Booster": lambda given: lightgbm_ranker(given).booster_,
    "XGBoost": xgboost_ranker,
    "XGBoost's Booster": lambda given: xgboost_ranker(given).get_booster(),
    "CatBoost": catboost_ranker,
    "scikit-learn": lambda given: HistGradientBoostingRegressor(max_iter=3).fit(given, y),
    "scikit-learn's pipeline": lambda given: make_pipeline(StandardScaler(), LinearRegression()).fit(given, y),
}
every_library = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)


def own_scores(model, given):
    """The scores that a library's own call gives."""
    if hasattr(model, "inplace_predict"):
        import xgboost

        return model.predict(xgboost.DMatrix(given))
    return model.predict(given)


@every_library
def test_a_model_trained_on_an_array_takes_features_by_place(fit):
    model = fit(X)
    expected = own_scores(model, X)
    for data in (PLAIN, NAMED):
        np.testing.assert_allclose(scores_by(model, data, n_threads=1), expected, rtol=1e-6)


@every_library
def test_a_model_trained_on_a_frame_takes_features_by_name(fit):
    model = fit(FRAME)
    expected = own_scores(model, FRAME)
    for data in (NAMED, OTHER_ORDER, MORE_COLUMNS, PLAIN):
        np.testing.assert_allclose(scores_by(model, data, n_threads=1), expected, rtol=1e-6)
    missing = RankingData(FRAME.rename(columns={"age": "years"}), y, qid)
    with pytest.raises(
        InputError, match="the model was trained with the feature 'age', which the data do not have"
    ):
        scores_by(model, missing, n_threads=1)


@every_library
def test_a_model_trained_on_fewer_features_refuses_more(fit):
    model = fit(X[:, :3])
    for data in (PLAIN, NAMED):
        with pytest.raises(InputError, match=r"(?i)feature"):  # a library's own sentence or ours
            scores_by(model, data, n_threads=1)


@every_library
def test_a_model_of_another_library_is_a_system_like_any_other(fit):
    model = fit(FRAME)
    scores = np.asarray(own_scores(model, FRAME), dtype=np.float64)
    report = rw.evaluate({"theirs": model, "scores": scores}, NAMED)
    assert report.mean("theirs", "ndcg@10") == report.mean("scores", "ndcg@10")
    assert rw.evaluate(model, NAMED).systems == (type(model).__name__,)
    ours = FeatureScorer(1, n_features=4, missing=0.0, feature_names=tuple(FRAME.columns))
    mix = rw.blend(ours, model, on=NAMED, form="sum", low=0.5, high=2.0)
    assert mix.alone[1] == report.mean("theirs", "ndcg@10")
    expected = mix.weights[0] * ours.predict(NAMED) + mix.weights[1] * scores
    np.testing.assert_allclose(mix.predict(OTHER_ORDER), expected, rtol=1e-6)
    np.testing.assert_allclose(mix.predict(FRAME, qid), expected, rtol=1e-6)
    assert rw.evaluate(mix, OTHER_ORDER).mean("Blend", "ndcg@10") == pytest.approx(mix.value)
    with pytest.raises(InputError, match="This blend needs query ids, since it has models of other libraries"):
        mix.predict(FRAME)
    started = rw.LambdaMART(rounds=2, n_jobs=1).fit(NAMED, start=model)
    by_column = rw.LambdaMART(rounds=2, n_jobs=1).fit(NAMED, start=scores)
    np.testing.assert_array_equal(
        started.predict(NAMED, init_score=scores), by_column.predict(NAMED, init_score=scores)
    )
    found = rw.permutation_importance(model, OTHER_ORDER, repeats=1)
    assert next(iter(found.by_name())) == "bm25"


def test_a_model_that_cannot_score_says_why():
    model = LinearRegression().fit(X[:, :2], y)
    with pytest.raises(
        InputError, match=r"theirs cannot score the documents: X has 4 features, but LinearRegression"
    ):
        rw.evaluate({"theirs": model}, PLAIN)
    with pytest.raises(
        InputError, match=r"LambdaMART cannot score the documents: This LambdaMART is not fitted yet"
    ):
        rw.evaluate(rw.LambdaMART(), PLAIN)

    class Wordless:
        def predict(self, _):
            raise RuntimeError

    with pytest.raises(InputError, match=r"Wordless cannot score the documents: RuntimeError\(\)"):
        rw.evaluate(Wordless(), PLAIN)


def test_a_model_gets_query_ids_and_threads_if_it_takes_them():
    class Curious:
        def predict(self, X, qid, n_jobs=None):
            self.given = (qid, n_jobs)
            return X[:, :1]  # a matrix of one column

    model = Curious()
    scores = scores_by(model, PLAIN, n_threads=2)
    assert scores.shape == (120,)
    np.testing.assert_array_equal(model.given[0], qid)
    assert model.given[1] == 2


@pytest.mark.parametrize(
    "last", [rw.MART(rounds=2, n_jobs=1), rw.RankSVM(n_jobs=1)], ids=["trees", "within queries"]
)
def test_a_pipeline_that_ends_in_a_ranker_needs_no_routing(last):
    scaler = StandardScaler().set_output(transform="pandas")
    pipeline = make_pipeline(scaler, "passthrough", last)
    scaler.fit(FRAME)
    last.fit(scaler.transform(FRAME), y, qid)
    expected = last.predict(scaler.transform(FRAME), qid)
    for data in (NAMED, OTHER_ORDER):
        np.testing.assert_array_equal(scores_by(pipeline, data, n_threads=1), expected)
    assert rw.evaluate(pipeline, NAMED).systems == ("Pipeline",)


def test_names_of_models():
    ranker = rw.AdaRank(rounds=1).fit(PLAIN)
    assert name_of(ranker) == "AdaRank"
    assert name_of(ranker.model_) == "AdaRank"
    assert name_of(ranker.model_.bare()) == "linear"
