import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright import _native
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
    Precision,
    Recall,
)
from rankwright.metrics.lambdas import NativeLambdas, neighbour_lambda_kernel
from rankwright.rankers.shared.lambdas import LambdaGradients
from reference.lambdas import lambda_gradients as slow_gradients
from reference.lambdas import neighbour_gradients


class TopTwo(Metric):
    def of_ranking(self, labels):
        return float((labels[:2] > 0).all())


METRICS = [
    NDCG(),
    NDCG(k=3),
    NDCG(k=3, gain=Gain.LINEAR, discount=Discount.LETOR),
    NDCG(k=4, fewer_than_k=0.0),
    NDCG(k=2, gain=Gain.table(0, 5, 1, 1)),
    DCG(k=2),
    DCG(gain=Gain.LINEAR),
    MeanNDCG(),
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
    KendallTau(),
    TopTwo(),
]
METRIC = pytest.mark.parametrize("metric", METRICS, ids=str)
NATIVE = pytest.mark.parametrize("metric", [NDCG(), NDCG(k=3), AP(), RR(), ERR(), Precision(k=5)], ids=str)
PATHS = range(_native.widest_path() + 1)

TIED_SCORES = st.sampled_from([-1.5, -0.0, 0.0, 1.0])
SCORES = st.one_of(TIED_SCORES, st.floats(-30, 30), st.sampled_from([-1e308, -1e4, 1e4, 1e308]))


GRADES = st.integers(0, 3)


@st.composite
def judged_queries(draw, labels=GRADES):
    documents = draw(st.lists(st.tuples(st.sampled_from("abc"), labels, SCORES), min_size=1, max_size=25))
    qid, y, scores = zip(*documents, strict=True)
    return QueryGroups.of(qid), np.array(y, dtype=float), np.array(scores)


OPTIONS = st.fixed_dictionaries(
    {
        "truncation": st.sampled_from([None, 1, 2, 7]),
        "normalise": st.booleans(),
        "sigma": st.sampled_from([0.3, 1.0, 2.0]),
    }
)


def assert_close(found, wanted, groups, *, normalise=True):
    """Equal up to what single precision leaves of a discount's difference, or of .01 + a score's."""
    part = 3e-4 if normalise else 3e-5
    for one, other in zip(found, wanted, strict=True):
        assert np.isfinite(one).all()
        for rows in groups:
            scale = np.abs(other[rows]).max()
            np.testing.assert_allclose(one[rows], other[rows], rtol=0, atol=part * scale + 1e-24)


def example(n_queries=40, n_documents=90, seed=5):
    rng = np.random.default_rng(seed)
    groups = QueryGroups.of(rng.integers(n_queries, size=n_queries * n_documents))
    labels = rng.integers(5, size=groups.n_rows).astype(float)
    return groups, labels, np.round(labels + 3 * rng.normal(size=groups.n_rows), 1)


@METRIC
@examples(60)
@given(judged_queries(), OPTIONS)
def test_equals_the_slow_twin(metric, queries, options):
    groups, labels, scores = queries
    found = LambdaGradients(metric, labels, groups, **options)(scores)
    assert_close(
        found, slow_gradients(metric, labels, groups, scores, **options), groups, normalise=options["normalise"]
    )


@pytest.mark.parametrize("metric", [*METRICS, None], ids=str)
@examples(20)
@given(judged_queries(), OPTIONS, st.booleans())
def test_double_precision_is_the_slow_twin_to_the_last_digits(metric, queries, options, weighted):
    groups, labels, scores = queries
    weights = np.linspace(0.0, 2.0, len(groups)) if weighted else None
    found = LambdaGradients(metric, labels, groups, double=True, query_weights=weights, **options)
    expected = slow_gradients(metric, labels, groups, scores, query_weights=weights, **options)
    np.testing.assert_allclose(found(scores), expected, rtol=1e-11, atol=1e-14)
    assert all(
        one.tobytes() == two.tobytes()
        for one, two in zip(found(scores, n_threads=1), found(scores, n_threads=2), strict=True)
    )


def test_double_precision_for_networks():
    random = np.random.default_rng(1)
    labels, scores = random.integers(0, 3, 12).astype(float), random.normal(size=12)
    groups = QueryGroups.of_sizes([5, 1, 6])
    lambdas = LambdaGradients(NDCG(k=3), labels, groups, double=True, query_weights=[1.0, 2.0, 3.0])
    pull = lambdas.pull()
    found = np.concatenate([pull(query, scores[rows]) for query, rows in enumerate(groups)])
    np.testing.assert_allclose(found, lambdas(scores)[0], rtol=1e-12)


