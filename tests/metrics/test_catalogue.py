"""A plain function as a metric."""

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.evaluation.evaluate import evaluate
from rankwright.metrics import (
    AP,
    DCG,
    ERR,
    NDCG,
    RR,
    WTA,
    Discount,
    FunctionMetric,
    Gain,
    KendallTau,
    MeanNDCG,
    Metric,
    PairAccuracy,
    Precision,
    Recall,
    Ties,
    as_metric,
    as_metrics,
    find_convention,
    parse,
    parse_metrics,
)

common = {"ties": st.sampled_from(Ties), "empty": st.none() | st.floats(-1, 1)}
cut = st.none() | st.integers(1, 100)
gains = st.sampled_from([Gain.EXPONENTIAL, Gain.LINEAR, Gain.table(0, 1, 3.5), Gain.table(0, 1 / 3)])
discounts = st.sampled_from(Discount)
threshold = {"threshold": st.floats(-1e9, 1e9)}
metrics = st.one_of(
    st.builds(NDCG, cut, gains, discounts, fewer_than_k=st.sampled_from([None, 0.0]), **common),
    st.builds(DCG, cut, gains, discounts, **common),
    st.builds(MeanNDCG, gains, discounts, **common),
    st.builds(AP, cut, capped=st.booleans(), **threshold, **common),
    st.builds(RR, cut, **threshold, **common),
    st.builds(ERR, cut, max_label=st.floats(0.1, 50), **common),
    st.builds(Precision, st.integers(1, 9), **threshold, **common),
    st.builds(Recall, st.integers(1, 9), **threshold, **common),
    st.builds(WTA, **threshold, **common),
    st.builds(PairAccuracy, **common),
    st.builds(KendallTau, **common),
)


@given(metrics)
def test_a_metric_reads_back_what_it_prints(metric):
    assert parse(str(metric)) == metric
    assert hash(parse(str(metric))) == hash(metric)


def test_a_range_of_cutoffs_is_several_metrics():
    assert parse_metrics("map, NDCG@2 - 4, p@1-1") == [AP(), NDCG(k=2), NDCG(k=3), NDCG(k=4), Precision(1)]
    assert as_metrics(["ndcg@1-2(gain=linear)", AP()]) == [
        NDCG(k=1, gain=Gain.LINEAR),
        NDCG(k=2, gain=Gain.LINEAR),
        AP(),
    ]
    for text in ("ndcg@5-2", "ndcg@1-5000"):
        with pytest.raises(InputError, match="must be a range of 1 to 1,000 cut-offs, such as ndcg@1-10"):
            parse_metrics(text)
    with pytest.raises(InputError, match="cut-off k must be an integer from 1"):
        parse_metrics("ndcg@0-2")
    with pytest.raises(InputError, match="There is no metric 'nddcg'"):
        parse_metrics("nddcg@1-2")
    with pytest.raises(InputError, match="is not a metric"):
        parse("ndcg@1-10")


def test_names():
    assert parse("ndcg@10") == NDCG(k=10)
    assert parse("map(threshold=2)") == AP(threshold=2)
    assert str(NDCG(k=10)) == "ndcg@10"
    assert parse_metrics("ndcg@10(gain=linear,ties=worst), map,mrr") == [
        NDCG(k=10, gain=Gain.LINEAR, ties=Ties.WORST),
        AP(),
        RR(),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ndgc@10", "There is no metric 'ndgc'; did you mean 'ndcg'?"),
        ("ndcg@ten", "must be a positive integer, not 'ten'"),
        ("ndcg@0", "must be an integer from 1 to 2147483647, not 0"),
        ("ndcg 10", "is not a metric"),
        ("ndcg(gian=linear)", "has no option 'gian'; did you mean 'gain'?"),
        ("ndcg(gain=log)", "'log' is not a valid gain"),
        ("map(threshold=high)", "'high' is not a valid threshold"),
        ("p", "needs a cut-off, as in 'p@10'"),
        ("wta@3", "has no cut-off, as in 'wta'"),
        ("", "is not a metric"),
    ],
)
def test_what_cannot_be_read(text, sentence):
    with pytest.raises(InputError) as error:
        parse(text)
    assert sentence in str(error.value)


