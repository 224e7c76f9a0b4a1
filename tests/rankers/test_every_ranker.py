"""What every ranker of the package promises; `rankwright.__all__` names them."""

import copy
import inspect
import io
import pickle
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold

import rankwright as rw
from rankwright import metrics
from rankwright.base.errors import InputError
from rankwright.data.dataset import Documents, RankingData
from rankwright.data.groups import Ranking
from rankwright.metrics import AP, NDCG, mean_over_queries
from rankwright.models.model_file import encode
from rankwright.rankers.catalogue import known_rankers

CLASSES = sorted((one for one in known_rankers().values() if not one.needs_text), key=lambda one: one.__name__)
WITH_ROUNDS = [one for one in CLASSES if "rounds" in one().get_params()]

SMALL_POOLS = {
    rw.AutoRanker: {"portfolio": "ranksvm,adarank"},
    rw.CalibratedAdaBoost: {
        "leaves": (3,),
        "terms": (2,),
        "rounds_tried": (3, 6),
        "calibrations": ("linear", "logistic"),
        "splits": 2,
    },
}
# Calibrations that are searched for numerically take ten times as long; tests of reproducibility need them.
SEARCHED = {rw.CalibratedAdaBoost: {"calibrations": ("ls", "linear")}}


def each(classes):
    """Run a test with every class; pools, which fit many rankers each, are left out of `make quick`."""
    marks = {one: pytest.mark.slow if one in SMALL_POOLS else () for one in classes}
    parameters = [pytest.param(one, marks=mark, id=one.__name__) for one, mark in marks.items()]
    return pytest.mark.parametrize("ranker_class", parameters)


every_ranker = each(CLASSES)
every_ranker_with_rounds = each(WITH_ROUNDS)


def small(ranker_class, **parameters):
    """The ranker as it comes, but quick."""
    few = {"rounds": 5} if ranker_class in WITH_ROUNDS else SMALL_POOLS.get(ranker_class, {})
    return ranker_class(**few | parameters)


