"""Every metric over every alpha at once, against each interval between crossings measured by itself."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright import _native
from rankwright.data.groups import QueryGroups
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
    Precision,
    Recall,
    Ties,
    mean_over_queries,
)
from rankwright.metrics.sweep import sweep_by_rankings
from reference.sweep import sweep as slow_sweep


class TopTwo(Metric):
    """A user's own: defined by `of_ranking` alone, and empty where nothing is relevant."""

    def of_ranking(self, labels):
        return float((labels[:2] > 0).mean()) if labels.any() else np.nan


NATIVE = [
    NDCG(),
    NDCG(k=2),
    NDCG(k=3, gain=Gain.LINEAR, discount=Discount.LETOR, empty=1.0),
    NDCG(k=2, gain=Gain.table(0, 5, 1, 1), empty=None),
    DCG(k=2),
    AP(),
    AP(k=2, empty=None),
    AP(k=2, capped=True, threshold=2),
    RR(),
    RR(k=2, empty=0.5),
    ERR(max_label=3),
    ERR(k=2, max_label=3, empty=None),
    Precision(k=3),
    Recall(k=2),
    WTA(threshold=2),
]
METRICS = [*NATIVE, NDCG(k=4, fewer_than_k=0.3), MeanNDCG(), KendallTau(), TopTwo(), TopTwo(empty=None)]
METRIC = pytest.mark.parametrize("metric", METRICS, ids=str)
NATIVE_METRIC = pytest.mark.parametrize("metric", NATIVE, ids=str)

# Few values, so that lines coincide, run parallel and meet by threes; and some that are no whole numbers.
FEW = st.sampled_from([-1.0, 0.0, 1.0, 2.0])
ANY = st.one_of(FEW, st.floats(-8, 8, width=16))
RANGES = st.sampled_from([(0.0, np.inf), (-np.inf, np.inf), (0.1, 5.0), (0.0, 1.0), (-2.0, 0.5)])


@st.composite
def two_rankers(draw, scores=ANY, max_size=12):
    documents = draw(
        st.lists(
            st.tuples(st.sampled_from("abc"), st.integers(0, 3), scores, scores), min_size=1, max_size=max_size
        )
    )
    qid, y, s, t = zip(*documents, strict=True)
    return QueryGroups.of(qid), np.array(y, dtype=float), np.array(s), np.array(t)


def means(metric, swept):
    """The ends of the intervals, and the mean over queries within each."""
    values = metric.count_empty(swept.starts)
    start = mean_over_queries(values)
    return start + np.append(0.0, swept.changes) / max(1, (~np.isnan(values)).sum())


def assert_equal_sweeps(metric, documents, low, high, n_threads=1):
    groups, y, s, t = documents
    swept = metric.sweep_kernel(y, groups)(s, t, low=low, high=high, n_threads=n_threads)
    assert (np.diff(swept.alphas) > 0).all()
    assert ((low < swept.alphas) & (swept.alphas < high)).all()
    values = means(metric, swept)
    for alpha, wanted in slow_sweep(metric, y, groups, s, t, low, high):
        found = values[np.searchsorted(swept.alphas, float(alpha))]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11)


@METRIC
@examples(60)
@given(two_rankers(FEW), RANGES, st.sampled_from([1, 2]))
def test_every_interval_with_heavy_ties(metric, documents, ends, n_threads):
    assert_equal_sweeps(metric, documents, *ends, n_threads)


@METRIC
@examples(30)
@given(two_rankers(), RANGES)
def test_every_interval(metric, documents, ends):
    assert_equal_sweeps(metric, documents, *ends)


@pytest.mark.parametrize("ties", [Ties.STABLE, Ties.WORST])
@pytest.mark.parametrize("metric", [NDCG(k=2), AP(), RR(), ERR(max_label=3), TopTwo()], ids=str)
@examples(30)
@given(two_rankers(FEW), RANGES)
def test_other_tie_rules(metric, ties, documents, ends):
    assert_equal_sweeps(replace(metric, ties=ties), documents, *ends)


@NATIVE_METRIC
def test_long_queries_agree_with_ranking_after_ranking(metric):
    rng = np.random.default_rng(5)
    sizes = [1, 2, 40, 70]
    groups, n = QueryGroups.of_sizes(sizes), sum(sizes)
    y, s, t = rng.integers(0, 4, n) * 1.0, np.round(rng.normal(size=n), 1), np.round(rng.normal(size=n), 2)
    fast = metric.sweep_kernel(y, groups)(s, t, low=0.0, high=np.inf, n_threads=1)
    slow = sweep_by_rankings(metric, y, groups, s, t, low=0.0, high=np.inf, n_threads=1)
    np.testing.assert_allclose(fast.starts, slow.starts, atol=1e-12)
    at = np.linspace(0.001, 20, 5000)
    np.testing.assert_allclose(
        means(metric, fast)[np.searchsorted(fast.alphas, at)],
        means(metric, slow)[np.searchsorted(slow.alphas, at)],
        atol=1e-11,
    )


