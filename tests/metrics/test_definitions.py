"""Every metric against its definition: per query, under each tie rule, and its swap deltas."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups, Ranking
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
    mean_over_queries,
)
from reference.swaps import swap_deltas as slow_swap_deltas

METRICS = [
    NDCG(),
    NDCG(k=3),
    NDCG(k=3, gain=Gain.LINEAR, discount=Discount.LETOR),
    NDCG(k=4, fewer_than_k=0.0),
    NDCG(k=2, gain=Gain.table(0, 2, 3, 10)),
    DCG(k=2),
    MeanNDCG(discount=Discount.LETOR),
    AP(),
    AP(k=2),
    AP(k=2, capped=True, threshold=2),
    RR(),
    RR(k=2),
    ERR(max_label=3),
    ERR(k=2, max_label=3),
    Precision(k=3),
    Recall(k=2),
    WTA(threshold=2),
    PairAccuracy(),
    KendallTau(),
]
METRIC = pytest.mark.parametrize("metric", METRICS, ids=str)

documents = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=5)
queries = st.lists(documents, min_size=1, max_size=4)


def by_brute_force(metric, labels, scores):
    """The mean of `of_ranking` over every order that the scores allow."""
    allowed = [
        order
        for order in permutations(range(len(labels)))
        if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]
    return np.nan_to_num(np.mean([metric.of_ranking(labels[list(order)]) for order in allowed]))


@METRIC
@examples(60)
@given(queries, st.sampled_from([1, 2]))
def test_ties_count_as_the_mean_over_all_their_orders(metric, queries, n_threads):
    labels, scores = np.array([pair for query in queries for pair in query], dtype=float).T
    groups = QueryGroups.of_sizes([len(query) for query in queries])
    found = metric.per_query(labels, Ranking.of(scores, groups), n_jobs=n_threads)
    wanted = [by_brute_force(metric, labels[rows], scores[rows]) for rows in groups]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


@METRIC
@examples(40)
@given(documents)
def test_stable_and_worst_ties_are_one_order(metric, query):
    labels, scores = np.array(query, dtype=float).T
    ranking = Ranking.of(scores, QueryGroups.of_sizes([len(query)]))
    for ties, order in (
        (Ties.STABLE, np.argsort(-scores, kind="stable")),
        (Ties.WORST, np.lexsort((labels, -scores))),
    ):
        value = metric.with_options(ties=ties).per_query(labels, ranking)[0]
        assert value == pytest.approx(np.nan_to_num(metric.of_ranking(labels[order])), abs=1e-12)


@METRIC
@examples(60)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=7))
def test_swap_deltas_equal_recomputation(metric, labels):
    labels = np.array(labels, dtype=float)
    np.testing.assert_allclose(metric.swap_deltas(labels), slow_swap_deltas(metric, labels), atol=1e-12)


@METRIC
def test_a_perfect_ranking_has_the_best_value(metric):
    labels = np.array([3.0, 2, 2, 1, 0, 0])
    best = max(metric.of_ranking(labels[list(order)]) for order in permutations(range(6)))
    assert metric.of_ranking(labels) == pytest.approx(best)


@METRIC
@pytest.mark.parametrize(("empty", "counted"), [(0.0, 0.0), (1.0, 1.0), (None, np.nan)])
def test_an_empty_query_counts_what_was_asked(metric, empty, counted):
    if isinstance(metric, DCG) and not isinstance(metric, NDCG):
        pytest.skip("DCG is not normalised: no query is empty, all have the value 0")
    metric = metric.with_options(empty=empty)
    labels = np.array([0.0, 0, 0, 0, 3, 2])
    ranking = Ranking.of(np.arange(6), QueryGroups.of_sizes([4, 2]))
    np.testing.assert_equal(np.isnan(metric.per_query_with_empty(labels, ranking)), [True, False])
    np.testing.assert_equal(metric.per_query(labels, ranking)[0], counted)
    assert np.isfinite(mean_over_queries(metric.per_query(labels, ranking)))


def test_the_mean_of_no_queries_is_not_a_number():
    assert np.isnan(NDCG(empty=None)([0, 0], [1, 2]))


def test_a_metric_is_called_like_a_function():
    assert NDCG()([0, 1, 1, 0], [1, 2, 1, 2], ["a", "a", "b", "b"]) == pytest.approx((1 + 1 / np.log2(3)) / 2)
    assert AP()([0, 1], [2, 1]) == 0.5


def test_cut_off_by_the_at_sign():
    assert NDCG() @ 10 == NDCG(k=10)
    with pytest.raises(InputError, match="no cut-off"):
        WTA() @ 3


def test_a_metric_of_ones_own_is_one_small_class():
    class TopTwo(Metric):
        def of_ranking(self, labels):
            return float((labels[:2] > 0).all())

    metric = TopTwo()
    assert str(metric) == "toptwo"
    labels = np.array([1.0, 0, 1])
    assert metric(labels, [3, 1, 2]) == 1.0
    assert metric(labels, [1, 1, 1]) == pytest.approx(1 / 3)
    np.testing.assert_array_equal(metric.swap_deltas(labels), [[0, 0, 0], [0, 0, 1], [0, 1, 0]])
    many = np.tile([1.0, 0], 50)
    assert metric(many, np.zeros(100)) == pytest.approx(0.25, abs=0.05), "random orders where all are too many"
    assert metric(many, np.zeros(100)) == metric(many, np.zeros(100))
    assert metric(labels, [np.inf, np.inf, np.inf]) == metric(labels, [1, 1, 1]), "infinite scores tie like others"


def test_the_order_of_tied_documents_with_equal_labels_is_not_tried():
    class Counting(Metric):
        def of_ranking(self, labels):
            calls.append(labels)
            return float(labels[0])

    calls = []
    assert Counting()(np.repeat([1.0, 0], 50), np.repeat([2, 1], 50)) == 1.0
    assert len(calls) == 1


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3", 2**31])
def test_a_cut_off_is_a_rank(k):
    with pytest.raises(InputError, match="an integer from 1"):
        NDCG(k=k)


@pytest.mark.parametrize("metric", [NDCG, DCG, AP, RR, ERR, Precision, Recall])
def test_a_cut_off_may_lie_far_beyond_the_last_document(metric):
    assert metric(k=2**31 - 1)([1, 0], [1, 2]) > 0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: NDCG(ties="expected"), "ties must be a value of Ties, not 'expected'"),
        (lambda: PairAccuracy(ties=None), "ties must be a value of Ties, not None"),
        (lambda: NDCG(gain="linear"), "gain must be a value of Gain, not 'linear'"),
        (lambda: MeanNDCG(discount="letor"), "discount must be a value of Discount, not 'letor'"),
        (lambda: NDCG(empty="skip"), "empty must be None or a finite number, not 'skip'"),
        (lambda: WTA(empty=np.nan), "empty must be None or a finite number, not nan"),
        (lambda: NDCG(fewer_than_k=np.inf), "fewer_than_k must be None or a finite number, not inf"),
        (lambda: AP(threshold=None), "threshold must be a finite number, not None"),
        (lambda: Precision(k=None), "k must be an integer from 1"),
        (lambda: ERR(max_label=0), "max_label must be above 0 and at most 50, not 0"),
        (lambda: ERR(max_label=2000), "max_label must be above 0 and at most 50, not 2000"),
    ],
)
def test_an_option_of_another_kind_is_refused(make, sentence):
    with pytest.raises(InputError) as error:
        make()
    assert sentence in str(error.value)


def test_labels_a_gain_cannot_value():
    with pytest.raises(InputError, match="negative labels, but one label is -1"):
        NDCG()([0, -1], [1, 2])
    with pytest.raises(InputError, match="takes labels up to 1000, but one label is 2000"):
        NDCG()([0, 2000], [1, 2])
    assert NDCG(gain=Gain.LINEAR)([0, 2000], [1, 2]) == 1.0
    with pytest.raises(InputError, match="labels 0 to 2, but one label is 3"):
        NDCG(gain=Gain.table(0, 1, 3))([0, 3], [1, 2])
    with pytest.raises(InputError, match=r"ERR\(max_label=5\)"):
        ERR()([0, 5], [1, 2])
    with pytest.raises(InputError, match="finite numbers, none of them negative"):
        Gain.table(0, -1)


@METRIC
def test_one_query_of_many_documents(metric):
    random = np.random.default_rng(3)
    labels = random.integers(0, 4, 25_000).astype(float)
    assert 0 <= metric(labels, labels + random.normal(size=25_000)) <= 1 or isinstance(metric, DCG)


def test_the_ideal_is_the_order_of_gains_not_of_labels():
    metric = NDCG(gain=Gain.table(0, 5, 1))
    assert metric([2, 1, 0], [1, 3, 2]) < metric([2, 1, 0], [2, 3, 1]) == 1.0


@pytest.mark.parametrize("k", range(1, 50))
def test_precision_of_relevant_documents_alone_is_exactly_one(k):
    assert Precision(k=k)(np.ones(60), np.arange(60)) == 1.0