@given(judged_queries(labels=st.sampled_from([0.0, 0.5, 0.6, 3.0])), OPTIONS, st.sampled_from(PATHS))
def test_without_a_metric_every_pair_counts_alike(queries, options, path):
    groups, labels, scores = queries
    found = LambdaGradients(None, labels, groups, **options)(scores, n_threads=1)
    wanted = slow_gradients(None, labels, groups, scores, **options)
    assert_close(found, wanted, groups, normalise=options["normalise"])
    ranking = Ranking.of(scores, groups)
    given = {"offsets": groups.offsets, "order": ranking.order, "scores": scores, "labels": labels}
    again = _native.even_lambdas(**given, **options, query_weights=None, n_threads=2, path=path)
    assert [one.tobytes() for one in again] == [one.tobytes() for one in found]


@pytest.mark.parametrize(
    "metric", [NDCG(), NDCG(gain=Gain.LINEAR), AP(threshold=1.5), ERR(k=5), Precision(k=2)], ids=str
)
@given(judged_queries(labels=st.integers(0, 32).map(lambda eighths: eighths / 8)), OPTIONS)
def test_labels_may_be_any_numbers(metric, queries, options):
    groups, labels, scores = queries
    found = LambdaGradients(metric, labels, groups, **options)(scores)
    assert_close(
        found, slow_gradients(metric, labels, groups, scores, **options), groups, normalise=options["normalise"]
    )


@pytest.mark.slow
@NATIVE
@pytest.mark.parametrize("spread", [0.1, 3.0, 500.0])
def test_more_documents_than_one_tile_holds(metric, spread):
    rng = np.random.default_rng(8)
    groups = QueryGroups.of_sizes([150, 16, 17, 1])
    labels = rng.integers(5, size=groups.n_rows).astype(float)
    scores = spread * rng.normal(size=groups.n_rows)
    for truncation in (None, 70):
        found = LambdaGradients(metric, labels, groups, truncation=truncation)(scores)
        wanted = slow_gradients(metric, labels, groups, scores, truncation=truncation, normalise=True)
        assert_close(found, wanted, groups)


@NATIVE
def test_one_long_query_takes_memory_for_its_documents_not_its_pairs(metric):
    rng = np.random.default_rng(4)
    groups, labels = QueryGroups.of_sizes([25_000]), rng.integers(5, size=25_000).astype(float)
    gradient, hessian = LambdaGradients(metric, labels, groups, truncation=100)(rng.normal(size=25_000))
    assert gradient.sum() == pytest.approx(0, abs=1e-5 * np.abs(gradient).sum())
    assert (hessian >= 0).all()
    assert hessian.any()


@METRIC
@given(judged_queries(), OPTIONS)
@examples(20)
def test_each_query_sums_to_zero_and_no_hessian_is_negative(metric, queries, options):
    groups, labels, scores = queries
    gradient, hessian = LambdaGradients(metric, labels, groups, **options)(scores)
    assert (hessian >= 0).all()
    for rows in groups:
        assert abs(gradient[rows].sum()) <= 1e-6 * np.abs(gradient[rows]).sum()


def test_a_better_document_is_pushed_up():
    gradient, hessian = LambdaGradients(NDCG(), np.array([0.0, 1]), QueryGroups.of([7, 7]), normalise=False)(
        np.array([2.0, 2.0])
    )
    delta = 1 - 1 / np.log2(3)
    np.testing.assert_allclose(gradient, [-delta / 2, delta / 2], rtol=1e-6)
    np.testing.assert_allclose(hessian, [delta / 4, delta / 4], rtol=1e-6)


def test_normalising_by_hand():
    labels, scores, groups = np.array([0.0, 1]), np.array([2.0, 1.0]), QueryGroups.of([7, 7])
    gradient, hessian = LambdaGradients(NDCG(), labels, groups)(scores)
    delta, rho = (1 - 1 / np.log2(3)) / 1.01, 1 / (1 + np.exp(-1.0))
    norm = np.log2(1 + 2 * delta * rho) / (2 * delta * rho)
    np.testing.assert_allclose(gradient, norm * delta * rho * np.array([-1, 1]), rtol=1e-6)
    np.testing.assert_allclose(hessian, norm * delta * rho * (1 - rho), rtol=1e-6)


