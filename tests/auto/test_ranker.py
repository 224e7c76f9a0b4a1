import json
import pickle
import re

import numpy as np
import pytest
import sklearn
from sklearn.base import clone

import rankwright as rw
from auto.examples import METRIC, judged, plan_of, rankers, shuffled
from custom_metrics import MeanRank
from rankwright.auto import plan as planning
from rankwright.auto.portfolio import PORTFOLIO
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.metrics import NDCG, as_metric
from rankwright.models.model_file import encode
from rankwright.training.training_set import TrainingSet
from reference import auto as slow

DATA, TEST = judged(), judged(seed=2)


def auto(portfolio=None, **parameters):
    return rw.AutoRanker(portfolio=rankers() if portfolio is None else portfolio, **{"n_jobs": 1} | parameters)


@pytest.fixture(scope="module")
def fitted():
    return auto().fit(DATA)


# An estimator like every other


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_scikit_learn_can_be_asked_to_pass_weights():
    ranker = rw.AutoRanker().set_fit_request(sample_weight=True)
    assert ranker.get_metadata_routing().fit.requests["sample_weight"] is True


@pytest.mark.usefixtures("routing")
def test_a_clone_has_the_parameters_and_nothing_else(fitted):
    copy = clone(fitted)
    assert not hasattr(copy, "model_")
    assert not hasattr(copy, "standings_")
    assert repr(copy) == repr(fitted)
    assert encode(copy.fit(DATA).model_) == encode(fitted.model_)


def test_parameters_are_kept_as_given_and_read_as_values():
    ranker = rw.AutoRanker("map", time_limit="10m", portfolio="ranksvm,lambdamart", companions=["lightgbm"])
    assert ranker.get_params()["metric"] == "map"
    assert ranker.metric == as_metric("map")
    assert ranker.time_limit == 600.0
    assert [type(one) for one in ranker.portfolio] == [rw.RankSVM, rw.LambdaMART]
    ranker.set_params(time_limit=None, max_microseconds=5.0, interpretable=True)
    assert (ranker.time_limit, ranker.max_microseconds, ranker.interpretable) == (None, 5.0, True)
    with pytest.raises(InputError, match="AutoRanker has no parameter 'rounds'"):
        ranker.set_params(rounds=3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"time_limit": 0}, "time_limit must be"),
        ({"time_limit": "soon"}, "time_limit must be"),
        ({"max_microseconds": 0.0}, "max_microseconds must be"),
        ({"companions": ["ranklib"]}, "companions must be"),
        ({"portfolio": []}, "portfolio must be"),
        ({"portfolio": [rw.RankSVM]}, "portfolio must be"),
        ({"portfolio": ["ranksvn"]}, "There is no ranker 'ranksvn'; did you mean 'ranksvm'"),
        ({"random_state": -1}, "random_state must be"),
        ({"interpretable": "yes please"}, "interpretable must be"),
    ],
)
def test_values_out_of_range_are_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        rw.AutoRanker(n_jobs=1, **parameters).fit(DATA)


def test_parameters_and_a_fitted_ranker_survive_a_pickle(fitted):
    bare = rw.AutoRanker("map", portfolio=["ranksvm", {"ranker": "mart", "rounds": 5}], time_limit="10m")
    again = pickle.loads(pickle.dumps(bare))
    assert again.get_params() == bare.get_params()
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(TEST), fitted.predict(TEST))
    assert copy.estimate_ == fitted.estimate_
    assert copy.standings_ == fitted.standings_


def test_rankers_may_be_given_by_name_or_as_dicts(fitted):
    named = ["ranksvm", {"ranker": "lambdamart", "rounds": 12, "min_documents": 2}, rw.AdaRank(rounds=4)]
    np.testing.assert_array_equal(auto(named).fit(DATA).predict(TEST), fitted.predict(TEST))


def test_the_rankers_of_the_portfolio_stay_as_they_were(fitted):
    assert not any(hasattr(one, "model_") for one in fitted.portfolio)
    assert fitted.portfolio[0].n_jobs is None


