"""Comparisons of many systems: tests, corrections, power, slices, and runs counted as trec_eval counts them."""

import math
from itertools import product

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.wording import metric_value
from rankwright.data.readers.trec import Judgements, Run
from rankwright.evaluation.compare import compare_report
from rankwright.evaluation.report import Report
from rankwright.statistics.paired_tests import (
    compare_pairs,
    detectable_effect,
    holm,
    queries_needed,
    sign_p_values,
    t_p_values,
    wilcoxon_p_values,
)


def report_of(values, names=None, metric="ndcg@10"):
    """A report from one row of values per system."""
    values = np.asarray(values, dtype=float)
    systems = tuple(names or [f"s{number}" for number in range(len(values))])
    by_system = {(system, metric): row for system, row in zip(systems, values, strict=True)}
    queries = tuple(f"q{number}" for number in range(values.shape[1]))
    return Report(systems, (metric,), queries, by_system, {metric: 0}, "standard")


def judged_data(n_queries=40, seed=0):
    random = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), 8)
    X = random.normal(size=(len(qid), 3)).astype(np.float32)
    y = np.clip(np.round(X[:, 0] + random.normal(size=len(qid))), 0, 2)
    return rw.RankingData(X, y, qid, feature_names=["good", "bad", "size"])


differences = st.lists(
    st.one_of(st.sampled_from([-0.5, -0.25, 0.0, 0.125, 0.25]), st.floats(-1, 1).map(lambda one: round(one, 6))),
    min_size=2,
    max_size=60,
).map(np.array)


@given(differences)
def test_tests_agree_with_scipy(values):
    if np.ptp(values) > 0:
        assert t_p_values(values[None])[0] == pytest.approx(stats.ttest_1samp(values, 0).pvalue, rel=1e-9)
    better, worse = int((values > 0).sum()), int((values < 0).sum())
    expected = stats.binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert sign_p_values(values[None])[0] == pytest.approx(expected, rel=1e-9)
    expected = stats.wilcoxon(values).pvalue if better + worse else 1.0
    assert wilcoxon_p_values(values[None])[0] == pytest.approx(expected, rel=1e-9)


@given(st.lists(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=7, max_size=7), min_size=2, max_size=4))
def test_the_randomisation_test_tries_all_flips_of_few_queries(rows):
    found = compare_report(report_of(rows))
    flips = np.array(list(product([-1, 1], repeat=7)))
    for pair in found.pairs():
        one, other = (found.report.per_query(name, "ndcg@10") for name in (pair.system, pair.other))
        means = np.abs((flips * (one - other)).mean(axis=1))
        assert pair.p_value == (means >= abs((one - other).mean()) - 1e-12).mean()


def test_the_randomisation_test_agrees_with_scipys_permutations():
    one, other = np.random.default_rng(3).beta(2, 2, (2, 40))
    other = 0.7 * other + 0.15
    found = compare_report(report_of([one, other])).pairs()[0]
    expected = stats.permutation_test(
        (one, other), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=20_000, rng=1
    )
    assert found.p_value == pytest.approx(expected.pvalue, abs=0.015)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12).map(np.array))
def test_holm_as_its_steps_read(p_values):
    order = np.argsort(p_values, kind="stable")
    expected, reached = np.empty(len(p_values)), 0.0
    for step, place in enumerate(order):
        reached = max(reached, min(1.0, (len(p_values) - step) * p_values[place]))
        expected[place] = reached
    np.testing.assert_array_equal(holm(p_values), expected)


def test_holm_by_hand():
    assert holm(np.array([0.01, 0.04, 0.03])) == pytest.approx([0.03, 0.06, 0.06])
    assert holm(np.array([0.5, 0.9])) == pytest.approx([1.0, 1.0])