def test_a_list_of_no_metrics():
    with pytest.raises(InputError, match="at least one metric"):
        parse_metrics(" , ")


@dataclass(frozen=True)
class Custom(Metric):
    patience: float = 0.5

    def of_ranking(self, labels):
        return float(labels[0])


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (NDCG(), "NDCG()"),
        (NDCG(k=10), "NDCG(k=10)"),
        (NDCG(3, ties=Ties.WORST, empty=None), "NDCG(ties=Ties.WORST, empty=None, k=3)"),
        (AP() @ 5, "AP(k=5)"),
        (Custom(), "Custom()"),
        (Custom(0.25), "Custom(patience=0.25)"),
    ],
)
def test_repr_is_short_and_makes_the_same_metric_again(metric, text):
    twin = pickle.loads(pickle.dumps(metric))
    assert repr(metric) == repr(twin) == text
    assert eval(repr(metric)) == metric == twin
    assert str(twin) == str(metric)


def linear_dcg(labels):
    """DCG of labels; NaN if every order has the same value."""
    if labels.min() == labels.max():
        return np.nan
    return np.sum(labels / np.log2(np.arange(len(labels)) + 2))


def sorts_in_place(labels):
    labels.sort()
    return float(labels[-1])


def judged(seed=0, n_queries=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * 6, 3)).astype(np.float32)
    return rw.RankingData(X, np.clip(np.round(X[:, 0] + 1), 0, 3), np.repeat(np.arange(n_queries), 6))


def test_a_function_measures_what_the_metric_of_the_same_formula_measures():
    data = judged()
    scores = np.round(data.X[:, 1])  # with ties
    found, expected = FunctionMetric(linear_dcg), DCG(gain=Gain.LINEAR)
    assert found(data.y, scores, data.qid) == pytest.approx(expected(data.y, scores, data.qid), rel=1e-12)
    report = rw.evaluate(scores, data, metrics=[linear_dcg, "ndcg@10"])
    assert report.metrics == ("linear_dcg", "ndcg@10")
    assert report.mean("scores", "linear_dcg") == found(data.y, scores, data.qid)


def test_its_name_options_and_copies():
    one = as_metric(linear_dcg)
    assert (str(one), one.name, repr(one)) == ("linear_dcg", "linear_dcg", "FunctionMetric()")
    assert str(FunctionMetric(linear_dcg, ties=Ties.WORST)) == "linear_dcg(ties=worst)"
    assert one == FunctionMetric(linear_dcg)
    assert hash(one) == hash(FunctionMetric(linear_dcg))
    assert pickle.loads(pickle.dumps(one)) == one
    assert str(as_metric(lambda labels: labels[0])) == "lambda"


def test_a_function_may_change_its_labels():
    data = judged()
    before = data.y.copy()
    assert FunctionMetric(sorts_in_place)(data.y, data.X[:, 0], data.qid) == np.mean(
        [data.y[rows].max() for rows in data.groups]
    )
    np.testing.assert_array_equal(data.y, before)


def test_rankers_and_everything_that_measures_take_a_function():
    train, test = judged(1), judged(2)
    as_value = rw.LambdaMART(FunctionMetric(linear_dcg), rounds=2, n_jobs=1).fit(train, validation=test)
    ranker = rw.LambdaMART(linear_dcg, rounds=2, n_jobs=1).fit(train, validation=test)
    assert ranker.get_params()["metric"] is linear_dcg
    assert ranker.model_.about["parameters"]["metric"] == "linear_dcg"
    np.testing.assert_array_equal(ranker.predict(test), as_value.predict(test))
    assert ranker.score(test) == FunctionMetric(linear_dcg)(test.y, ranker.predict(test), test.qid)
    assert rw.AdaRank(metric=lambda labels: labels[0] / 3, rounds=2).fit(train).score(test) <= 1
    mix = rw.blend(ranker, test.X[:, 1], on=test, metric=linear_dcg)
    assert str(mix.metric) == "linear_dcg"
    assert rw.permutation_importance(ranker, test, metric=linear_dcg, repeats=1).metric == "linear_dcg"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (NDCG, r"A metric must be a Metric such as NDCG\(\), its name such as 'ndcg@10', or a function"),
        (5, r"A metric must be a Metric such as NDCG\(k=10\), its name .* not 5\."),
        (None, "A metric must be a Metric"),
    ],
)
def test_what_is_no_metric_is_refused(given, sentence):
    with pytest.raises(InputError, match=sentence):
        as_metric(given)
    with pytest.raises(InputError, match="A metric must be a"):
        rw.evaluate([1.0, 2.0], ([[1.0], [2.0]], [0, 1], [1, 1]), metrics=[given])


