"""Gradients, sweeps and ties of custom metrics, held equal to every ranking tried by itself."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_metrics import (
    OTHERS,
    SUMS,
    BatchCascade,
    Cascade,
    GoodBeforeBad,
    MeanRank,
    Persistence,
    SafeTwo,
)
from properties import examples
from rankwright import LambdaMART, RankingData
from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.metrics import AP, DCG, ERR, NDCG, RR, MeanNDCG, Metric, Precision, Ties
from rankwright.metrics import custom_gradients as custom_module
from rankwright.metrics.custom_closed_forms import find_depth, find_sum, find_sums
from rankwright.metrics.custom_gradients import (
    SumLambdas,
    SumSweep,
    TriedSwaps,
    custom_lambda_kernel,
    custom_sweep_kernel,
)
from rankwright.metrics.sweep import sweep_by_rankings
from rankwright.rankers.shared.lambdas import LambdaGradients
from reference.lambdas import lambda_gradients as slow_gradients
from reference.swaps import expected_value as slow_expected_value
from reference.swaps import swap_deltas as slow_swap_deltas

METRIC = pytest.mark.parametrize("metric", [*SUMS, *OTHERS], ids=str)
LABELS = st.lists(st.integers(0, 3), min_size=1, max_size=9).map(lambda labels: np.array(labels, dtype=float))
SCORES = st.sampled_from([-1.0, 0.0, 0.5, 2.0])


@st.composite
def judged_queries(draw):
    documents = draw(
        st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), SCORES), min_size=1, max_size=20)
    )
    qid, y, scores = zip(*documents, strict=True)
    return QueryGroups.of(qid), np.array(y, dtype=float), np.array(scores)


OPTIONS = st.fixed_dictionaries({"truncation": st.sampled_from([None, 1, 2, 7]), "normalise": st.booleans()})


def long_queries(n_queries=3, n_documents=40, seed=1):
    random = np.random.default_rng(seed)
    groups = QueryGroups.of_sizes([n_documents] * n_queries)
    return (
        groups,
        random.choice([0.0, 1, 2, 3], groups.n_rows, p=[0.5, 0.3, 0.15, 0.05]),
        random.normal(size=groups.n_rows),
    )


def assert_close(found, wanted, groups):
    for one, other in zip(found, wanted, strict=True):
        for rows in groups:
            np.testing.assert_allclose(
                one[rows], other[rows], rtol=0, atol=3e-4 * np.abs(other[rows]).max() + 1e-24
            )


@METRIC
@examples(20)
@given(judged_queries(), OPTIONS)
def test_gradients_equal_every_swap_tried(metric, queries, options):
    groups, labels, scores = queries
    lambdas = LambdaGradients(metric, labels, groups, **options)
    found = lambdas(scores, n_threads=1)
    assert_close(found, slow_gradients(metric, labels, groups, scores, **options), groups)
    again = LambdaGradients(metric, labels, groups, **options)(scores, n_threads=2)
    assert [one.tobytes() for one in again] == [one.tobytes() for one in found]


@METRIC
@examples(20)
@given(
    judged_queries(), st.sampled_from([(0.0, np.inf), (-np.inf, np.inf), (0.1, 5.0)]), st.sampled_from(list(Ties))
)
def test_sweeps_equal_every_ranking_tried(metric, queries, bounds, ties):
    groups, labels, s = queries
    metric, t = metric.with_options(ties=ties), np.random.default_rng(0).integers(-2, 3, len(s)).astype(float)
    given = {"low": bounds[0], "high": bounds[1], "n_threads": 1}
    found = metric.sweep_kernel(labels, groups)(s, t, **given)
    wanted = sweep_by_rankings(metric, labels, groups, s, t, **given)
    np.testing.assert_allclose(found.starts, wanted.starts, atol=1e-9)
    for alpha in np.unique(np.concatenate([found.alphas, wanted.alphas])):
        np.testing.assert_allclose(change_above(found, alpha), change_above(wanted, alpha), atol=1e-8)


def change_above(swept, alpha):
    """Where two crossings are one up to rounding, only what follows both can be compared."""
    return np.append(0.0, swept.changes)[np.searchsorted(swept.alphas, alpha + 1e-9)]


@METRIC
@examples(20)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=6))
def test_ties_equal_every_order_tried(metric, query):
    labels, scores = np.array(sorted(query, key=lambda one: -one[1]), dtype=float).T
    found = metric.per_query_with_empty(labels, Ranking.of(scores, QueryGroups.of_one(len(labels))))
    np.testing.assert_allclose(found[0], slow_expected_value(metric, labels, scores), atol=1e-12)


@METRIC
@examples(20)
@given(LABELS)
def test_swap_deltas_equal_every_swap_tried(metric, labels):
    np.testing.assert_allclose(metric.swap_deltas(labels), slow_swap_deltas(metric, labels), atol=1e-12)


@pytest.mark.parametrize("metric", [*SUMS, DCG(), NDCG(), NDCG(k=3), MeanNDCG(), Precision(k=2)], ids=str)
@examples(60)
@given(LABELS)
def test_a_sum_over_documents_is_found(metric, labels):
    form = find_sum(metric, labels)
    assert form is not None
    other = np.random.default_rng(3).permutation(labels)
    np.testing.assert_allclose(form.values(other[None])[0], metric.of_ranking(other), atol=1e-8)


@pytest.mark.parametrize("metric", [*OTHERS, AP(), RR(), ERR()], ids=str)
def test_what_is_no_sum_is_not_taken_for_one(metric):
    groups, labels, _ = long_queries()
    assert find_sums(metric, labels, groups) is None


def test_queries_may_differ_in_length_and_discounts():
    labels = np.array([0.0, 1, 2, 1, 0, 2, 0, 1, 0])
    sums = find_sums(MeanRank(), labels, QueryGroups.of_sizes([2, 4, 3]))
    assert [len(one.discounts) for one in sums] == [2, 4, 3]


def test_a_long_sum_takes_about_one_evaluation_per_rank():
    calls = []

    class Counted(Persistence):
        def of_ranking(self, labels):
            calls.append(len(labels))
            return super().of_ranking(labels)

    groups, labels, _ = long_queries(n_queries=4, n_documents=300)
    assert find_sums(Counted(), labels, groups) is not None
    assert len(calls) < 2 * 300, "further queries have the discounts of the first"


@pytest.mark.parametrize(("metric", "depth"), [(SafeTwo(), 2), (Cascade(), None), (NDCG(), None)], ids=str)
def test_the_number_of_ranks_that_count_is_found(metric, depth):
    groups, labels, _ = long_queries()
    assert find_depth(metric, labels, groups) == depth


def test_the_first_bad_document_is_never_below_all_others():
    groups, labels, _ = long_queries()
    assert find_depth(GoodBeforeBad(), labels, groups) <= groups.reduce(np.add, labels > 0).max()


def test_first_ranks_alone_take_few_evaluations():
    calls = []

    class Counted(SafeTwo):
        def of_ranking(self, labels):
            calls.append(len(labels))
            return super().of_ranking(labels)

    groups, labels, scores = long_queries(1, 60)
    lambdas = LambdaGradients(Counted(), labels, groups)
    calls.clear()
    found = lambdas(scores)
    assert len(calls) < 15
    assert_close(found, slow_gradients(SafeTwo(), labels, groups, scores, normalise=True), groups)


@pytest.fixture
def few_swaps(monkeypatch):
    monkeypatch.setattr(custom_module, "SWAPS_OF_A_ROUND", 300)
    monkeypatch.setattr(custom_module, "SWAPS_OF_A_QUERY", 20)


@pytest.mark.usefixtures("few_swaps")
def test_too_many_swaps_are_sampled_with_one_warning():
    groups, labels, scores = long_queries()
    lambdas = LambdaGradients(Cascade(), labels, groups)
    with pytest.warns(UserWarning, match="Each round tries 100 per query"):
        first = lambdas(scores, n_threads=1)
    lambdas(scores + 1, n_threads=1)  # a second warning would be an error
    with warnings.catch_warnings(action="ignore"):
        again = LambdaGradients(Cascade(), labels, groups)(scores, n_threads=2)
    assert [one.tobytes() for one in again] == [one.tobytes() for one in first]


@pytest.mark.usefixtures("few_swaps")
def test_a_batch_form_tries_all_swaps():
    groups, labels, scores = long_queries()
    found = LambdaGradients(BatchCascade(), labels, groups)(scores)
    assert_close(found, slow_gradients(Cascade(), labels, groups, scores, normalise=True), groups)


def test_sampled_deltas_have_the_right_expectation():
    labels = np.random.default_rng(2).integers(0, 4, 12).astype(float)
    swaps = TriedSwaps(Cascade(), most=7, depth=None)
    with warnings.catch_warnings(action="ignore"):
        drawn = [swaps.deltas(labels, np.full(12, float(seed)), 5) for seed in range(600)]
    exact = np.triu(slow_swap_deltas(Cascade(), labels))[:5]
    assert np.mean([(one > 0).sum() for one in drawn]) <= 7
    np.testing.assert_allclose(np.mean(drawn, axis=0), exact, atol=0.25 * exact.max())


@pytest.mark.usefixtures("few_swaps")
def test_a_model_of_sampled_swaps_does_not_depend_on_threads_or_row_order():
    groups, labels, _ = long_queries()
    X = np.random.default_rng(5).normal(size=(len(labels), 4)) + labels[:, None]
    shuffle = np.random.default_rng(6).permutation(len(labels))
    rows = [np.arange(len(labels)), shuffle]
    qid = groups.query_of_row
    with warnings.catch_warnings(action="ignore"):
        models = [
            LambdaMART(Cascade(), rounds=4, n_jobs=jobs).fit(RankingData(X[some], labels[some], qid[some])).model_
            for jobs, some in zip((1, 2), rows, strict=True)
        ]
    assert models[0].predict(X).tobytes() == models[1].predict(X).tobytes()


class SumAtFirst(Metric):
    """A sum over documents in every ranking whose best document is not exactly in the middle."""

    def of_ranking(self, labels):
        value = float(labels @ 0.9 ** np.arange(len(labels)))
        return value + 5.0 if labels[0] == 1 and labels[1] == 3 and labels[2] == 2 else value


def odd_query():
    labels = np.array([3.0, 1, 2] + [0.0] * 37)
    scores = -np.arange(40.0)
    scores[[0, 1]] = scores[[1, 0]]  # ranks 1, 3, 2: the ranking that is not as the trials were
    return QueryGroups.of_one(40), labels, scores


def test_a_sum_that_does_not_hold_is_dropped_with_a_warning():
    groups, labels, scores = odd_query()
    lambdas = LambdaGradients(SumAtFirst(), labels, groups)
    assert isinstance(lambdas._kernel, SumLambdas)
    with pytest.warns(UserWarning, match="seemed to be a sum over documents"):
        found = lambdas(scores)
    assert_close(found, slow_gradients(SumAtFirst(), labels, groups, scores, normalise=True), groups)


def test_a_sweep_of_a_sum_that_does_not_hold_tries_rankings():
    groups, labels, scores = odd_query()
    kernel = SumAtFirst().sweep_kernel(labels, groups)
    assert isinstance(kernel, SumSweep)
    given = {"low": 0.0, "high": 1.0, "n_threads": 1}
    with pytest.warns(UserWarning, match="from here on rankings are tried one by one"):
        found = kernel(scores, np.zeros(40), **given)
    np.testing.assert_allclose(found.starts, [SumAtFirst().of_ranking(labels[np.argsort(-scores)])])


@pytest.mark.usefixtures("few_swaps")
def test_too_many_rankings_of_a_sweep_are_thinned_with_a_warning():
    groups, labels, s = long_queries()
    t, bounds = np.random.default_rng(7).normal(size=len(s)), {"low": 0.0, "high": 5.0, "n_threads": 1}
    with pytest.warns(UserWarning, match="Each search tries at most 100 per query"):
        found = Cascade().sweep_kernel(labels, groups)(s, t, **bounds)
    exact = BatchCascade().sweep_kernel(labels, groups)(s, t, **bounds)
    np.testing.assert_allclose(found.starts, exact.starts)
    assert len(found.alphas) <= 300
    assert len(exact.alphas) > 400
    # A single query's values are right where they were tried.
    one, rows = QueryGroups.of_one(40), slice(0, 40)
    with pytest.warns(UserWarning, match="Each search tries"):
        thin = sweep_by_rankings(Cascade(), labels[rows], one, s[rows], t[rows], most=20, **bounds)
    full = sweep_by_rankings(Cascade(), labels[rows], one, s[rows], t[rows], **bounds)
    places = np.searchsorted(full.alphas, thin.alphas, side="right")
    np.testing.assert_allclose(thin.changes, np.append(0.0, full.changes)[places], atol=1e-12)


def test_a_depth_that_does_not_hold_is_dropped_with_a_warning():
    class DeepAtLast(SafeTwo):
        def of_ranking(self, labels):
            return super().of_ranking(labels) + (labels[5] if labels[0] == 1 and labels[1] == 3 else 0.0)

    _, labels, scores = odd_query()
    labels[3:20] = np.arange(17) % 3
    swaps = TriedSwaps(DeepAtLast(), None, 2)
    ranked = labels[np.argsort(-scores)]
    with pytest.warns(UserWarning, match="seemed to depend on the first 2 ranks alone"):
        found = [swaps.deltas(ranked, scores + seed, None) for seed in range(5)][-1]
    np.testing.assert_allclose(found, np.triu(slow_swap_deltas(DeepAtLast(), ranked)), atol=1e-12)


def test_ties_of_a_sum_are_exact_however_many():
    groups, labels, _ = long_queries(1, 60)
    metric = Persistence()
    value = metric(labels, np.zeros(60))
    gains = np.array([0.0, 1.0, 0.5, -2.0])[labels.astype(int)]
    assert value == pytest.approx(gains.mean() * (0.8 ** np.arange(60)).sum())
    assert len(groups) == 1


def test_a_metric_that_cannot_be_hashed_has_ties_too():
    class Table(Metric):
        __hash__ = None

        def of_ranking(self, labels):
            return float(labels[0])

    labels = np.tile([0.0, 1.0], 30)
    assert Table()(labels, np.zeros(60)) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (lambda rankings: rankings, "must return one value per ranking"),
        (lambda rankings: np.zeros(len(rankings)), "of_rankings and of_ranking must agree"),
    ],
)
def test_refuses_a_wrong_batch_form(values, sentence):
    class Wrong(Cascade):
        def of_rankings(self, rankings):
            return values(rankings)

    with pytest.raises(InputError, match=sentence):
        LambdaGradients(Wrong(), np.array([0.0, 1, 2]), QueryGroups.of_one(3))


def test_refuses_a_metric_that_is_nan_for_some_rankings_only():
    class Partial(Metric):
        def of_ranking(self, labels):
            return float(labels[0] * labels[1]) if labels[-1] == 0 else np.nan

    lambdas = LambdaGradients(Partial(), np.array([1.0, 2, 3, 0]), QueryGroups.of_one(4))
    with pytest.raises(InputError, match="must be a finite number for every ranking"):
        lambdas(np.array([4.0, 3, 2, 1]))


def test_no_queries():
    nothing, groups = np.zeros(0), QueryGroups.of([])
    assert LambdaGradients(Cascade(), nothing, groups)(nothing)[0].tolist() == []
    assert custom_sweep_kernel(Cascade(), nothing, groups).func is sweep_by_rankings
    assert custom_lambda_kernel(Cascade(), nothing, groups) is not None