def test_arrays_data_and_a_training_set_are_the_same(fitted):
    for given in ((DATA.X, DATA.y, DATA.qid), (DATA,), (TrainingSet(DATA),)):
        assert encode(auto().fit(*given).model_) == encode(fitted.model_)


def test_arguments_that_fit_does_not_have_are_refused():
    with pytest.raises(InputError, match=r"fit has no argument 'eval_set': write fit.*validation="):
        auto().fit(DATA, eval_set=TEST)
    with pytest.raises(InputError, match="fit has no argument 'metric': it is a parameter of the ranker"):
        auto().fit(DATA, metric="map")
    with pytest.raises(InputError, match="fit has no argument 'validaton'; did you mean 'validation'"):
        auto().fit(DATA, validaton=TEST)


# The model


def test_predictions_are_those_of_the_saved_model(fitted, tmp_path):
    rw.save(fitted, tmp_path / "auto.rw")
    loaded = rw.load(tmp_path / "auto.rw")
    assert loaded.predict(TEST).tobytes() == fitted.predict(TEST).tobytes()
    assert loaded.about == fitted.model_.about
    np.testing.assert_array_equal(loaded.rank(TEST), fitted.rank(TEST))


def test_the_model_knows_its_estimate_and_its_members(fitted):
    about = json.loads(json.dumps(fitted.model_.about, allow_nan=False))
    assert about["ranker"] == "AutoRanker"
    assert about["estimate"] == json.loads(json.dumps(fitted.estimate_.to_dict()))
    assert about["judged"] == "judged out of fold by 12 queries in 10 folds, 2 times"
    assert (about["documents"], about["queries"]) == (72, 12)
    assert "rounds" not in about  # each member has its own
    for row, found in zip(fitted.standings_, about["members"], strict=True):
        assert found == {"name": row.name, "value": row.value, "weight": row.weight, "rounds": row.rounds or None}
    assert "work" not in about["parameters"]
    assert "n_jobs" not in about["parameters"]


def test_the_same_data_give_the_same_bytes(fitted, tmp_path):
    again = auto(work=tmp_path / "work").fit(shuffled(DATA))
    assert encode(again.model_) == encode(fitted.model_)


def test_what_was_fitted_is_shown_as_results(fitted):
    standings, estimate = fitted.standings_, fitted.estimate_
    assert isinstance(standings, rw.Result)
    assert re.fullmatch(r"<Standings: The mixture has [23] members; \w+ weighs most, [\d.]+ %\.>", repr(standings))
    for shown in (standings, estimate, estimate.best_member):
        bundle = shown._repr_mimebundle_()
        assert "(name=" not in bundle["text/plain"]
        assert "text/html" in bundle
    assert list(standings.frame()["member"]) == [member.name for member in standings]
    assert standings[0] is standings[:2][0] is standings.rows[0]


def test_standings_are_sorted_by_weight_and_have_times(fitted):
    weights = [one.weight for one in fitted.standings_]
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) == pytest.approx(1.0)
    assert all(one.seconds > 0 and one.microseconds > 0 for one in fitted.standings_)


def test_categories_are_kept_and_translated():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(DATA.X, columns=["bm25", "clicks", "age", "length"])
    frame["kind"] = np.random.default_rng(0).choice(["news", "blog", "shop"], len(frame))
    frame["label"], frame["qid"] = DATA.y, DATA.qid
    data = rw.from_pandas(frame, categorical=["kind"])
    found = auto().fit(data)
    assert found.model_.categories == data.categories
    assert found.model_.feature_names[:4] == ("bm25", "clicks", "age", "length")
    backwards = frame.drop(columns="label").iloc[:, ::-1]
    np.testing.assert_array_equal(found.predict(backwards, frame["qid"]), found.predict(data))


def test_feature_names_are_kept_and_features_are_found_by_name():
    names = ["bm25", "clicks", "age", "length"]
    found = auto().fit(judged(feature_names=names))
    assert found.model_.feature_names == tuple(names)
    assert found.feature_names_in_.tolist() == names
    assert found.estimate_.best_feature.name in {*names, *(f"{one}, ascending" for one in names)}
    swapped = RankingData(TEST.X[:, ::-1], TEST.y, TEST.qid, feature_names=names[::-1])
    np.testing.assert_array_equal(found.predict(swapped), auto().fit(DATA).predict(TEST))