def test_a_function_that_returns_no_number_is_refused():
    with pytest.raises(InputError, match=r"The metric lambda must return a number, not 'high'\."):
        as_metric(lambda _: "high")([0, 1], [1, 2])


def test_metrics_in_every_form():
    assert as_metrics("NDCG@10, map") == [NDCG(k=10), AP()]
    assert as_metrics(AP()) == [AP()]
    assert as_metrics(("precision@5", "RR", NDCG())) == as_metrics("p@5,mrr,ndcg")
    assert as_metrics(linear_dcg) == [FunctionMetric(linear_dcg)]
    with pytest.raises(InputError, match="There is nothing to measure: give at least one metric"):
        as_metrics([])
    with pytest.raises(InputError, match="Two metrics are called lambda; give their functions different names"):
        as_metrics([lambda labels: labels[0], lambda labels: labels[1]])
    assert len(as_metrics(["map", "map"])) == 2


def test_conventions_keep_what_the_user_set_and_refuse_what_they_lack():
    assert find_convention("letor3").apply(AP(threshold=2)).threshold == 2
    assert find_convention("sklearn").apply(NDCG(k=3)) == parse("ndcg@3(gain=linear)")
    with pytest.raises(InputError, match="The convention letor3 has no err; it has ndcg, map, p"):
        find_convention("letor3").apply(parse("err@10"))
    with pytest.raises(InputError, match="did you mean 'letor3'"):
        find_convention("leto3")


@pytest.mark.parametrize(
    ("convention", "metric", "expected"),
    [
        ("sklearn", NDCG(k=3, gain=Gain.EXPONENTIAL), NDCG(k=3)),
        ("sklearn", parse("ndcg@3(gain=exponential)"), NDCG(k=3)),
        ("sklearn", NDCG(None, Gain.EXPONENTIAL), NDCG()),
        ("sklearn", NDCG(gain=Gain.EXPONENTIAL) @ 3, NDCG(k=3)),
        ("sklearn", NDCG() @ 3, NDCG(k=3, gain=Gain.LINEAR)),
        ("lightgbm", NDCG(k=3, empty=0.0), NDCG(k=3, ties=Ties.STABLE)),
        ("letor4", NDCG(k=3, fewer_than_k=None, ties=Ties.EXPECTED), NDCG(k=3, discount=Discount.LETOR)),
        ("trec", copy.deepcopy(NDCG(gain=Gain.EXPONENTIAL)), NDCG(ties=Ties.STABLE)),
        ("trec", pickle.loads(pickle.dumps(NDCG(gain=Gain.EXPONENTIAL))), NDCG(ties=Ties.STABLE)),
        ("trec", parse(str(NDCG(gain=Gain.EXPONENTIAL))), NDCG(ties=Ties.STABLE)),
    ],
)
def test_a_convention_keeps_a_default_that_the_user_gave(convention, metric, expected):
    assert find_convention(convention).apply(metric) == expected


def test_a_report_tells_a_given_default_from_an_open_option():
    data = RankingData([[1.0], [2.0], [3.0]], [1, 2, 0], [1, 1, 1])
    asked = [NDCG(), NDCG(gain=Gain.EXPONENTIAL)]
    assert asked[0] == asked[1]
    assert hash(asked[0]) == hash(asked[1])
    report = evaluate({"one": data.X[:, 0]}, data, metrics=asked, convention="sklearn")
    assert report.metrics == ("ndcg", "ndcg(gain=exponential)")
    assert report.mean("one", "ndcg") != report.mean("one", "ndcg(gain=exponential)")
