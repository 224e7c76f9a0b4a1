"""The conventions against other tools: LETOR's own scripts, trec_eval, scikit-learn."""

import json

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import somersd
from sklearn.metrics import dcg_score, ndcg_score, roc_auc_score

from properties import examples
from rankwright.data.groups import QueryGroups
from rankwright.metrics import KendallTau, PairAccuracy, find_convention, mean_over_queries, parse
from shared_data import SHARED, needs_shared_data

EXPECTED = SHARED / "golden" / "expected.json"
CASES = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else []


def value(name, counting, labels, scores, groups, document_ids=None):
    ranking = find_convention(counting).rank(scores, groups, document_ids)
    return find_convention(counting).apply(parse(name)).per_query(labels, ranking)


@needs_shared_data
@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: "-".join(str(case[key]) for key in ("dataset", "system", "fold"))
)
def test_letor_scripts_print_the_same(case):
    folder = SHARED / "letor" / case["dataset"] / f"Fold{case['fold']}"
    rows = [line.split(maxsplit=2)[:2] for line in (folder / "test.txt").read_text().splitlines()]
    labels = np.array([float(label) for label, _ in rows])
    groups = QueryGroups.of([qid for _, qid in rows])
    scores = np.loadtxt(SHARED / "golden" / case["dataset"] / case["system"] / f"Fold{case['fold']}.test.score")
    wanted = {"map": case["map"]}
    wanted |= {f"p@{k}": number for k, number in enumerate(case["precision"], 1)}
    wanted |= {f"ndcg@{k}": number for k, number in enumerate(case["ndcg"], 1)}
    if "mean_ndcg" in case:
        wanted["mean_ndcg"] = case["mean_ndcg"]
    tolerance = 1e-6 if case["dataset"] == "OHSUMED" else 0.5001e-4
    for name, number in wanted.items():
        found = mean_over_queries(value(name, case["convention"], labels, scores, groups))
        assert found == pytest.approx(number, abs=tolerance), name


run = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


@examples(150)
@given(run, st.randoms(use_true_random=False))
def test_trec_eval_gives_the_same(run, random):
    names = [f"d{number}" for number in range(len(run))]
    random.shuffle(names)
    qid, labels, scores = zip(*run, strict=True)
    judgements = {query: {} for query in qid}
    results = {query: {} for query in qid}
    for query, label, score, name in zip(qid, labels, scores, names, strict=True):
        judgements[query][name] = label
        results[query][name] = float(score) + 1e-9 * random.random()  # a tie, once it is a 32-bit float
    groups = QueryGroups.of(list(qid))
    exact = np.array([results[query][name] for query, name in zip(qid, names, strict=True)])
    measures = {
        "ndcg": "ndcg",
        "ndcg@5": "ndcg_cut_5",
        "map": "map",
        "map@5": "map_cut_5",
        "mrr": "recip_rank",
        "p@5": "P_5",
        "recall@5": "recall_5",
    }
    evaluator = pytrec_eval.RelevanceEvaluator(judgements, set(measures.values()))
    theirs = evaluator.evaluate(results)
    for ours, name in measures.items():
        found = value(ours, "trec", np.array(labels, dtype=float), exact, groups, names)
        np.testing.assert_allclose(found, [theirs[query][name] for query in groups.ids], atol=1e-9, err_msg=ours)


@examples(40)
@given(run)
def test_ir_measures_gives_the_same(run):
    names = [f"d{number:02d}" for number in range(len(run))]
    qid, labels, scores = zip(*run, strict=True)
    judgements = [ir_measures.Qrel(q, d, y) for q, d, y in zip(qid, names, labels, strict=True)]
    results = [ir_measures.ScoredDoc(q, d, float(s)) for q, d, s in zip(qid, names, scores, strict=True)]
    groups = QueryGroups.of(list(qid))
    measures = {
        "ndcg@10": ir_measures.nDCG @ 10,
        "map": ir_measures.AP,
        "mrr": ir_measures.RR,
        "p@3": ir_measures.P @ 3,
    }
    theirs = {
        (one.query_id, one.measure): one.value
        for one in ir_measures.iter_calc(measures.values(), judgements, results)
    }
    for ours, measure in measures.items():
        found = value(ours, "trec", np.array(labels, dtype=float), scores, groups, names)
        np.testing.assert_allclose(
            found, [theirs[query, measure] for query in groups.ids], atol=1e-9, err_msg=ours
        )


judged = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12)


@examples(200)
@given(judged, st.integers(1, 12))
def test_scikit_learn_gives_the_same(judged, k):
    labels, scores = np.array(judged, dtype=float).T
    groups = QueryGroups.of_sizes([len(labels)])
    for ours, theirs in (("ndcg", ndcg_score), ("dcg", dcg_score)):
        assert value(f"{ours}@{k}", "sklearn", labels, scores, groups)[0] == pytest.approx(
            theirs([labels], [scores], k=k), abs=1e-9
        )
    binary = labels > 2
    if binary.any() and not binary.all():
        assert PairAccuracy()(binary, scores) == pytest.approx(roc_auc_score(binary, scores), abs=1e-9)


@examples(100)
@example([(0, 1), (1, 0), (1, 2), (2, 1)])
@given(judged)
def test_kendall_tau_is_somers_d(judged):
    labels, scores = np.array(judged, dtype=float).T
    if np.ptp(labels) > 0 and np.ptp(scores) > 0:
        with np.errstate(invalid="ignore"):  # scipy's p-value may be 0 / 0
            theirs = somersd(labels, scores).statistic
        assert KendallTau()(labels, scores) == pytest.approx(theirs, abs=1e-9)


def test_lightgbm_counts_an_empty_query_one_and_caps_map():
    labels, scores = np.array([0.0, 0, 1, 1, 1]), np.array([1.0, 2, 3, 2, 1])
    groups = QueryGroups.of_sizes([2, 3])
    np.testing.assert_allclose(value("ndcg@2", "lightgbm", labels, scores, groups), [1, 1])
    np.testing.assert_allclose(value("map@2", "lightgbm", labels, scores, groups), [1, 1])
    np.testing.assert_allclose(value("map@2", "standard", labels, scores, groups), [0, 2 / 3])


def test_trec_order_of_ids_beyond_ascii_and_of_scores_beyond_32_bits():
    order = find_convention("trec").rank(
        [1, 1, 1, 1e300, 2e300], QueryGroups.of_sizes([5]), ["b", "é", "Z", "x", "y"]
    )
    assert order.order.tolist() == [4, 3, 1, 0, 2]