def test_a_truncation_beyond_every_rank_is_none():
    groups, labels, scores = QueryGroups.of_sizes([3]), np.array([0.0, 1.0, 2.0]), np.array([3.0, 2.0, 1.0])
    found = [LambdaGradients(NDCG(), labels, groups, truncation=one)(scores) for one in (2**70, 3, None)]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_truncation_leaves_out_pairs_of_two_low_documents():
    labels, groups = np.array([1.0, 1, 0, 1]), QueryGroups.of([1, 1, 1, 1])
    gradient, _ = LambdaGradients(NDCG(), labels, groups, truncation=2)(np.array([4.0, 3, 2, 1]))
    assert gradient[3] == 0
    assert gradient[0] > 0 > gradient[2]


def test_scores_however_far_apart_give_finite_numbers():
    labels, groups = np.array([0.0, 1, 2, 1, 0]), QueryGroups.of([1] * 5)
    scores = np.array([1.7e308, -1.7e308, 3.0, 2.0, 0.0])
    for normalise in (False, True):
        found = LambdaGradients(NDCG(), labels, groups, normalise=normalise)(scores)
        assert_close(
            found, slow_gradients(NDCG(), labels, groups, scores, normalise=normalise), groups, normalise=normalise
        )
    assert found[0][2] > 0


def test_gains_of_any_size_keep_their_pairs():
    groups = QueryGroups.of([1, 1, 2, 2])
    gradient, _ = LambdaGradients(DCG(), np.array([1000.0, 0, 1, 0]), groups, normalise=False)(np.zeros(4))
    assert gradient[0] == pytest.approx(gradient[2] * 2.0**1000, rel=1e-5)
    years = np.array([2.0e9 + 1, 2.0e9, 0, 0])
    assert LambdaGradients(DCG(gain=Gain.LINEAR), years, groups)(np.zeros(4))[0][0] > 0


def test_deltas_of_any_size_keep_their_pairs():
    class Revenue(TopTwo):
        def of_ranking(self, labels):
            return 1e60 * super().of_ranking(labels)

    labels, groups = np.array([1.0, 0, 1]), QueryGroups.of([1] * 3)
    plain, large = (
        LambdaGradients(metric, labels, groups, normalise=False)(np.zeros(3)) for metric in (TopTwo(), Revenue())
    )
    np.testing.assert_allclose(large, 1e60 * np.array(plain), rtol=1e-6)


def test_queries_without_a_pair_get_nothing():
    groups = QueryGroups.of(["one", "equal", "equal", "none", "none"])
    labels = np.array([3.0, 2, 2, 0, 0])
    for metric in METRICS:
        gradient, hessian = LambdaGradients(metric, labels, groups)(np.array([1.0, 2, 1, 2, 1]))
        assert not gradient.any()
        assert not hessian.any(), "which is how a caller tells that a metric has no usable deltas"


def test_no_documents():
    gradient, hessian = LambdaGradients(NDCG(), np.zeros(0), QueryGroups.of([]))(np.zeros(0))
    assert gradient.tolist() == hessian.tolist() == []


def test_query_weights_scale_what_is_normalised():
    groups, labels, scores = example(3)
    weights = np.array([0.0, 1.0, 2.5])
    plain = LambdaGradients(NDCG(), labels, groups)(scores)
    weighted = LambdaGradients(NDCG(), labels, groups, query_weights=weights)(scores)
    for one, other in zip(weighted, plain, strict=True):
        np.testing.assert_allclose(one, weights[groups.query_of_row] * other, rtol=1e-12)


@METRIC
def test_query_weights_of_any_metric_equal_the_twin(metric):
    groups, labels, scores = example(3, 8)
    labels, weights = np.minimum(labels, 3), np.array([0.5, 1.0, 2.5])
    found = LambdaGradients(metric, labels, groups, query_weights=weights, normalise=False)(scores)
    assert_close(
        found, slow_gradients(metric, labels, groups, scores, query_weights=weights), groups, normalise=False
    )


@NATIVE
def test_any_number_of_threads_and_any_simd_path_give_the_same_bytes(metric):
    groups, labels, scores = example()
    ranking, kernel = Ranking.of(scores, groups), metric.lambda_kernel(labels, groups)
    found = {
        tuple(
            values.tobytes()
            for values in kernel.sums(
                offsets=groups.offsets,
                order=ranking.order,
                scores=scores,
                labels=labels,
                query_weights=None,
                truncation=None,
                normalise=True,
                sigma=1.0,
                n_threads=n_threads,
                path=path,
            )
        )
        for n_threads in (1, 2, 3)
        for path in PATHS
    }
    assert len(found) == 1


