import pickle
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.base.errors import InputError
from rankwright.metrics import (
    AP,
    DCG,
    ERR,
    NDCG,
    RR,
    WTA,
    Discount,
    Gain,
    KendallTau,
    MeanNDCG,
    Metric,
    PairAccuracy,
    Precision,
    Recall,
    Ties,
    parse,
    parse_metrics,
)
from rankwright.metrics.parse import as_metrics

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
