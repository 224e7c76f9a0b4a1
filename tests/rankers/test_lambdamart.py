from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import pytest

import rankwright as rw
from rankwright import LambdaMART
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.data.groups import Ranking
from rankwright.metrics import AP, DCG, ERR, NDCG, RR, Gain, KendallTau, Metric, Precision, Ties
from rankwright.models import QueryFeatureScorer, TreeEnsemble
from rankwright.models.model_file import encode
from rankwright.rankers.shared.tree_ranker import (
    feature_fraction_for,
    leaves_for,
    min_documents_for,
    subsample_for,
)
from rankwright.training.learners.tree import TreeLearner
from shared_data import SHARED, needs_shared_data


def judged(n_queries=30, n_documents=12, n_features=5, *, seed=1):
    """Queries whose labels follow a product of two features and a third: no single one ranks them well."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_queries * n_documents, n_features)), 1).astype(np.float32)
    value = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=len(X)) / 3
    return RankingData(X, np.clip(np.round(value), 0, 3), np.repeat(np.arange(n_queries), n_documents))


TRAIN, TEST = judged(), judged(seed=2)


def fitted(data=TRAIN, *, validation=None, sample_weight=None, query_weight=None, **parameters):
    few = {"rounds": 8, "learning_rate": 0.2, "n_jobs": 1}
    return LambdaMART(**few | parameters).fit(
        data, validation=validation, sample_weight=sample_weight, query_weight=query_weight
    )


EVERYTHING = {"subsample": 1.0, "feature_fraction": 1.0, "truncation": None, "min_hessian": 0.0, "l2": 0.0}


# It learns


@pytest.mark.parametrize(
    "metric",
    [NDCG(k=5), NDCG(), DCG(k=3), AP(), RR(), ERR(k=5, max_label=3), Precision(k=3)],
    ids=str,
)
def test_training_improves_the_metric(metric):
    ranker = fitted(metric=metric, rounds=20)
    values = [this.train for this in ranker.history_]
    by_chance = metric(TRAIN.y, np.zeros(len(TRAIN)), TRAIN.qid)
    assert by_chance < values[0] < values[-1]
    assert ranker.score(*TRAIN) == pytest.approx(values[-1], rel=1e-12)
    assert ranker.score(*TEST) > metric(TEST.y, np.zeros(len(TEST)), TEST.qid)


def test_a_single_tree_is_the_newton_step_of_the_paper():
    y, qid = [1.0, 0.0], [1, 1]
    ranker = fitted(RankingData([[5.0], [3.0]], y, qid), metric=NDCG(), rounds=1, **EVERYTHING)
    # One pair, scores equal: lambda = |delta| / 2 and its derivative |delta| / 4, so that a leaf's value is 2.
    np.testing.assert_allclose(ranker.predict([[5.0], [3.0]]), [0.2 * 2, -0.2 * 2], rtol=1e-6)


def test_the_model_is_trees_and_the_history_their_number():
    ranker = fitted(rounds=5)
    assert isinstance(ranker.model_, TreeEnsemble)
    assert ranker.model_.n_trees == len(ranker.history_) == 5
    assert {this.weight for this in ranker.history_} == {0.2}


def test_more_rounds_continue_the_same_model():
    short, long = fitted(rounds=4), fitted(rounds=9)
    assert long.model_.first(4).predict(TEST).tobytes() == short.predict(TEST).tobytes()


def test_it_beats_the_best_feature():
    best = max(NDCG(k=10)(TEST.y, TEST.X[:, feature], TEST.qid) for feature in range(TEST.n_features))
    assert fitted(rounds=60).score(*TEST) > best + 0.04


# A metric of one's own


@dataclass(frozen=True)
class FirstFailure(Metric):
    """How far a reader gets who stops at the first document that is not worth reading."""

    def of_ranking(self, labels):
        worthless = np.flatnonzero(labels < 2)
        return float(worthless[0] if len(worthless) else len(labels)) / len(labels)


@dataclass(frozen=True)
class Worst(Metric):
    """Only whether the last place has a document of label 0."""

    def of_ranking(self, labels):
        return float(labels[-1] == 0)


@dataclass(frozen=True)
class Constant(Metric):
    def of_ranking(self, _labels):
        return 0.5


def two_goals(seed):
    """Feature 0 finds the best documents, feature 1 the worst: NDCG cares for the first, `Worst` for the other."""
    rng = np.random.default_rng(seed)
    y = rng.choice([0, 1, 2], p=[0.15, 0.45, 0.4], size=60 * 10).astype(float)
    noise = rng.normal(size=(600, 2))
    X = np.column_stack([(y == 2) + 0.5 * noise[:, 0], (y > 0) + 0.5 * noise[:, 1]])
    return RankingData(X, y, np.repeat(np.arange(60), 10))


@pytest.mark.slow
def test_a_metric_of_ones_own_trains_and_beats_ndcg_on_itself():
    train, test = two_goals(1), two_goals(2)
    options = {"rounds": 25, "max_leaves": 4, "truncation": None}
    metrics = Worst(ties=Ties.STABLE), NDCG(k=1)  # to average over the orders of ties takes long
    own, by_ndcg = (fitted(train, metric=metric, **options) for metric in metrics)
    values = [Worst()(test.y, ranker.predict(test), test.qid) for ranker in (own, by_ndcg)]
    assert values[0] > values[1] + 0.02


def test_a_metric_without_a_closed_form_learns():
    ranker = fitted(judged(15, 8), metric=FirstFailure(), rounds=10)
    assert ranker.history_[-1].train > ranker.history_[0].train


@pytest.mark.parametrize("metric", [Constant(), NDCG(gain=Gain.table(1, 1, 1, 1))], ids=str)
def test_a_metric_that_no_swap_changes_is_told(metric):
    with pytest.raises(InputError, match="There is nothing to learn: no swap of documents changes"):
        fitted(metric=metric)


# Parameters


@pytest.mark.parametrize(
    "changed",
    [
        {"learning_rate": 0.3},
        {"max_leaves": 3},
        {"min_documents": 40},
        {"min_hessian": 5.0},
        {"l2": 50.0},
        {"subsample": 0.3},
        {"subsample_by": "queries"},
        {"subsample_by": "gradient"},
        {"feature_fraction": 0.8},
        {"truncation": 1},
        {"query_features": ["rank"]},
        {"monotone": {2: -1}},
        {"max_bins": 4},
        {"random_state": 1},
        {"metric": AP()},
    ],
    ids=str,
)
def test_every_parameter_has_an_effect(changed):
    assert fitted(**changed).predict(TEST).tobytes() != fitted().predict(TEST).tobytes()


@pytest.mark.parametrize("parameters", [{"max_leaves": 3}, {"max_leaves": 100}, {"min_documents": 50}], ids=str)
def test_trees_keep_to_their_limits(parameters):
    model = fitted(**parameters, subsample=1.0).model_
    assert np.diff(model.splits).max() < parameters.get("max_leaves", 8)
    assert model.cover.min() >= parameters.get("min_documents", 1)


def test_max_bins_bounds_the_thresholds_of_a_feature():
    model = fitted(max_bins=3, rounds=30).model_
    for feature in range(TRAIN.n_features):
        assert len(np.unique(model.threshold[model.feature == feature])) <= 2


def test_a_large_l2_shrinks_the_leaves():
    plain, shrunk = (np.abs(fitted(rounds=1, l2=l2).model_.leaf_value).max() for l2 in (0.0, 1000.0))
    assert shrunk < plain / 10


@pytest.mark.parametrize(("direction", "query_features"), [(1, []), (-1, []), (1, ["rank"])])
def test_scores_are_monotone_in_a_feature_that_must_be(direction, query_features):
    ranker = fitted(rounds=30, monotone={2: direction, 3: 0}, query_features=query_features)
    grid = np.arange(-3, 3, 0.25, dtype=np.float32)
    for row in TEST.X[:20]:
        X = np.repeat(row[None], len(grid), axis=0)
        X[:, 2] = grid
        assert (direction * np.diff(ranker.predict(X, qid=1)) >= 0).all()


def test_monotone_takes_text_as_a_name_or_without_names_as_a_number_from_1():
    X, y, qid = TRAIN
    by_column = fitted(monotone={2: -1}).predict(X).tobytes()
    assert fitted(monotone={"3": -1}).predict(X).tobytes() == by_column
    digits = RankingData(X, y, qid, feature_names=["3", "2", "1", "0", "9"])
    assert fitted(digits, monotone={"1": -1}).predict(X).tobytes() == by_column
    with pytest.raises(InputError, match="monotone names the feature '4'"):
        fitted(digits, monotone={"4": 1})


def test_monotone_takes_names_and_numbers_of_numpy():
    X, y, qid = TRAIN
    named = RankingData(X, y, qid, feature_names=list("abcde"))
    by_name, by_number = fitted(named, monotone={"c": -1}), fitted(named, monotone={np.int64(2): np.int8(-1)})
    assert by_name.predict(X).tobytes() == by_number.predict(X).tobytes()
    assert fitted(monotone={}).predict(X).tobytes() == fitted().predict(X).tobytes()


def test_numbers_of_numpy_will_do():
    wanted = fitted(max_leaves=5, max_bins=63, l2=2.0, subsample=0.5, learning_rate=0.25)
    found = fitted(
        max_leaves=np.int32(5),
        max_bins=np.int64(63),
        l2=np.int64(2),
        subsample=np.float32(0.5),
        learning_rate=np.float32(0.25),
    )
    assert found.predict(TEST).tobytes() == wanted.predict(TEST).tobytes()
    assert encode(found.model_)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"learning_rate": 0}, "learning_rate must be a positive number, not 0."),
        ({"learning_rate": -0.1}, "learning_rate must be a positive number, not -0.1."),
        ({"learning_rate": np.nan}, "learning_rate must be a positive number, not nan."),
        ({"learning_rate": np.inf}, "learning_rate must be a positive number, not inf."),
        ({"learning_rate": "fast"}, "learning_rate must be a positive number, not 'fast'."),
        ({"max_leaves": 1}, "max_leaves must be None or an integer of at least 2, not 1."),
        ({"max_leaves": 7.5}, "max_leaves must be None or an integer of at least 2, not 7.5."),
        ({"min_documents": 0}, "min_documents must be None or a positive integer, not 0."),
        ({"min_hessian": -1}, "min_hessian must be a non-negative number, not -1."),
        ({"l2": -0.5}, "l2 must be a non-negative number, not -0.5."),
        ({"l2": None}, "l2 must be a non-negative number, not None."),
        ({"subsample": 0.0}, "subsample must be None or a number above 0 and at most 1, not 0.0."),
        ({"subsample": 1.5}, "subsample must be None or a number above 0 and at most 1, not 1.5."),
        ({"subsample": np.nan}, "subsample must be None or a number above 0 and at most 1, not nan."),
        ({"subsample": True}, "subsample must be None or a number above 0 and at most 1, not True."),
        ({"coarse": "very"}, "coarse must be None, True or False, not 'very'."),
        ({"subsample_by": "rows"}, "subsample_by must be 'documents', 'queries' or 'gradient', not 'rows'."),
        ({"feature_fraction": 0}, "feature_fraction must be None or a number above 0 and at most 1, not 0."),
        ({"feature_fraction": 2}, "feature_fraction must be None or a number above 0 and at most 1, not 2."),
        ({"truncation": 0}, "truncation must be None or a positive integer, not 0."),
        (
            {"query_features": ["rang"]},
            "query_features must be a list of distinct values, each 'zscore', 'rank' or 'minmax', not .*'rang'",
        ),
        (
            {"query_features": "rang"},
            "query_features must be a list of distinct values, each 'zscore', 'rank' or 'minmax', not .*'rang'",
        ),
        (
            {"query_features": None},
            "query_features must be a list of distinct values, each 'zscore', 'rank' or 'minmax', not .*None",
        ),
        ({"monotone": {9: 1}}, "monotone names the feature 9, which the data do not have."),
        ({"monotone": {-1: 1}}, "monotone names the feature -1, which the data do not have."),
        ({"monotone": {"bm25": 1}}, "monotone names the feature 'bm25', which the data do not have."),
        ({"monotone": {True: 1}}, "monotone names the feature True, which the data do not have."),
        ({"monotone": {0: 2}}, "monotone must be None or a mapping .* to -1, 0 or 1, not .0: 2."),
        ({"monotone": {0: 300}}, "monotone must be None or a mapping .* to -1, 0 or 1, not .0: 300."),
        ({"monotone": {0: "up"}}, "monotone must be None or a mapping .* to -1, 0 or 1, not .0: 'up'."),
        (
            {"monotone": [1, 0]},
            "monotone must be None or a mapping from feature numbers or names to -1, 0 or 1, not .1, 0..",
        ),
        ({"max_bins": 1}, "max_bins must be an integer from 2 to 255, not 1."),
        ({"max_bins": 256}, "max_bins must be an integer from 2 to 255, not 256."),
        ({"max_bins": 63.5}, "max_bins must be an integer from 2 to 255, not 63.5."),
        ({"random_state": -1}, "random_state must be a non-negative integer, not -1."),
        ({"random_state": None}, "random_state must be a non-negative integer, not None."),
    ],
    ids=lambda one: str(one) if isinstance(one, dict) else "",
)
def test_a_wrong_parameter_is_told_in_a_sentence(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        fitted(**parameters)


def test_defaults_grow_with_the_data():
    assert [leaves_for(n) for n in (1, 20_000, 200_000, 10**8)] == [8, 8, 31, 31]
    assert 8 < leaves_for(60_000) < 31
    assert [subsample_for(n) for n in (1, 20_000, 200_000, 10**8)] == [0.7, 0.7, 1, 1]
    assert [feature_fraction_for(n) for n in (1, 20_000, 200_000, 10**8)] == [0.5, 0.5, 1, 1]
    assert 0.5 < feature_fraction_for(60_000) < subsample_for(60_000) < 1
    assert [min_documents_for(n) for n in (1, 499, 5_000, 10**8)] == [1, 1, 10, 20]


# Awkward data


def test_all_equal_labels_are_told():
    with pytest.raises(InputError, match="There is nothing to learn: within every query all labels are equal"):
        fitted(RankingData(TRAIN.X, np.ones(len(TRAIN)), TRAIN.qid))


def test_a_constant_feature_is_never_split_on():
    X = TRAIN.X.copy()
    X[:, 3] = 7
    model = fitted(RankingData(X, TRAIN.y, TRAIN.qid)).model_
    assert 3 not in model.feature


def test_trees_without_any_split_are_told():
    with pytest.raises(InputError, match="no feature tells better documents from worse ones"):
        fitted(TRAIN, min_documents=len(TRAIN))


def test_one_good_feature_among_many_constant_ones_is_found():
    X = np.zeros((len(TRAIN), 40), dtype=np.float32)
    X[:, 17] = TRAIN.y
    ranker = fitted(RankingData(X, TRAIN.y, TRAIN.qid), feature_fraction=0.1)
    assert set(ranker.model_.feature) == {17}
    assert len(ranker.history_) == 8


def test_more_leaves_than_documents():
    data = judged(2, 5, seed=4)
    ranker = fitted(data, max_leaves=500, rounds=20, **EVERYTHING)
    assert np.diff(ranker.model_.splits).max() < len(data)
    assert ranker.score(*data) == pytest.approx(NDCG()(data.y, data.y, data.qid))


@pytest.mark.slow
def test_labels_may_be_any_numbers():
    rng = np.random.default_rng(5)
    y = TRAIN.X[:, 2] / 3 + rng.normal(size=len(TRAIN)) / 30
    for metric in (NDCG(gain=Gain.LINEAR), KendallTau()):
        data = RankingData(TRAIN.X, y - y.min(), TRAIN.qid)
        ranker = fitted(data, metric=metric, rounds=4)
        assert ranker.history_[-1].train > 0.5
        assert ranker.model_.importances().argmax() == 2


@pytest.mark.slow
@pytest.mark.parametrize("truncation", [30, None])
def test_a_long_query_will_do(truncation):
    rng = np.random.default_rng(6)
    y = rng.integers(5, size=20_000)
    X = np.column_stack([y + rng.normal(size=20_000), rng.normal(size=20_000)])
    ranker = fitted(RankingData(X, y, np.zeros(20_000, dtype=int)), rounds=5, truncation=truncation)
    assert ranker.history_[-1].train > NDCG(k=10)(y, np.zeros(20_000)) + 0.1


def test_missing_values_can_tell_documents_apart():
    X = np.where(TRAIN.y > 1, np.nan, np.random.default_rng(1).normal(size=len(TRAIN)))[:, None]
    ranker = fitted(RankingData(X, TRAIN.y, TRAIN.qid))
    assert ranker.history_[-1].train > NDCG(k=10)(TRAIN.y, np.zeros(len(TRAIN)), TRAIN.qid) + 0.1


# Weights


def test_weights_of_one_change_nothing():
    plain = fitted().predict(TEST).tobytes()
    assert fitted(sample_weight=np.ones(len(TRAIN))).predict(TEST).tobytes() == plain
    assert fitted(query_weight=np.ones(30)).predict(TEST).tobytes() == plain


def test_a_query_weight_is_that_of_its_documents():
    weights = np.random.default_rng(3).random(30)
    by_query = fitted(query_weight=weights)
    by_document = fitted(sample_weight=weights[TRAIN.groups.query_of_row])
    both = fitted(query_weight=np.sqrt(weights), sample_weight=np.sqrt(weights)[TRAIN.groups.query_of_row])
    assert by_query.predict(TEST).tobytes() == by_document.predict(TEST).tobytes()
    np.testing.assert_allclose(both.predict(TEST), by_query.predict(TEST), rtol=1e-9, atol=1e-12)


def test_only_the_ratio_of_weights_matters_without_regularisation():
    weights = np.random.default_rng(3).random(30)
    one, four = (fitted(query_weight=factor * weights, **EVERYTHING) for factor in (1, 4))
    assert four.predict(TEST).tobytes() == one.predict(TEST).tobytes()
    scaled = fitted(query_weight=4 * weights, **EVERYTHING | {"l2": 8.0, "min_hessian": 4.0})
    plain = fitted(query_weight=weights, **EVERYTHING | {"l2": 2.0, "min_hessian": 1.0})
    assert scaled.predict(TEST).tobytes() == plain.predict(TEST).tobytes()


def few_valued(n_queries, seed=7):
    """Queries of features with so few values that every part of them has the same edges."""
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(n_queries * 15, 3))
    y = np.clip(X[:, 0] + rng.integers(2, size=len(X)), 0, 3)
    return RankingData(X, y, np.repeat(np.arange(n_queries), 15))


def test_a_query_of_weight_0_might_as_well_not_be_there():
    data = few_valued(20)
    limits = {"min_documents": 1, "max_leaves": 6, **EVERYTHING}
    without = fitted(data.take_queries(range(12)), **limits)
    weighted = fitted(data, query_weight=np.arange(20) < 12, **limits)
    assert weighted.predict(data).tobytes() == without.predict(data).tobytes()


def test_a_query_of_weight_2_counts_as_two_like_it():
    data = few_valued(12)
    limits = {"min_documents": 1, "max_leaves": 2, "rounds": 1, **EVERYTHING}
    X, y, qid = data
    twice = RankingData(np.vstack([X, X[:90]]), np.append(y, y[:90]), np.append(qid, qid[:90] + 100))
    weighted = fitted(data, query_weight=np.where(np.arange(12) < 6, 2.0, 1.0), **limits)
    np.testing.assert_allclose(weighted.predict(data), fitted(twice, **limits).predict(data), rtol=1e-9)


def test_weights_turn_the_model_to_what_they_favour():
    """Half of the queries like feature 0, half dislike it."""
    rng = np.random.default_rng(8)
    X, qid = rng.normal(size=(400, 1)), np.repeat(np.arange(40), 10)
    y = (np.where(qid < 20, 1, -1) * X[:, 0] > 0).astype(float)
    likes = fitted(RankingData(X, y, qid), query_weight=np.where(np.arange(40) < 20, 1.0, 0.1))
    dislikes = fitted(RankingData(X, y, qid), query_weight=np.where(np.arange(40) < 20, 0.1, 1.0))
    low, high = [[-1.0]], [[1.0]]
    assert likes.predict(high) > likes.predict(low)
    assert dislikes.predict(high) < dislikes.predict(low)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ({"sample_weight": [1.0]}, r"sample_weight must have 360 numbers, not shape \(1,\)."),
        ({"query_weight": np.ones(29)}, r"query_weight must have 30 numbers, not shape \(29,\)."),
        (
            {"query_weight": np.full(30, -1.0)},
            "query_weight must be finite and not negative, and at least one weight must be positive.",
        ),
        ({"sample_weight": np.zeros(360)}, "sample_weight must be finite and not negative, and at least one"),
        ({"sample_weight": np.full(360, np.nan)}, "sample_weight must be finite and not negative"),
        ({"query_weight": ["heavy"] * 30}, "query_weight must be numbers."),
        (
            {"sample_weight": np.full(360, 1e308)},
            r"sample_weight and query_weight .* not 1e\+308",
        ),
        (
            {"sample_weight": np.full(360, 1e200), "query_weight": np.full(30, 1e200)},
            "The largest product of sample_weight and query_weight must be between 1e-100 and 1e.100, not inf.",
        ),
        (
            {"sample_weight": np.arange(360) < 12, "query_weight": np.arange(30) > 0},
            "The largest product of sample_weight and query_weight must be between 1e-100 and 1e.100, not 0.",
        ),
    ],
    ids=lambda one: "" if isinstance(one, str) else next(iter(one)),
)
def test_wrong_weights_are_told_in_a_sentence(weights, sentence):
    with pytest.raises(InputError, match=sentence):
        fitted(**weights)


# Rounds and validation


def test_validation_chooses_the_round_and_patience_ends_it():
    ranker = fitted(rounds=300, learning_rate=0.5, patience=5, validation=TEST)
    values = [this.validation for this in ranker.history_]
    best = ranker.history_.best_round
    assert best < len(values) < 300
    assert ranker.model_.n_trees == best
    assert ranker.score(*TEST) == pytest.approx(values[best - 1], rel=1e-12)


def test_without_patience_all_rounds_are_run():
    ranker = fitted(rounds=40, learning_rate=0.5, patience=None, validation=TEST)
    assert len(ranker.history_) == 40


def test_ctrl_c_keeps_the_best_round_so_far():
    def stop(this):
        if this.number == 6:
            raise KeyboardInterrupt

    ranker = LambdaMART(rounds=50, learning_rate=0.9, n_jobs=1)
    with pytest.warns(UserWarning, match="Interrupted after round 6; the model is that of round"):
        ranker.fit(TRAIN, validation=TEST, on_round=stop)
    assert ranker.history_.interrupted
    assert ranker.model_.n_trees == ranker.history_.best_round <= 6
    best = ranker.history_[ranker.history_.best_round - 1]
    assert ranker.score(*TEST) == pytest.approx(best.validation, rel=1e-12)


@pytest.mark.parametrize("by", ["documents", "queries", "gradient"])
def test_a_seed_reproduces_every_kind_of_draw(by):
    options = {"subsample": 0.4, "subsample_by": by, "rounds": 15}
    one, again, other = (fitted(**options, random_state=seed) for seed in (3, 3, 4))
    assert encode(one.model_) == encode(again.model_)
    assert one.predict(TEST).tobytes() != other.predict(TEST).tobytes()
    assert one.score(*TEST) > NDCG(k=10)(TEST.y, np.zeros(len(TEST)), TEST.qid) + 0.05


def test_a_number_of_bins_is_checked_also_where_they_were_made_before():
    fitted(max_bins=2)
    with pytest.raises(InputError, match=r"max_bins must be an integer from 2 to 255, not 2\.0"):
        fitted(max_bins=2.0)


def test_numbers_beyond_all_documents_say_no_more_than_all():
    assert encode(fitted(max_leaves=2**31).model_) != encode(fitted().model_)
    assert np.array_equal(fitted(max_leaves=2**31).predict(TEST), fitted(max_leaves=len(TRAIN)).predict(TEST))
    assert np.array_equal(fitted(truncation=2**70).predict(TEST), fitted(truncation=None).predict(TEST))
    assert np.array_equal(fitted(pairs="all", truncation=30).predict(TEST), fitted(truncation=12).predict(TEST))
    with pytest.raises(InputError, match="There is nothing to learn"):
        fitted(min_documents=2**63)


@pytest.mark.parametrize("by", ["documents", "queries", "gradient"])
def test_a_share_of_almost_nothing_still_learns(by):
    assert len(fitted(subsample=1e-9, subsample_by=by).history_) == 8


def test_rows_in_any_order_make_one_model_with_every_option():
    rows = np.random.default_rng(9).permutation(len(TRAIN))
    weights = np.random.default_rng(3).random(len(TRAIN))
    options = {"query_features": ["rank", "minmax", "zscore"], "subsample_by": "gradient", "monotone": {1: 1}}
    one = fitted(**options, sample_weight=weights)
    other = fitted(TRAIN.take(rows), **options, sample_weight=weights[rows])
    assert encode(one.model_) == encode(other.model_)


def test_queries_of_the_same_documents_with_other_labels_make_one_model_in_any_order():
    data = few_valued(10)
    y = np.concatenate([data.y, data.y[::-1]])
    X, qid = np.vstack([data.X, data.X]), np.append(data.qid, data.qid + 10)
    rows = np.random.default_rng(9).permutation(len(y))
    one, other = fitted(RankingData(X, y, qid)), fitted(RankingData(X[rows], y[rows], qid[rows]))
    assert encode(one.model_) == encode(other.model_)


# Columns made within the query


def shifted(seed):
    """Queries that differ in the level of their one feature: only its place within the query says anything."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(40), 10)
    x = rng.normal(size=400)
    y = np.clip(np.round(x + 1), 0, 3)
    return RankingData((x + 100 * rng.normal(size=40)[qid])[:, None], y, qid)