def test_the_order_of_rows_does_not_matter():
    groups, labels, scores = example(4, 20)
    scores += 1e-3 * np.arange(len(scores))  # no ties, which the order decides
    shuffle = np.random.default_rng(1).permutation(len(labels))
    shuffled = QueryGroups.of(groups.query_of_row[shuffle].astype(str))
    wanted = LambdaGradients(NDCG(), labels, groups)(scores)
    found = LambdaGradients(NDCG(), labels[shuffle], shuffled)(scores[shuffle])
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other[shuffle])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"truncation": 0}, "truncation must be"),
        ({"truncation": 2.5}, "truncation must be"),
        ({"truncation": True}, "truncation must be"),
        ({"sigma": 0.0}, "sigma must be above 0"),
        ({"sigma": np.nan}, "sigma must be above 0"),
        ({"query_weights": np.ones(2)}, "1 queries but query_weights of shape"),
        ({"query_weights": np.array([-1.0])}, "query_weights must be finite"),
    ],
)
def test_refuses_bad_options(options, sentence):
    with pytest.raises(InputError, match=sentence):
        LambdaGradients(NDCG(), np.array([0.0, 1]), QueryGroups.of([1, 1]), **options)


def test_refuses_infinite_scores():
    with pytest.raises(InputError, match="scores must be finite"):
        LambdaGradients(NDCG(), np.array([0.0, 1]), QueryGroups.of([1, 1]))([np.inf, 0])


@pytest.mark.parametrize("deltas", [np.zeros(3), np.full((2, 2), np.nan), np.full((2, 2), -1.0)])
def test_refuses_unusable_deltas_of_ones_own_metric(deltas):
    class Own(TopTwo):
        def swap_deltas(self, labels):  # noqa: ARG002
            return deltas

    with pytest.raises(InputError, match="own: swap_deltas"):
        LambdaGradients(Own(), np.array([0.0, 1]), QueryGroups.of([1, 1]))([1.0, 0.0])


def native_arguments(**bad):
    good = {
        "offsets": np.array([0, 2]),
        "order": np.array([0, 1]),
        "scores": np.zeros(2),
        "labels": np.array([1.0, 0.0]),
        "query_weights": None,
        "truncation": None,
        "normalise": True,
        "sigma": 1.0,
        "n_threads": 1,
    }
    return {**good, **bad}


@pytest.mark.parametrize(
    "bad",
    [
        {"offsets": np.zeros(0, dtype=np.int64)},
        {"offsets": np.array([0, 3])},
        {"offsets": np.array([0, 3, 2])},
        {"order": np.array([0, 2])},
        {"order": np.array([-1, 0])},
        {"order": np.array([0, 1, 1]), "offsets": np.array([0, 3])},
        {"scores": np.zeros(1)},
        {"scores": np.array([0.0, np.inf])},
        {"labels": np.zeros(3)},
        {"labels": np.array([0.0, np.nan])},
        {"query_weights": np.zeros(2)},
        {"truncation": 0},
        {"sigma": -1.0},
        {"path": -1},
        {"path": _native.widest_path() + 1},
    ],
    ids=str,
)
def test_bindings_refuse_what_would_leave_the_arrays(bad):
    arguments = native_arguments(**bad)
    with pytest.raises(ValueError, match=r"offsets|row|scores|score|query|truncation|sigma|path"):
        _native.reciprocal_rank_lambdas(**arguments, threshold=1.0, depth=None)