def test_p_values_are_corrected_for_all_pairs():
    values = np.random.default_rng(0).random((5, 30))
    found = compare_report(report_of(values))
    raw = np.array([pair.p_values["t"] for pair in found.pairs()])
    corrected = [pair.corrected["t"] for pair in found.pairs()]
    assert len(raw) == 10
    np.testing.assert_allclose(corrected, holm(raw))
    against = compare_report(report_of(values), baseline="s2")
    assert [(pair.system, pair.other) for pair in against.pairs()] == [(f"s{n}", "s2") for n in (0, 1, 3, 4)]
    np.testing.assert_allclose(
        [pair.corrected["t"] for pair in against.pairs()],
        holm(np.array([pair.p_values["t"] for pair in against.pairs()])),
    )


def test_what_a_pair_says():
    one = np.array([0.9, 0.5, 0.5, 0.2, 0.7])
    other = np.array([0.5, 0.5, 0.25, 0.3, 0.3])
    pair = compare_report(report_of([one, other], ["new", "old"])).pair("new", "old")
    deltas = one - other
    assert pair.difference == pytest.approx(deltas.mean())
    assert (pair.better, pair.equal, pair.worse) == (3, 1, 1)
    assert pair.effect_size == pytest.approx(deltas.mean() / deltas.std(ddof=1))
    assert pair.interval == pytest.approx(stats.ttest_1samp(deltas, 0).confidence_interval())
    turned = compare_report(report_of([one, other], ["new", "old"])).pair("old", "new")
    assert (turned.difference, turned.better, turned.p_value) == (-pair.difference, 1, pair.p_value)


@pytest.mark.parametrize("n_queries", [10, 40, 150])
def test_power_in_simulation(n_queries):
    """So many queries show the detectable difference 80 times in 100."""
    effect = float(detectable_effect(n_queries, level=0.95))
    samples = np.random.default_rng(n_queries).normal(effect, 1.0, (20_000, n_queries))
    assert (t_p_values(samples) < 0.05).mean() == pytest.approx(0.8, abs=0.012)


@pytest.mark.parametrize("effect", [0.9, 0.4, 0.15])
def test_the_queries_needed_are_the_fewest(effect):
    needed = int(queries_needed(np.array([effect]), level=0.95)[0])
    assert detectable_effect(needed, level=0.95) <= effect * 1.001
    assert detectable_effect(needed - 1, level=0.95) > effect * 0.999


def test_no_difference_needs_endlessly_many_queries():
    same = compare_report(report_of([[0.5, 0.25, 1.0]] * 2)).pairs()[0]
    assert math.isinf(same.queries_needed)
    assert set(same.p_values.values()) == {1.0}


@pytest.mark.long
def test_200_systems():
    random = np.random.default_rng(0)
    values = np.clip(random.normal(0.5, 0.2, 60) + random.normal(0, 0.1, (200, 60)), 0, 1)
    values[17] += 0.2
    found = compare_report(report_of(values))
    assert len(found.pairs()) == 199 * 100
    assert found.by().ranked()[0] == "s17"
    assert found.summary.startswith("s17 beats ")
    assert len(str(found).splitlines()) < 400
    assert "more pairs" in str(found)


def test_one_query_cannot_be_tested():
    found = compare_report(report_of([[0.5], [0.7]], ["old", "new"]))
    assert found.summary == "On the only query, the ndcg@10 of new is 0.7000, that of old 0.5000."
    assert all(math.isnan(one) for one in found.pairs()[0].p_values.values())
    assert "new (against old)" in str(found)


def test_queries_without_a_value_are_left_out_and_said():
    found = compare_report(report_of([[0.5, np.nan, 0.7, 0.1], [0.4, 0.4, 0.6, 0.2]]))
    assert (found.by().n_queries, found.left_out()) == (3, 1)
    assert "1 query without a value of ndcg@10 left out." in str(found)