@pytest.mark.parametrize("kind", ["zscore", "rank", "minmax"])
def test_columns_within_the_query_see_what_raw_ones_cannot(kind):
    train, test = shifted(1), shifted(2)
    plain, wide = fitted(train, rounds=20), fitted(train, rounds=20, query_features=[kind])
    assert wide.score(*test) > max(0.9, plain.score(*test) + 0.1)
    assert isinstance(wide.model_, QueryFeatureScorer)
    assert wide.model_.needs_queries


def test_columns_within_the_query_travel_with_the_model(tmp_path):
    X, y, qid = TRAIN
    data = RankingData(X, y, qid, feature_names=list("abcde"))
    ranker = fitted(data, query_features=["zscore", "rank"], validation=RankingData(*TEST))
    rw.save(ranker, tmp_path / "model.rw")
    loaded = rw.load(tmp_path / "model.rw")
    assert loaded.feature_names == tuple("abcde")
    assert loaded.n_features == ranker.n_features_in_ == 5
    assert loaded.predict(*TEST.X[None], TEST.qid).tobytes() == ranker.predict(TEST).tobytes()
    assert loaded.about["parameters"]["query_features"] == "['zscore', 'rank']"
    best = ranker.history_[ranker.history_.best_round - 1]
    assert ranker.score(*TEST) == pytest.approx(best.validation, rel=1e-12)