def test_the_model_is_better_than_chance_and_about_as_good_as_estimated():
    found = auto().fit(judged(40))
    test = judged(300, seed=3)
    value = METRIC(test.y, found.predict(test), test.qid)
    low, high = found.estimate_.interval
    assert low < value < high
    assert found.score(test) == pytest.approx(value)


# Validation data


def halves(data):
    return data.take_queries(np.arange(7)), data.take_queries(np.arange(7, 12))


def test_validation_data_join_the_training_data(fitted):
    train, valid = halves(DATA)
    found = auto().fit(train, validation=valid)
    np.testing.assert_array_equal(found.predict(TEST), fitted.predict(TEST))
    assert found.estimate_ == fitted.estimate_
    assert found.model_.about["queries"] == 12


def test_equal_names_of_queries_in_both_parts_are_different_queries(fitted):
    train, valid = halves(DATA)
    renamed = RankingData(valid.X, valid.y, valid.groups.query_of_row)
    assert auto().fit(train, validation=(*renamed,)).estimate_ == fitted.estimate_


def test_a_refit_changes_nothing(fitted):
    train, valid = halves(DATA)
    found = auto().fit(train, validation=valid, refit=True)
    np.testing.assert_array_equal(found.predict(TEST), fitted.predict(TEST))
    assert len(found.history_) == 3


def test_weights_and_validation_data_do_not_go_together():
    train, valid = halves(DATA)
    with pytest.raises(InputError, match="takes weights only without validation data"):
        auto().fit(train, validation=valid, sample_weight=np.ones(len(train)))


# What takes its scorer


def test_it_can_be_evaluated(fitted):
    report = rw.evaluate({"auto": fitted, "model": fitted.model_}, TEST, metrics=["ndcg@10"], n_jobs=1)
    means = [METRIC(TEST.y, fitted.predict(TEST), TEST.qid)] * 2
    assert [report.mean(system, "ndcg@10") for system in ("auto", "model")] == pytest.approx(means)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"validation": 0.25}, {"validation": 0.25, "refit": True}])
def test_it_can_be_cross_validated(options):
    seen = []
    found = rw.cross_validate(auto(), DATA, folds=3, metrics="ndcg@10", on_fold=seen.append, **options)
    assert len(seen) == 3
    assert 0.6 < found.mean("ndcg@10") <= 1.0
    assert found.ranker == "auto"


def test_it_can_be_blended_and_mixed(fitted):
    other = rw.LambdaMART(rounds=5, n_jobs=1).fit(DATA)
    blended = rw.blend(fitted, other, on=TEST, n_jobs=1)
    assert blended.alone[0] == METRIC(TEST.y, fitted.predict(TEST), TEST.qid)
    expected = blended.weights[0] * fitted.predict(TEST) + blended.weights[1] * other.predict(TEST)
    np.testing.assert_allclose(blended.model_.predict(TEST), expected, atol=1e-12)
    mixed = rw.mix_standardised([fitted, other])
    queries = TEST.qid.tolist()
    expected = slow.z_scores(fitted.predict(TEST), queries) + slow.z_scores(other.predict(TEST), queries)
    np.testing.assert_allclose(mixed.predict(TEST), expected / 2, atol=1e-12)


def test_it_can_be_started_from(fitted):
    found = rw.LambdaMART(rounds=4, n_jobs=1).fit(DATA, start=fitted)
    again = rw.LambdaMART(rounds=4, n_jobs=1).fit(DATA, start=fitted.model_)
    assert found.predict(TEST).tobytes() == again.predict(TEST).tobytes()
    assert not np.array_equal(found.predict(TEST), fitted.predict(TEST))


def test_contributions_sum_to_the_score(fitted):
    found = fitted.model_.contributions(TEST)
    np.testing.assert_allclose(found.sum(axis=1), fitted.predict(TEST), atol=1e-12)
    importances = fitted.feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert importances[:2].min() > importances[2:].max()


# Metrics


def precision_at_1(labels):
    return float(labels[0] > 0)