def judged(n_queries=12, n_documents=8, n_features=5, *, seed=1):
    """Queries that several features together rank well, none of them alone."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n_documents, n_features)).astype(np.float32)
    y = np.clip(np.round(X[:, : n_features // 2 + 1].sum(axis=1) + rng.normal(size=len(X)) / 2), 0, 3)
    return RankingData(X, y, np.repeat(np.arange(n_queries), n_documents))


def bits(scores):
    assert np.isfinite(scores).all()
    return scores.tobytes()


# The estimator


@every_ranker
def test_repr_makes_the_same_ranker_again(ranker_class):
    for ranker in (ranker_class(), small(ranker_class, metric=AP(k=3), n_jobs=2)):
        again = eval(repr(ranker), vars(metrics) | {one.__name__: one for one in CLASSES})
        assert type(again) is ranker_class
        assert again.get_params() == ranker.get_params()


@every_ranker
def test_clone_copies_the_parameters_and_nothing_else(ranker_class):
    ranker = small(ranker_class, metric=NDCG(k=4)).fit(*judged())
    twin = clone(ranker)
    assert twin.get_params() == ranker.get_params()
    assert not hasattr(twin, "model_")


@every_ranker
def test_parameters_can_be_read_and_set(ranker_class):
    ranker = ranker_class()
    assert list(ranker.get_params()) == sorted(inspect.signature(ranker_class).parameters)
    assert ranker.set_params(metric=AP(), n_jobs=2) is ranker
    assert (ranker.metric, ranker.n_jobs) == (AP(), 2)
    with pytest.raises(ValueError, match="has no parameter 'round'"):
        ranker.set_params(round=3)


@every_ranker
def test_the_name_is_that_of_the_command_line(ranker_class):
    assert re.fullmatch("[a-z]+(-[a-z]+)*", ranker_class.name)
    assert sum(one.name == ranker_class.name for one in CLASSES) == 1


@every_ranker
def test_no_prediction_before_a_fit(ranker_class):
    (X, y, qid), ranker = judged(), ranker_class()
    for method, given in ((ranker.predict, (X, qid)), (ranker.rank, (X, qid)), (ranker.score, (X, y, qid))):
        with pytest.raises(NotFittedError, match=f"This {ranker_class.__name__} is not fitted yet; call fit"):
            method(*given)


@every_ranker
def test_fit_returns_the_ranker_with_a_model_and_its_history(ranker_class):
    data, ranker = judged(), small(ranker_class)
    assert ranker.fit(*data) is ranker
    assert ranker.n_features_in_ == ranker.model_.n_features == data.n_features
    assert ranker.model_.about["ranker"] == ranker_class.__name__
    best = ranker.history_.best_round
    assert best <= len(ranker.history_)
    told = None if ranker_class is rw.AutoRanker else best  # each of its members has its own rounds
    assert ranker.model_.about.get("rounds") == told
    assert bits(ranker.predict(data)) == bits(ranker.model_.predict(data))


@every_ranker
def test_score_is_the_metric_by_hand(ranker_class):
    train, test = judged(), judged(seed=2)
    ranker = small(ranker_class, metric=NDCG(k=3)).fit(*train)
    ranking = Ranking.of(ranker.predict(test), test.groups)
    assert ranker.score(*test) == mean_over_queries(NDCG(k=3).per_query(test.y, ranking))


@every_ranker
def test_documents_are_scored_without_labels(ranker_class):
    data = judged()
    ranker = small(ranker_class).fit(data)
    documents = Documents(data.X, data.qid)
    assert bits(ranker.predict(documents)) == bits(ranker.predict(data))
    assert ranker.rank(documents).tolist() == ranker.rank(data).tolist()
    with pytest.raises(InputError, match=r"call documents\.with_labels\(y\)"):
        ranker.fit(documents)


@every_ranker
def test_it_learns_something(ranker_class):
    train, test = judged(40), judged(40, seed=2)
    by_chance = NDCG()(test.y, np.zeros(len(test)), test.qid)
    assert small(ranker_class).fit(*train).score(*test) > by_chance + 0.03


@every_ranker
def test_ranks_are_1_to_n_a_query_and_follow_the_scores(ranker_class):
    test = judged(seed=2)
    shuffled = test.take(np.random.default_rng(3).permutation(len(test)))
    ranker = small(ranker_class).fit(*judged())
    ranks, scores = ranker.rank(shuffled.X, shuffled.qid), ranker.predict(shuffled.X, shuffled.qid)
    for rows in shuffled.groups:
        by_rank = rows[np.argsort(ranks[rows])]
        assert ranks[by_rank].tolist() == list(range(1, len(rows) + 1))
        assert (np.diff(scores[by_rank]) <= 0).all()


@pytest.mark.slow
@every_ranker
def test_grid_search_passes_the_queries_on(ranker_class):
    X, y, qid = judged()
    # numpy's numbers, as they come out of np.arange
    grid = {"rounds": np.array([1, 3])} if ranker_class in WITH_ROUNDS else {"n_jobs": np.array([1])}
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(small(ranker_class), grid, cv=GroupKFold(3)).fit(X, y, qid=qid, groups=qid)
        assert search.score(X, y, qid=qid) == search.best_estimator_.score(X, y, qid)
    by_hand = [
        clone(search.best_estimator_).fit(X[train], y[train], qid[train]).score(X[test], y[test], qid[test])
        for train, test in GroupKFold(3).split(X, y, qid)
    ]
    assert search.best_score_ == pytest.approx(np.mean(by_hand), rel=1e-12)
    # GridSearchCV.predict passes on the features alone; RankingData bring their queries
    assert bits(search.predict(judged())) == bits(search.best_estimator_.predict(X, qid))


# The same data in another form give the same model, bit for bit


@every_ranker
def test_the_order_of_the_rows_changes_nothing(ranker_class):
    train, test = judged(), judged(seed=2)
    rows = np.random.default_rng(4).permutation(len(train))
    ranker, other = (
        small(ranker_class, **SEARCHED.get(ranker_class, {})).fit(*part) for part in (train, train.take(rows))
    )
    assert encode(other.model_) == encode(ranker.model_)
    assert bits(other.predict(test)) == bits(ranker.predict(test))
    assert bits(other.predict(train.take(rows))) == bits(ranker.predict(train)[rows])


@every_ranker
def test_the_order_of_validation_rows_changes_nothing(ranker_class):
    train, valid = judged(), judged(seed=2)
    shuffled = valid.take(np.random.default_rng(4).permutation(len(valid)))
    models = [small(ranker_class).fit(*train, validation=part).model_ for part in (valid, shuffled)]
    assert encode(models[0]) == encode(models[1])


@every_ranker
@pytest.mark.parametrize("rename", ["q{}".format, "{:b}".format, lambda one: 10**12 - one], ids=["q", "b", "-"])
def test_any_query_ids_in_any_order_will_do(ranker_class, rename):
    train = judged()
    rows = np.random.default_rng(5).permutation(len(train))
    names = np.array([rename(int(one)) for one in train.qid])
    expected = small(ranker_class).fit(*train)
    renamed = small(ranker_class).fit(train.X[rows], train.y[rows], names[rows])
    assert encode(renamed.model_) == encode(expected.model_)
    assert bits(renamed.predict(train.X, names)) == bits(expected.predict(train.X, train.qid))


@every_ranker
def test_any_layout_and_type_of_features_will_do(ranker_class):
    X, y, qid = judged()
    X = np.where(np.abs(X) < 0.2, np.float32(0.0), X)
    expected = small(ranker_class).fit(X, y, qid)
    others = [X.astype(np.float64), np.asfortranarray(X), X.tolist(), sparse.csr_matrix(X), sparse.csr_array(X)]
    for other in others:
        ranker = small(ranker_class).fit(other, y.tolist(), qid.tolist())
        assert encode(ranker.model_) == encode(expected.model_)
        assert bits(ranker.predict(other, qid)) == bits(expected.predict(X, qid))


@every_ranker
def test_the_number_of_threads_changes_nothing(ranker_class):
    train, valid = judged(100), judged(100, seed=2)
    searched = SEARCHED.get(ranker_class, {})
    fits = [small(ranker_class, n_jobs=n, **searched).fit(*train, validation=valid) for n in (1, 2)]
    assert encode(fits[0].model_) == encode(fits[1].model_)
    assert fits[0].history_ == fits[1].history_
    assert bits(fits[0].predict(valid)) == bits(fits[0].predict(valid, n_jobs=3))
    with pytest.raises(InputError, match="n_jobs must be None, -1 or a positive integer, not 0"):
        fits[0].predict(valid, n_jobs=0)


@every_ranker
def test_a_second_fit_forgets_the_first(ranker_class):
    ranker = small(ranker_class).fit(*judged(n_features=3, seed=2)).fit(*judged())
    assert encode(ranker.model_) == encode(small(ranker_class).fit(*judged()).model_)


def joblib_copy(value):
    file = io.BytesIO()
    joblib.dump(value, file)
    file.seek(0)
    return joblib.load(file)


@every_ranker
@pytest.mark.parametrize(
    "copied",
    [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy, joblib_copy],
    ids=["pickle", "deepcopy", "joblib"],
)
def test_rankers_and_scorers_can_be_copied_fitted_or_not(ranker_class, copied):
    data, ranker = judged(), small(ranker_class, n_jobs=1)
    twin = copied(ranker)
    assert twin.get_params() == ranker.get_params()
    expected = bits(ranker.fit(data).predict(data))
    assert bits(twin.fit(data).predict(data)) == expected
    for one in (copied(ranker), copied(ranker.model_)):
        assert bits(one.predict(data)) == expected
    assert copied(ranker).history_ == ranker.history_


@every_ranker
def test_a_saved_model_scores_the_same(ranker_class, tmp_path):
    ranker, test = small(ranker_class).fit(*judged()), judged(seed=2)
    rw.save(ranker, tmp_path / "model.rw")
    assert bits(rw.load(tmp_path / "model.rw").predict(test)) == bits(ranker.predict(test))


@every_ranker
def test_a_data_frame_gives_the_model_its_names(ranker_class):
    X, y, qid = judged()
    frame = pd.DataFrame(X, columns=list("abcde"))
    ranker = small(ranker_class).fit(frame, pd.Series(y), pd.Series(qid))
    assert ranker.model_.feature_names == tuple("abcde")
    assert bits(ranker.predict(frame, qid)) == bits(small(ranker_class).fit(X, y, qid).predict(X, qid))
    assert bits(ranker.predict(frame[list("bacde")], qid)) == bits(ranker.predict(frame, qid))
    with pytest.raises(
        InputError, match="In the validation part: The model needs 'e', which the data do not have"
    ):
        ranker.fit(frame, y, qid, validation=(frame[list("bacd")], y, qid))


@every_ranker
def test_fit_leaves_its_input_alone(ranker_class):
    train, valid = judged(), judged(seed=2)
    given = [np.array(part) for part in (*train, *valid)]
    given[0][::7, 1] = given[3][::5, 2] = np.nan
    copies = [part.copy() for part in given]
    ranker = small(ranker_class).fit(*given[:3], validation=given[3:])
    ranker.predict(given[0], given[2])
    for part, before in zip(given, copies, strict=True):
        assert part.flags.writeable
        np.testing.assert_array_equal(part, before)


# Awkward data


@every_ranker
def test_queries_of_one_document_do_no_harm(ranker_class):
    X, y, _ = judged()
    qid = np.concatenate([np.arange(20), np.repeat(np.arange(20, 39), 4)])
    ranker = small(ranker_class).fit(X, y, qid)
    assert bits(ranker.predict(X, qid))
    assert (ranker.rank(X, qid)[:20] == 1).all()


@every_ranker
def test_missing_values_are_learned_from_and_scored(ranker_class):
    X, y, qid = judged()
    X = np.where(np.random.default_rng(6).random(X.shape) < 0.3, np.nan, X)
    ranker = small(ranker_class).fit(X, y, qid)
    assert bits(ranker.predict(X, qid))
    assert bits(ranker.predict(np.full_like(X, np.nan), qid))
    assert bits(small(ranker_class).fit(*judged()).predict(X, qid))


@every_ranker
def test_masked_values_are_missing_values(ranker_class):
    X, y, qid = judged()
    hidden = np.random.default_rng(6).random(X.shape) < 0.3
    masked, missing = np.ma.array(X, mask=hidden), np.where(hidden, np.nan, X)
    ranker, other = small(ranker_class).fit(masked, y, qid), small(ranker_class).fit(missing, y, qid)
    assert bits(ranker.predict(masked, qid)) == bits(other.predict(missing, qid))
    assert bits(ranker.model_.predict(np.ma.array(X.astype(np.float64), mask=hidden), qid)) == bits(
        other.model_.predict(missing, qid)
    )


@every_ranker
@pytest.mark.parametrize("largest", [1e305, 1e155, 1e20])
def test_large_labels_are_learned_or_the_sentence_says_which_is_too_large(ranker_class, largest):
    X, y, qid = judged()
    y = y * (largest / 3)
    scores, sentence = scores_or_sentence(small(ranker_class), X, y, qid)
    if sentence is None:
        assert bits(scores)
    else:
        assert re.search(
            r"(takes labels up to|must be between|must be at most) .* one (label )?is [\d.]+e\+\d+", sentence
        )


def scores_or_sentence(ranker, *data):
    try:
        return ranker.fit(*data).predict(data[0], data[2]), None
    except InputError as error:
        return None, str(error)


@every_ranker
@pytest.mark.parametrize("value", [np.nan, 0.0, -7.5, 3e38], ids=str)
def test_a_column_that_says_nothing_does_no_harm(ranker_class, value):
    X, y, qid = judged()
    X = X.copy()
    X[:, 0] = value
    assert bits(small(ranker_class).fit(X, y, qid).predict(X, qid))


@every_ranker
@pytest.mark.filterwarnings("ignore:There are only two labels")
@pytest.mark.parametrize("shape", [(2, 3, 60), (1, 4, 1), (300, 10, 2)], ids=["wide", "least", "tall"])
def test_any_shape_of_data_will_do(ranker_class, shape):
    if ranker_class is rw.AutoRanker:
        shape = (max(6, shape[0]), *shape[1:])  # some queries learn, others judge
    data = judged(*shape, seed=3)
    assert bits(small(ranker_class).fit(*data).predict(data))


@every_ranker
def test_real_labels_will_do(ranker_class):
    X, y, qid = judged()
    assert bits(small(ranker_class).fit(X, y / 7 + 0.1, qid).predict(X, qid))


# Mistakes


def changed(**parts):
    """Data with some parts put in place of the right ones."""
    X, y, qid = (np.array(part) for part in judged(2))
    return tuple({"X": X, "y": y, "qid": qid, **parts}.values())


def with_value(array, place, value):
    array = np.array(array)
    array[place] = value
    return array


MISTAKES = {
    "short labels": (changed(y=[1, 0]), r"There are 16 documents but labels of shape \(2,\)"),
    "short qid": (changed(qid=[1, 1]), "There are 16 documents but 2 query ids"),
    "no documents": ((np.zeros((0, 3)), [], []), "There are no documents"),
    "no features": (changed(X=np.zeros((16, 0))), "There are no features"),
    "a list": (changed(X=np.zeros(16)), "Features must form a matrix"),
    "words": (changed(X=[["high"]] * 16), "Features must be numbers"),
    "infinite": (changed(X=with_value(judged(2).X, (3, 1), np.inf)), "Feature 1 of row 3 is infinite"),
    "complex": (changed(X=np.ones((16, 2), dtype=complex)), "Features must be real numbers, not complex128"),
    "huge integer": (changed(X=[[1, 2]] * 15 + [[1, 10**400]]), "Feature 1 of row 15 is infinite or too large"),
    "complex labels": (changed(y=np.ones(16, dtype=complex)), "Labels must be real numbers, not complex128"),
    "huge label": (changed(y=[0] * 15 + [10**400]), "Labels must be numbers that a 64-bit float can hold"),
    "masked labels": (changed(y=np.ma.array(judged(2).y, mask=np.arange(16) == 3)), "Labels must not be masked"),
    "NaN label": (changed(y=with_value(judged(2).y, 5, np.nan)), "The label of row 5 is nan"),
    "queries in parts": (changed(qid=np.arange(16) / 2), "qid must hold integers or strings"),
    "labels all 0": (changed(y=np.zeros(16)), "There is nothing to learn"),
    "labels all 2": (changed(y=np.full(16, 2.0)), "There is nothing to learn"),
    "equal in each query": (changed(y=judged(2).qid), "There is nothing to learn"),
    "one document each": (changed(qid=np.arange(16)), "There is nothing to learn"),
    "constant features": (changed(X=np.ones((16, 3))), "every feature is constant within every query"),
    "nothing but missing values": (changed(X=np.full((16, 3), np.nan)), "every feature is constant within every"),
    "constant in each query": (changed(X=judged(2).qid[:, None]), "every feature is constant within every query"),
}


@every_ranker
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_data_is_told_in_a_sentence(ranker_class, mistake):
    data, sentence = MISTAKES[mistake]
    with pytest.raises(InputError, match=sentence) as error:
        small(ranker_class).fit(*data)
    assert re.fullmatch(r"[^\n]+\.", str(error.value))


@every_ranker
@pytest.mark.parametrize(
    ("validation", "sentence"),
    [
        (judged(2, n_features=4), "In the validation part: The model has 5 features, the data 4."),
        (tuple(judged(2, n_features=4)), "In the validation part: The model has 5 features, the data 4."),
        (changed(y=[1, 0]), "In the validation part: There are 16 documents but labels"),
        (changed()[:2], r"validation must be RankingData or \(X, y, qid\)."),
        (changed(y=np.ones(16)), "The validation data cannot choose"),
        ((np.zeros((0, 5)), [], []), "The validation data cannot choose"),
    ],
)
def test_a_mistake_in_the_validation_part_is_told_in_a_sentence(ranker_class, validation, sentence):
    with pytest.raises(InputError, match=sentence):
        small(ranker_class).fit(*judged(2), validation=validation)


@every_ranker
@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"metric": 10}, "metric must be a Metric such as .*, not 10."),
        ({"metric": "ndgc@10"}, "There is no metric 'ndgc'; did you mean 'ndcg'?"),
        ({"n_jobs": 0}, "n_jobs must be None, -1 or a positive integer, not 0."),
        ({"rounds": 0}, "rounds must be (None or )?a positive integer, not 0."),
        ({"rounds": 2.5}, "rounds must be (None or )?a positive integer, not 2.5."),
        ({"rounds": True}, "rounds must be (None or )?a positive integer, not True."),
        ({"patience": 0}, "patience must be None or a positive integer, not 0."),
    ],
)
def test_a_wrong_parameter_is_told_in_a_sentence(ranker_class, parameters, sentence):
    if not parameters.keys() <= ranker_class().get_params().keys():
        return  # a ranker without rounds
    with pytest.raises(InputError, match=sentence):
        ranker_class(**parameters).fit(*judged())


@every_ranker
def test_features_other_than_the_models_are_refused(ranker_class):
    ranker = small(ranker_class).fit(*judged())
    with pytest.raises(InputError, match=r"The model has 5 features, the data 4\."):
        ranker.predict(judged(n_features=4))


# Rounds


def interrupt_at(number):
    def on_round(this):
        if this.number == number:
            raise KeyboardInterrupt

    return on_round


@every_ranker_with_rounds
def test_ctrl_c_keeps_the_rounds_so_far(ranker_class):
    train = judged()
    ranker = small(ranker_class)
    with pytest.warns(UserWarning, match="Interrupted after round 2; the model is that of round 2"):
        ranker.fit(*train, on_round=interrupt_at(2))
    assert len(ranker.history_) == ranker.history_.best_round == 2
    assert bits(ranker.predict(train)) == bits(small(ranker_class, rounds=2).fit(*train).predict(train))


@every_ranker_with_rounds
def test_every_round_is_told_and_kept_in_the_history(ranker_class):
    told = []
    ranker = small(ranker_class).fit(*judged(), validation=judged(seed=2), on_round=told.append)
    assert tuple(told) == ranker.history_.rounds
    assert [this.number for this in told] == list(range(1, len(told) + 1))
    assert len(told) <= 5
    assert 1 <= ranker.history_.best_round <= len(told)
    assert "validation" in ranker.history_.reason


@every_ranker_with_rounds
def test_the_model_is_that_of_the_best_round(ranker_class):
    train, valid = judged(), judged(seed=2)
    ranker = small(ranker_class).fit(*train, validation=valid)
    best = ranker.history_.best_round
    assert ranker.score(*valid) == pytest.approx(ranker.history_[best - 1].validation, rel=1e-12)


@every_ranker
def test_missing_query_ids_are_refused_on_every_path(ranker_class):
    X, y, qid = judged()
    ranker = small(ranker_class).fit(X, y, qid)
    for refused in (
        lambda: small(ranker_class).fit(X, y),
        lambda: ranker.score(X, y),
        lambda: ranker.rank(X),
        lambda: ranker.model_.rank(X),
        lambda: rw.evaluate(ranker, (X, y)),
        lambda: small(ranker_class).fit(X, y, qid, validation=(X, y)),
    ):
        with pytest.raises(InputError, match=r"query ids|\(X, y, qid\)"):
            refused()
    if ranker.model_.needs_queries:
        for scorer in (ranker, ranker.model_):
            with pytest.raises(InputError, match="query ids are needed"):
                scorer.predict(X)
    assert ranker.predict(X, 1).shape == (len(X),)


@every_ranker
def test_refit_learns_from_both_parts_for_the_chosen_rounds(ranker_class):
    train, valid = judged(), judged(seed=2)
    ranker = small(ranker_class).fit(train, validation=valid, refit=True)
    both = rw.concat(train, valid, shared_queries="separate")
    rounds = {"rounds": ranker.history_.best_round} if ranker_class in WITH_ROUNDS else {}
    again = small(ranker_class, **rounds).fit(both)
    assert bits(ranker.predict(train)) == bits(again.predict(train))
    if ranker_class is not rw.AutoRanker:  # which learns from both parts anyway
        assert ranker.history_.reason.endswith("; fitted again on both parts")
    assert ranker.model_.about["documents"] == len(both)


def test_refit_needs_a_validation_part_and_no_weights():
    train, valid = judged(), judged(seed=2)
    with pytest.raises(InputError, match="refit needs validation data"):
        small(rw.LambdaMART).fit(train, refit=True)
    with pytest.raises(InputError, match="refit takes no weights"):
        small(rw.LambdaMART).fit(train, validation=valid, query_weight=np.ones(12), refit=True)


def test_refit_goes_on_from_the_same_start():
    train, valid, start = judged(), judged(seed=2), small(rw.LambdaMART).fit(judged(seed=3))
    ranker = small(rw.LambdaMART).fit(train, validation=valid, start=start, refit=True)
    kept = ranker.history_.best_round
    assert ranker.model_.n_trees == start.model_.n_trees + kept
    scores = [start.predict(part) for part in (train, valid)]
    columns = small(rw.LambdaMART).fit(
        train, validation=valid, start=scores[0], validation_start=scores[1], refit=True
    )
    residual = columns.predict(train, init_score=scores[0])
    np.testing.assert_allclose(residual, ranker.predict(train), atol=1e-12)