# Real data


def best_feature(train, metric):
    """The feature that ranks the training queries best."""
    values = [metric(train.y, train.X[:, feature], train.qid) for feature in range(train.n_features)]
    return int(np.argmax(values))


@needs_shared_data
@pytest.mark.parametrize("collection", ["OHSUMED", "MQ2008"])
def test_real_queries_are_ranked_better_than_by_the_best_feature(collection):
    metric, by_model, by_feature = NDCG(k=10), [], []
    for fold in range(1, 6):  # all five: the few test queries of one say little
        train, valid, test = rw.read_fold(SHARED / "letor" / collection / f"Fold{fold}")
        ranker = LambdaMART(metric, rounds=60, learning_rate=0.1).fit(train, validation=valid)
        by_model.extend(per_query(metric, test, ranker.predict(test)))
        by_feature.extend(per_query(metric, test, test.X[:, best_feature(train, metric)]))
    assert np.mean(by_model) > np.mean(by_feature)


def per_query(metric, data, scores):
    return metric.per_query(data.y, Ranking.of(scores, data.groups))


@pytest.mark.parametrize("names", [["rank", "rank"], [["rank"]], [1], None, 3, {"rank": 1}], ids=repr)
def test_query_features_that_are_none_are_refused(names):
    with pytest.raises(
        InputError, match="query_features must be a list of distinct values, each 'zscore', 'rank'"
    ):
        LambdaMART(query_features=names).check_parameters()