@pytest.mark.long
def test_detectable_differences_hold_after_the_correction():
    """Ten systems, of which one is ahead by what the queries can show: found 80 times in 100 or more."""
    random = np.random.default_rng(1)
    effect = float(detectable_effect(40, level=1 - 0.05 / 45))
    found = 0
    for _ in range(300):
        values = random.normal(0, 1 / np.sqrt(2), (10, 40))
        values[0] += effect
        pairs = compare_pairs(list("abcdefghij"), values, *np.triu_indices(10, 1), level=0.95, random_state=0)
        found += pairs.pair("a", "b").corrected["t"] < 0.05
    assert 0.75 < found / 300 < 0.92


def test_slices_by_difficulty_are_not_tested():
    """They are chosen by the outcome: systems of different spread would differ in some slice by chance alone."""
    data = judged_data()
    found = rw.compare({"a": data.X[:, 0], "b": data.X[:, 1]}, data, slices="difficulty")
    for one in found.slices()[0].slices:
        assert not one.tested
        assert all(math.isnan(p) for p in one.compared.pairs.at(0).p_values.values())
    assert "Slices by difficulty are not tested" in str(found)


def test_equal_differences_tell_nothing_of_their_error():
    pair = compare_report(report_of([[0.5, 0.25, 0.75], [0.4, 0.15, 0.65]])).pairs()[0]
    assert math.isnan(pair.p_values["t"])
    assert math.isnan(pair.interval[0])


def test_a_model_beside_a_run_of_unjudged_documents_is_said_to_be_favoured():
    judgements = Judgements.of(["1", "1"], ["a", "b"], [1, 0])
    run = Run.of(["1", "1"], ["x", "a"], [2.0, 1.0])
    report = rw.evaluate({"model": [1.0, 0.0], "run": run}, judgements)
    assert "model ranks judged documents only, but run also retrieves others" in report.remarks()[-1]
    assert report.to_dict()["coverage"]["run"]["n_unjudged_documents"] == 1


def test_runs_and_judgements_are_measured_by_trec_eval():
    judgements = Judgements.of(["1", "1"], ["a", "b"], [2, 1])
    run = Run.of(["1", "1"], ["b", "a"], [2.0, 1.0])
    assert rw.evaluate({"run": run}, judgements).convention == "trec"
    assert rw.evaluate({"scores": [1.0, 2.0]}, judgements).convention == "standard"


def test_slices():
    data = judged_data()
    systems = {"good": data.X[:, 0], "bad": data.X[:, 1]}
    halves = {query: "even" if query % 2 == 0 else "odd" for query in range(40)}
    found = rw.compare(systems, data, slices={one: one for one in ("relevant", "difficulty")} | {"parity": halves})
    assert [one.by for one in found.slices()] == ["relevant", "difficulty", "parity"]
    parity = found.slices()[2]
    assert [(one.name, one.compared.n_queries) for one in parity.slices] == [("even", 20), ("odd", 20)]
    even = np.arange(40) % 2 == 0
    values = found.report.per_query("good", "ndcg@10")
    assert parity.slices[0].compared.mean("good") == pytest.approx(np.nanmean(values[even]))
    raw = [one.compared.pairs.at(0).p_values["t"] for one in parity.slices]
    corrected = [one.compared.pairs.at(0).corrected["t"] for one in parity.slices]
    np.testing.assert_allclose(corrected, holm(np.array(raw)))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"baseline": "godo"}, "There is no system 'godo' to be the baseline"),
        ({"slices": "sise"}, "Queries cannot be divided by 'sise'"),
        ({"slices": "size"}, "differ between the documents of query"),
        ({"level": 95}, "level must be a number between 0 and 1"),
    ],
)
def test_mistakes(options, sentence):
    data = judged_data()
    with pytest.raises(InputError, match=sentence):
        rw.compare({"good": data.X[:, 0], "bad": data.X[:, 1]}, data, **options)


def test_one_system_is_no_comparison():
    data = judged_data()
    with pytest.raises(InputError, match="only one system, good"):
        rw.compare({"good": data.X[:, 0]}, data)