@NATIVE_METRIC
def test_same_bytes_on_any_threads_and_in_any_order(metric):
    rng = np.random.default_rng(6)
    qid, y = np.repeat(np.arange(60), 15), rng.integers(0, 4, 900) * 1.0
    s, t = np.round(rng.normal(size=(2, 900)), 1)

    def swept(rows, n_threads):
        groups = QueryGroups.of(qid[rows])
        found = metric.sweep_kernel(y[rows], groups)(s[rows], t[rows], low=0.0, high=9.0, n_threads=n_threads)
        return found.alphas.tobytes(), found.changes.tobytes(), np.sort(found.starts).tobytes()

    assert swept(np.arange(900), 1) == swept(np.arange(900), 3) == swept(rng.permutation(900), 2)


def test_scores_of_any_size():
    # Differences and quotients at the ends of what a double can hold.
    s, t = np.array([1e300, -1e300, 0.0, 5e-324]), np.array([-1e300, 1e300, 5e-324, 0.0])
    groups, y = QueryGroups.of_sizes([4]), np.array([0.0, 1.0, 2.0, 0.0])
    for metric in (NDCG(), AP(), ERR()):
        assert_equal_sweeps(metric, (groups, y, s, t), 0.0, np.inf)


@pytest.mark.parametrize("size", [1e-300, 1e250])
def test_gains_of_any_size(size):
    groups, y = QueryGroups.of_sizes([4]), size * np.array([0.0, 1.0, 2.0, 0.0])
    s, t = np.array([3.0, 2.0, 1.0, 0.0]), np.array([0.0, 1.0, 2.0, 4.0])
    small = DCG(gain=Gain.LINEAR).sweep_kernel(y, groups)(s, t, low=0.0, high=np.inf, n_threads=1)
    plain = DCG(gain=Gain.LINEAR).sweep_kernel(y / size, groups)(s, t, low=0.0, high=np.inf, n_threads=1)
    np.testing.assert_array_equal(small.alphas, plain.alphas)
    np.testing.assert_allclose(small.changes, size * plain.changes, rtol=1e-6)


@pytest.mark.parametrize("centre", [1.0, 1e301])
def test_alphas_rise_also_where_they_all_but_coincide(centre):
    rng = np.random.default_rng(1)
    crossings = centre + rng.integers(0, 300, 500) * np.spacing(centre)
    s, t = np.column_stack([0 * crossings, crossings * 2.0**-40]).ravel(), np.tile([2.0**-40, 0.0], 500)
    swept = NDCG().sweep_kernel(np.tile([1.0, 0.0], 500), QueryGroups.of_sizes([2] * 500))(
        s, t, low=0.0, high=np.inf, n_threads=1
    )
    np.testing.assert_array_equal(swept.alphas, np.unique(crossings))
    assert (np.diff(swept.changes) > 0).all()


@pytest.mark.parametrize("metric", [NDCG(k=2), TopTwo()], ids=str)
def test_no_queries(metric):
    nothing = np.empty(0)
    swept = metric.sweep_kernel(nothing, QueryGroups.of([]))(nothing, nothing, low=0.0, high=1.0, n_threads=1)
    assert [len(part) for part in swept] == [0, 0, 0]


BAD = [
    ({"low": 1.0, "high": 1.0}, "low must be below high"),
    ({"low": np.nan}, "low must be below high"),
    ({"s": np.array([0.0, np.nan])}, "scores must be finite"),
    ({"t": np.array([0.0, 1e301])}, "scores must be finite"),
    ({"t": np.zeros(3)}, "one per row"),
    ({"rows": np.array([0, 2])}, "a row is out of range"),
    ({"offsets": np.array([0, 3])}, "offsets must run"),
    ({"gains": np.zeros(1)}, "finite number for every score"),
    ({"rank_weights": np.zeros(1)}, "one weight per rank"),
    ({"gains": np.full(2, 1e308), "rank_weights": np.ones(2)}, "too large to be summed"),
    ({"gains": np.full(2, 1e308), "rank_weights": np.full(2, 1e-308)}, "too large to be summed"),
    ({"rank_weights": np.full(2, 1e308)}, "too large to be summed"),
]


@pytest.mark.parametrize(("wrong", "sentence"), BAD)
def test_the_core_refuses_what_could_lead_it_astray(wrong, sentence):
    right = {
        "offsets": np.array([0, 2]),
        "rows": np.array([0, 1]),
        "s": np.zeros(2),
        "t": np.zeros(2),
        "low": 0.0,
        "high": 1.0,
        "average_ties": True,
        "n_threads": 1,
        "gains": np.zeros(2),
        "rank_weights": np.zeros(2),
    }
    _native.sweep_gains(**right)
    with pytest.raises(ValueError, match=sentence):
        _native.sweep_gains(**right | wrong)