@pytest.mark.parametrize("ranker", [LambdaMART, rw.MART])
def test_symmetric_trees_have_one_split_per_level_and_the_same_bytes_on_any_number_of_threads(ranker):
    data = rw.synthetic.polynomial_queries(40, n_documents=10, n_features=6, n_active=4)
    models = [
        ranker(rounds=8, grow_policy="symmetric", max_leaves=8, n_jobs=n_jobs).fit(data).model_
        for n_jobs in (1, 2)
    ]
    assert models[0].predict(data).tobytes() == models[1].predict(data).tobytes()
    assert max(models[0].splits) > 0
    for first, last in zip(models[0].splits[:-1], models[0].splits[1:], strict=True):
        assert len(set(zip(models[0].feature[first:last], models[0].threshold[first:last], strict=True))) <= 3


@pytest.mark.parametrize("n_features", [1, 3, 40])
@pytest.mark.parametrize("grow_policy", ["leafwise", "symmetric"])
def test_more_threads_than_columns_or_cores_give_the_same_bytes(n_features, grow_policy):
    random = np.random.default_rng(n_features)
    X, y, qid = random.normal(size=(3000, n_features)), random.integers(0, 3, 3000), np.arange(3000) // 30
    scores = {
        LambdaMART(rounds=4, grow_policy=grow_policy, n_jobs=n_jobs).fit(X, y, qid).predict(X).tobytes()
        for n_jobs in (1, 3, 8)
    }
    assert len(scores) == 1