def drawn_run(random, queries, retrieved, name):
    rows = [
        (query, f"d{document}", float(random.random()))
        for query in queries
        for document in random.choice(60, retrieved, replace=False)
    ]
    qid, documents, scores = zip(*rows, strict=True)
    return Run.of(list(qid), list(documents), list(scores), tag=name)


@pytest.mark.parametrize("seed", range(4))
def test_runs_have_trec_evals_values(seed):
    """Judged documents that a run did not retrieve count in the divisor; unjudged ones are irrelevant."""
    random = np.random.default_rng(seed)
    queries = [f"q{number}" for number in range(12)]
    judged = {(query, f"d{one}") for query in queries for one in random.choice(60, 25, replace=False)}
    labels = {pair: int(random.integers(0, 4)) for pair in sorted(judged)}
    qid, documents = zip(*labels, strict=True)
    judgements = Judgements.of(list(qid), list(documents), list(labels.values()))
    runs = {name: drawn_run(random, queries, 20, name) for name in ("a", "b")}
    metrics = {"ndcg@10": "ndcg_cut_10", "map": "map", "recall@20": "recall_20", "p@5": "P_5", "mrr": "recip_rank"}
    report = rw.compare(runs, judgements, metrics=list(metrics), convention="trec").report
    relevant = {query: {} for query in queries}
    for (query, document), label in labels.items():
        relevant[query][document] = label
    evaluator = pytrec_eval.RelevanceEvaluator(relevant, {"ndcg_cut", "map", "recall", "P", "recip_rank"})
    for name, run in runs.items():
        ranked = {query: {} for query in queries}
        for query, document, score in zip(run.qid, run.document_ids, run.scores, strict=True):
            ranked[str(query)][document] = float(score)
        expected = evaluator.evaluate(ranked)
        for ours, theirs in metrics.items():
            values = dict(zip(report.queries, report.per_query(name, ours), strict=True))
            for query in queries:
                assert values[query] == pytest.approx(expected[query][theirs], abs=1e-9), (ours, query)


def test_runs_over_different_queries_say_how_many_are_shared():
    random = np.random.default_rng(0)
    queries = [f"q{number}" for number in range(6)]
    judgements = Judgements.of(queries, ["d0"] * 6, [1] * 6)
    runs = {"all": drawn_run(random, queries, 60, "all"), "some": drawn_run(random, queries[:4], 60, "some")}
    with pytest.raises(InputError, match="some has no document for 2 of 6 judged queries, and 4 are shared"):
        rw.compare(runs, judgements)
    assert rw.compare(runs, judgements, queries="shared").by().n_queries == 4
    found = rw.compare(runs, judgements, queries="judged")
    assert found.by().n_queries == 6
    assert "some: 2 judged queries without a document, counted as 0." in str(found)


def test_many_pairs_are_those_of_each_pair_alone():
    values = np.random.default_rng(5).random((6, 25))
    first, second = np.triu_indices(6, 1)
    together = compare_pairs(list("abcdef"), values, first, second, level=0.95, random_state=0)
    for place, (one, other) in enumerate(zip(first, second, strict=True)):
        alone = rw.compare_values(values[one], values[other])
        found = together.at(place)
        assert found.difference == pytest.approx(alone.difference, abs=1e-12)
        assert found.p_value == pytest.approx(alone.p_value, abs=1e-12)
        assert (found.better, found.worse) == (alone.better, alone.worse)


def test_text_has_tests_and_the_means_on_slices_by_every_metric():
    data = judged_data()
    noise = np.random.default_rng(1).normal(size=(3, len(data.y)))
    systems = {name: data.X[:, 0] + row for name, row in zip(("a", "b", "Cc"), noise, strict=True)}
    found = rw.compare(systems, data, metrics=["ndcg@10", "map"], slices="relevant")
    text = str(found)
    for metric in ("ndcg@10", "map"):
        assert f"{metric}: p (Holm)" in text
        assert f"Mean {metric} by " in text
        (slicing,) = found.slices(metric)
        for part in slicing.slices:
            assert all(metric_value(part.compared.mean(system)) in text for system in systems)