@pytest.mark.parametrize("metric", ["map", "err", "mean_ndcg", "ndcg@3", "p@2", MeanRank(), precision_at_1])
def test_members_are_judged_by_the_metric(metric):
    found = auto(rankers()[:2], metric=metric).fit(DATA)
    measure = as_metric(metric)
    assert found.estimate_.metric == str(measure)
    for member in found.run_.entries:
        for scores, values in zip(member.scores, member.values, strict=True):
            np.testing.assert_allclose(found.run_.plan.held_out.values(measure, scores, 1), values, atol=1e-9)
    assert 0 <= found.estimate_.value <= 1


@pytest.mark.parametrize("interpretable", [False, True])
def test_members_of_the_built_in_portfolios_optimise_the_metric(interpretable):
    entries = rw.AutoRanker("map", interpretable=interpretable)._entries(plan_of(DATA))
    assert {str(one.ranker.metric) for one in entries} == {"map"}


def test_queries_that_do_not_count_are_left_out():
    y = DATA.y.copy()
    y[DATA.groups.query_of_row < 3] = 0
    found = auto(rankers()[:2], metric=NDCG(k=10, empty=None)).fit(DATA.X, y, DATA.qid)
    assert found.estimate_.queries == 9
    json.dumps(found.model_.about, allow_nan=False)


# Bad input


def test_one_query_is_not_enough():
    with pytest.raises(InputError, match="AutoRanker needs at least 2 judged queries"):
        auto().fit(DATA.take_queries([0]))


@pytest.mark.parametrize("n_queries", [2, 3, 4])
def test_fewer_queries_than_folds_are_enough(n_queries):
    found = auto().fit(judged(n_queries))
    assert found.run_.plan.folds == n_queries
    assert np.isfinite(found.predict(TEST)).all()
    assert found.estimate_.queries == n_queries
    json.dumps(found.model_.about, allow_nan=False)


def test_one_label_teaches_nothing():
    with pytest.raises(InputError, match="There is nothing to learn: within every query all labels are equal"):
        auto().fit(DATA.X, np.ones(len(DATA)), DATA.qid)


def test_a_single_query_with_different_labels_is_not_enough():
    """Whichever part it judges in has nothing to learn from."""
    y = np.where(DATA.groups.query_of_row == 4, DATA.y, 0)
    with pytest.raises(InputError, match=r"^AutoRanker needs at least 2 queries whose labels differ"):
        auto().fit(DATA.X, y, DATA.qid)


def test_labels_must_be_numbers():
    y = DATA.y.astype(float)
    y[5] = np.nan
    with pytest.raises(InputError, match="row 5"):
        auto().fit(DATA.X, y, DATA.qid)


@pytest.mark.parametrize("options", [{"start": np.zeros(72)}, {"start": rw.RankSVM()}])
def test_a_start_is_refused(options):
    with pytest.raises(InputError, match="AutoRanker takes no start"):
        auto().fit(DATA, **options)


def test_missing_values_are_taken(fitted):
    X = DATA.X.copy()
    X[np.random.default_rng(0).uniform(size=X.shape) < 0.2] = np.nan
    X[:, 3] = np.nan
    found = auto().fit(X, DATA.y, DATA.qid)
    assert np.isfinite(found.predict(X, DATA.qid)).all()


def test_it_is_known_by_its_name():
    assert isinstance(rw.make_ranker("auto-ranker", time_limit="5m"), rw.AutoRanker)


@pytest.mark.slow
def test_all_members_of_the_built_in_portfolio_can_be_mixed(monkeypatch, tmp_path):
    monkeypatch.setattr(planning, "division_for", lambda *_: (2, 1))
    found = rw.AutoRanker(n_jobs=2).fit(judged(4))
    assert len(found.standings_) == len(PORTFOLIO)
    rw.save(found, tmp_path / "auto.rw")
    np.testing.assert_array_equal(rw.load(tmp_path / "auto.rw").predict(TEST), found.predict(TEST))
    np.testing.assert_allclose(found.model_.contributions(TEST).sum(axis=1), found.predict(TEST), atol=1e-9)