@pytest.mark.parametrize(
    "given", [{"monotone": {0: 1}}, {"coarse": True}, {"min_documents": 3}], ids=lambda one: next(iter(one))
)
def test_symmetric_trees_refuse_what_they_do_not_do(given):
    name = next(iter(given))
    with pytest.raises(InputError, match=f"Symmetric trees take no {name}"):
        LambdaMART(grow_policy="symmetric", **given).check_parameters()


# Defaults by the size of the data


@pytest.mark.parametrize(
    ("given", "trees", "pairs"),
    [
        ({}, "symmetric", "neighbours"),
        ({"max_leaves": 31}, "symmetric", "neighbours"),
        ({"metric": NDCG(gain=Gain.table(0, 1, 1, 5))}, "symmetric", "all"),
        ({"metric": AP()}, "symmetric", "all"),
        ({"truncation": 12}, "symmetric", "all"),
        ({"pairs": "neighbours"}, "symmetric", "neighbours"),
        ({"monotone": {0: 1}}, "leafwise", "neighbours"),
        ({"min_documents": 3}, "leafwise", "neighbours"),
        ({"split_by": "squared_error"}, "leafwise", "all"),
    ],
    ids=str,
)
def test_the_model_says_what_the_defaults_of_small_data_are(given, trees, pairs):
    parameters = fitted(**given).model_.about["parameters"]
    assert (parameters["grow_policy"], parameters["pairs"]) == (trees, pairs)