@pytest.mark.parametrize(
    ("kernel", "own"),
    [
        ("linear_lambdas", {"gains": np.zeros(1, dtype=np.float32)}),
        ("linear_lambdas", {"gains": np.array([0, np.inf], dtype=np.float32)}),
        ("linear_lambdas", {"query_factors": np.ones(2)}),
        ("linear_lambdas", {"discounts": np.array([np.nan])}),
        ("linear_lambdas", {"discounts": np.array([2.0])}),
        ("linear_by_query_lambdas", {"gains": np.zeros(1, dtype=np.float32)}),
        ("linear_by_query_lambdas", {"query_factors": np.ones(2)}),
        ("linear_by_query_lambdas", {"discounts": np.ones(1)}),
        ("linear_by_query_lambdas", {"discounts": np.array([2.0, 0.0])}),
        ("average_precision_lambdas", {"depth": 0}),
        ("reciprocal_rank_lambdas", {"depth": 0}),
        ("expected_reciprocal_rank_lambdas", {"depth": 0}),
        ("expected_reciprocal_rank_lambdas", {"stop_probability": np.zeros(3)}),
        ("expected_reciprocal_rank_lambdas", {"stop_probability": np.array([0.5, 1.5])}),
        ("given_lambdas", {"deltas": np.zeros((2, 3))}),
        ("given_lambdas", {"deltas": np.zeros((3, 2))}),
        ("given_lambdas", {"deltas": np.zeros((0, 2))}),
        ("given_lambdas", {"deltas": np.full((2, 2), np.inf)}),
        ("given_lambdas", {"offsets": np.array([0, 1, 2])}),
    ],
    ids=str,
)
def test_bindings_refuse_bad_arguments_of_a_metric(kernel, own):
    good = {
        "linear_lambdas": {
            "gains": np.ones(2, dtype=np.float32),
            "discounts": np.ones(5),
            "query_factors": np.ones(1),
        },
        "linear_by_query_lambdas": {
            "gains": np.ones(2, dtype=np.float32),
            "discounts": np.ones(2),
            "query_factors": np.ones(1),
        },
        "average_precision_lambdas": {"threshold": 1.0, "depth": None, "capped": False},
        "reciprocal_rank_lambdas": {"threshold": 1.0, "depth": None},
        "expected_reciprocal_rank_lambdas": {"stop_probability": np.zeros(2), "depth": None},
        "given_lambdas": {"deltas": np.ones((2, 2))},
    }
    arguments = native_arguments(**{**good[kernel], **own})
    with pytest.raises(ValueError, match=r"gains|query_factors|discounts|depth|stop_probability|deltas|one query"):
        getattr(_native, kernel)(**arguments)


# Neighbours in random orders


@examples(60)
@given(judged_queries(), st.integers(1, 4), st.integers(0, 2**64 - 1), st.sampled_from([0.3, 1.0, 2.0]))
def test_neighbours_equal_the_slow_twin_on_any_number_of_threads(queries, n_orders, seed, sigma):
    groups, labels, scores = queries
    options = {"scale": 0.7, "n_orders": n_orders, "seed": seed}
    lambdas = LambdaGradients(None, labels, groups, sigma=sigma, kernel=NativeLambdas("neighbour", options))
    found = lambdas(scores, n_threads=1)
    wanted = neighbour_gradients(labels, groups, scores, sigma=sigma, **options)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    assert [one.tobytes() for one in found] == [one.tobytes() for one in lambdas(scores, n_threads=2)]


def test_noise_of_neighbours_follows_the_seed_and_the_scores_but_not_their_last_bits():
    groups, labels, scores = example()

    def gradients(scores, seed=1):
        kernel = neighbour_lambda_kernel(labels, n_orders=2, seed=seed)
        return LambdaGradients(None, labels, groups, kernel=kernel)(scores)[0]

    first = gradients(scores)
    np.testing.assert_allclose(gradients(scores * (1 + 1e-15)), first, rtol=1e-9, atol=1e-12)
    assert not np.allclose(gradients(scores, seed=2), first)
    assert not np.allclose(gradients(scores + 0.5), first)  # the same differences, another round


def test_more_orders_approach_the_expectation():
    groups, labels, scores = example(n_queries=3, n_documents=8)

    def gradients(n_orders, seed):
        kernel = neighbour_lambda_kernel(labels, n_orders=n_orders, seed=seed)
        return LambdaGradients(None, labels, groups, kernel=kernel)(scores)[0]

    few, many = (np.abs(gradients(n, 1) - gradients(n, 2)).mean() for n in (10, 1000))
    assert many < few / 5


@pytest.mark.parametrize("wrong", [{"scale": 0.0}, {"scale": np.inf}, {"n_orders": 0}])
def test_the_binding_of_neighbours_refuses(wrong):
    groups, labels, scores = example(n_queries=2, n_documents=3)
    options = {"scale": 1.0, "n_orders": 1, "seed": 0} | wrong
    with pytest.raises(ValueError, match=next(iter(wrong))):
        LambdaGradients(None, labels, groups, kernel=NativeLambdas("neighbour", options))(scores)