def test_a_difference_that_is_not_there_or_too_small_to_show():
    equal = compare_report(report_of([[1.0, 0.5], [0.5, 1.0]], ["a", "B"]))
    assert equal.summary == (
        "a and B have the same mean ndcg@10: the first is better on 1 query, the second on 1."
    )
    near = compare_report(report_of([[1.00001, 0.5], [0.5, 1.0]], ["a", "B"]))
    assert near.summary.startswith("a is ahead of B by less than 0.0001 ndcg@10, which may be chance")
    described = near.differences_chart().description
    assert described.startswith("Difference in ndcg@10 from a, with its 95 % interval: B ")


def test_no_system_is_significantly_behind_the_best():
    values = [[1.0, 0.5, 0.2], [0.5, 0.9, 0.1], [0.5, 0.9, 0.1]]
    assert compare_report(report_of(values, ["a", "b", "c"])).summary.endswith(
        "which may be chance (p = 1.000), as may its lead over the other system."
    )


def test_no_other_system_differs_from_the_baseline():
    found = compare_report(
        report_of([[1.0, 0.5, 0.2], [0.5, 1.0, 0.1], [0.5, 0.9, 0.1]], ["a", "b", "c"]), baseline="b"
    )
    assert found.summary == (
        "a is ahead of the baseline (b) by 0.0333 ndcg@10, which may be chance (p = 1.000), and no other system "
        "differs from it significantly."
    )


@pytest.mark.parametrize(
    ("means", "baseline", "finding", "others"),
    [
        ((0.2, 0.7), None, "s1 beats s0 by 0.5000", ""),
        ((0.2, 0.7), "s0", "s1 beats the baseline (s0) by 0.5000", ""),
        ((0.2, 0.5, 0.6, 0.7), "s0", "s3 beats the baseline (s0) by 0.5000", ", as do both other systems"),
        ((0.2, 0.2, 0.6, 0.7), "s0", "s3 beats the baseline (s0) by 0.5000", ", as does 1 of the 2 other systems"),
        (
            (0.4, 0.7, 0.1),
            "s0",
            "s1 beats the baseline (s0) by 0.3000",
            ", and no other system does, while the baseline beats the other system",
        ),
        ((0.9, 0.5, 0.6), "s0", "The baseline (s0) beats s2 by 0.3000", " and also the other system"),
        ((0.9, 0.5, 0.6, 0.4, 0.3), None, "s0 beats s2 by 0.3000", " and also all 3 other systems"),
    ],
)
def test_the_headline_is_a_sentence(means, baseline, finding, others):
    noise = np.random.default_rng(0).normal(0, 0.001, (len(means), 40))
    noise -= noise.mean(axis=1, keepdims=True)
    compared = compare_report(report_of(np.array(means)[:, None] + noise), baseline=baseline)
    assert compared.summary == f"{finding} ndcg@10 (p < 0.001){others}."


def test_gates_against_a_baseline():
    judged = rw.synthetic.gaussian_queries(20, spread=(0.2, 1.3))
    good, bad = judged.X.T
    same = {"old": bad, "new": bad}
    better = rw.compare({"old": bad, "new": good}, judged, metrics="map", baseline="old")
    worse = rw.compare({"old": good, "new": bad}, judged, metrics="map", baseline="old")
    equal = rw.compare(same, judged, metrics="map", baseline="old")
    gates = [[compared.passes(gate) for gate in ("ahead", "not-behind")] for compared in (better, worse, equal)]
    assert gates == [[True, True], [False, False], [False, True]]
    with pytest.raises(rw.InputError, match=r"^gate must be 'ahead' or 'not-behind', not 'better'\.$"):
        better.passes("better")
    with pytest.raises(rw.InputError, match=r"^gate needs a baseline to compare with\.$"):
        rw.compare(same, judged, metrics="map").passes("ahead")