def test_larger_data_and_data_with_a_start_have_leafwise_trees_of_all_pairs(monkeypatch):
    small = fitted()
    monkeypatch.setattr("rankwright.rankers.lambdamart.COARSE_DOCUMENTS", len(TRAIN))
    large = fitted()
    assert large.model_.about["parameters"]["grow_policy"] == "leafwise"
    assert encode(large.model_) == encode(fitted(grow_policy="leafwise", pairs="all").model_)
    monkeypatch.undo()
    parameters = LambdaMART(rounds=2).fit(TRAIN, start=small).model_.about["parameters"]
    assert (parameters["grow_policy"], parameters["pairs"]) == ("leafwise", "all")


def test_neighbours_of_native_rounds_are_those_of_the_loop_in_python():
    native = fitted(rounds=20)
    with patch.object(TreeLearner, "in_core", lambda *_: None):
        looped = fitted(rounds=20)
    assert encode(looped.model_) == encode(native.model_)
    assert encode(fitted(rounds=20, n_jobs=2).model_) == encode(native.model_)


@pytest.mark.parametrize("given", [{"truncation": 5}, {"normalise": False}, {"cut_lambdas": True}])
def test_neighbours_refuse_what_is_about_all_pairs(given):
    name = next(iter(given))
    with pytest.raises(InputError, match=f"{name} is about all pairs; pairs='neighbours' does not use it."):
        rw.LambdaMART(pairs="neighbours", **given).fit(rw.synthetic.gaussian_queries(5))
