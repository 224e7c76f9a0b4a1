from inspect import signature

import numpy as np
import pandas as pd
import pytest

import rankwright as rw
from evaluation.examples import small_data
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.data.groups import Ranking
from rankwright.data.readers.frames import from_pandas
from rankwright.data.readers.trec import Judgements, Run
from rankwright.evaluation.evaluate import EvaluationOptions, evaluate
from rankwright.metrics import AP, NDCG, find_convention
from rankwright.models import FeatureScorer

DATA = small_data()
SCORES = DATA.X[:, 0]


def test_values_are_those_of_the_metrics():
    random = np.random.default_rng(0).normal(size=9)
    report = evaluate({"good": SCORES, "random": random}, DATA, metrics=[NDCG(k=2), "map"])
    for system, scores in (("good", SCORES), ("random", random)):
        ranking = Ranking.of(scores, DATA.groups)
        for metric in (NDCG(k=2), AP()):
            expected = metric.per_query(DATA.y, ranking)
            np.testing.assert_array_equal(report.per_query(system, str(metric)), expected)
    assert report.systems == ("good", "random")
    assert report.metrics == ("ndcg@2", "map")
    assert report.queries == ("a", "b", "c")


def test_a_scorer_is_its_scores():
    scorer = FeatureScorer(0, n_features=1, missing=0.0)
    report = evaluate({"scorer": scorer, "scores": SCORES}, DATA, n_jobs=1)
    for metric in report.metrics:
        np.testing.assert_array_equal(report.per_query("scorer", metric), report.per_query("scores", metric))


def test_empty_queries_are_counted_whatever_they_count():
    report = evaluate({"good": SCORES}, DATA, metrics=["map", "map(empty=none)", "map(threshold=2)"])
    assert report.empty == {"map": 1, "map(empty=none)": 1, "map(threshold=2)": 2}
    assert report.mean("good", "map") == pytest.approx(2 / 3)
    assert report.mean("good", "map(empty=none)") == 1.0


def test_conventions_count_their_own_way():
    tied = np.zeros(9)
    standard = evaluate({"tied": tied}, DATA, metrics=["ndcg@3"])
    letor = evaluate({"tied": tied}, DATA, metrics=["ndcg@3"], convention="letor3")
    given = evaluate({"tied": tied}, DATA, metrics=["ndcg@3"], convention=find_convention("letor3"))
    assert standard.per_query("tied", "ndcg@3")[0] < letor.per_query("tied", "ndcg@3")[0] == 1.0
    assert (standard.convention, letor.convention, given.convention) == ("standard", "letor3", "letor3")
    assert given.mean("tied", "ndcg@3") == letor.mean("tied", "ndcg@3")


def test_rows_in_any_order():
    shuffled = np.random.default_rng(1).permutation(9)
    data = DATA.take(shuffled)
    report = evaluate({"good": SCORES[shuffled]}, data, metrics=["map"])
    values = dict(zip(report.queries, report.per_query("good", "map").tolist(), strict=True))
    assert values == {"a": 1.0, "b": 1.0, "c": 0.0}


@pytest.mark.parametrize(
    ("systems", "options", "sentence"),
    [
        ({}, {}, "nothing to evaluate"),
        ({"short": [1.0, 2.0]}, {}, "9"),
        ({"broken": np.full(9, np.nan)}, {}, "NaN|nan|finite"),
        ({"good": SCORES}, {"metrics": ["ndgc"]}, "did you mean 'ndcg'"),
        ({"good": SCORES}, {"metrics": []}, "at least one metric"),
        ({"good": SCORES}, {"convention": "letor"}, "no convention 'letor'"),
        ({"good": SCORES}, {"convention": "letor3", "metrics": ["mrr"]}, "letor3 has no mrr"),
        ({"wide": FeatureScorer(0, n_features=2, missing=0.0)}, {}, "2"),
    ],
)
def test_mistakes(systems, options, sentence):
    with pytest.raises(InputError, match=sentence):
        evaluate(systems, DATA, **options)


def test_negative_labels_need_a_metric_without_gains():
    data = RankingData(np.zeros((2, 1)), [-1, 1], [0, 0])
    with pytest.raises(InputError, match="not defined for negative labels"):
        evaluate({"scores": [0.0, 1.0]}, data, metrics=["ndcg"])
    assert evaluate({"scores": [0.0, 1.0]}, data, metrics=["map"]).mean("scores", "map") == 1.0


@pytest.mark.parametrize("systems", [[SCORES], [FeatureScorer(0, n_features=1, missing=0.0)], "scores", None, 5])
def test_what_is_no_system_is_refused(systems):
    with pytest.raises(InputError, match=r"Give a fitted ranker, or several systems by name, such as {'mine': "):
        evaluate(systems, DATA)


def test_a_single_system_needs_no_name():
    scorer = FeatureScorer(0, n_features=1, missing=0.0)
    named = evaluate({"any": scorer}, DATA)
    for one, name in (
        (scorer, "feature"),
        (scorer.described(about={"ranker": "Mine"}), "Mine"),
        (SCORES, "scores"),
        (list(SCORES), "scores"),
    ):
        report = evaluate(one, DATA)
        assert report.systems == (name,)
        expected = named.mean("any", "map") if name != "scores" else evaluate({"s": SCORES}, DATA).mean("s", "map")
        assert report.mean(name, "map") == expected


def test_data_may_be_three_arrays():
    report = evaluate({"good": SCORES}, (DATA.X, DATA.y, DATA.qid))
    assert report.to_dict() == evaluate({"good": SCORES}, DATA).to_dict()


def test_data_without_query_ids_are_refused():
    with pytest.raises(
        InputError, match=r"Query ids are needed: give \(X, y, qid\), with one query id per document"
    ):
        evaluate({"good": SCORES}, (DATA.X, DATA.y))


@pytest.mark.parametrize("data", [DATA.X, [DATA.X], None])
def test_other_data_are_refused(data):
    with pytest.raises(InputError, match=r"data must be RankingData or \(X, y, qid\), not "):
        evaluate({"good": SCORES}, data)


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        (["high"] * 4, "BM25: scores must be numbers."),
        ([1.0], r"BM25: There are 4 documents but scores of shape \(1,\)\."),
        (lambda: 0, "BM25: scores must be numbers."),
    ],
)
def test_scores_of_one_of_several_systems_are_refused_with_its_name(scores, sentence):
    data = RankingData([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], [1, 1, 2, 2])
    with pytest.raises(InputError, match=sentence):
        evaluate({"mine": [1, 2, 3, 4], "BM25": scores}, data)


def test_queries_of_one_label_may_be_left_out():
    """Section 5.1 of Wu et al. (2010): the mean is over the other queries alone."""
    y = [1, 0, 0, 2, 2, 1, 0, 0, 3]
    qid = ["a", "a", "b", "c", "c", "d", "d", "d", "e"]  # b and e have one document, c one label
    scores = np.array([1.0, 2, 3, 4, 5, 6, 5, 4, 3])
    data = RankingData(scores[:, None], y, qid)
    everything, some = (
        evaluate({"one": scores}, data, metrics="ndcg@10,map", drop_one_label=drop) for drop in (False, True)
    )
    assert some.queries == ("a", "d")
    places = [everything.queries.index(one) for one in some.queries]
    for metric in some.metrics:
        np.testing.assert_array_equal(some.per_query("one", metric), everything.per_query("one", metric)[places])
    assert some.mean("one", "map") == (0.5 + 1.0) / 2
    assert some.empty == {"ndcg@10": 0, "map": 0}
    with pytest.raises(InputError, match="every query has documents of a single label only"):
        evaluate({"one": scores}, RankingData(scores[:, None], np.ones(9), qid), drop_one_label=True)


def test_queries_with_few_relevant_documents_may_be_left_out():
    y = [1, 0, 0, 2, 2, 1, 1, 0, 3]
    qid = ["a", "a", "b", "c", "c", "d", "d", "d", "e"]
    scores = np.array([1.0, 2, 3, 4, 5, 6, 5, 4, 3])
    data = RankingData(scores[:, None], y, qid)
    found = evaluate({"one": scores}, data, metrics="map", min_relevant=2)
    assert found.queries == ("c", "d")
    assert found.query_facts["relevant"].tolist() == [2, 2]
    assert found.dropped == {"fewer than 2 relevant documents": 3}
    assert found.to_dict()["dropped_queries"] == found.dropped
    assert found.footnote() == ("2 queries; dropped: 3 queries with fewer than 2 relevant documents")
    both = evaluate({"one": scores}, data, metrics="map", min_relevant=2, drop_one_label=True)
    assert (both.queries, both.dropped) == (
        ("d",),
        {"fewer than 2 relevant documents": 3, "a single label": 1},
    )
    with pytest.raises(InputError, match="There is nothing left: every query has fewer than 4 relevant documents"):
        evaluate({"one": scores}, data, min_relevant=4)


def test_judged_queries_of_runs_with_few_relevant_documents_may_be_left_out():
    run = Run.of(["a", "a", "b"], ["1", "9", "3"], [2.0, 1.0, 1.0])
    judgements = Judgements.of(["a", "a", "b", "c"], ["1", "2", "3", "4"], [1, 1, 1, 1])
    found = evaluate({"run": run}, judgements, metrics="map", queries="shared", min_relevant=2)
    assert (found.queries, found.dropped) == (("a",), {"fewer than 2 relevant documents": 1})


def test_queries_of_one_label_of_runs_are_kept():
    run = Run.of(["a", "a", "b"], ["1", "2", "3"], [2.0, 1.0, 1.0])
    judgements = Judgements.of(["a", "a", "b"], ["1", "2", "3"], [1, 0, 1])
    with pytest.raises(InputError, match="drop_one_label is not for runs"):
        evaluate({"run": run}, judgements, drop_one_label=True)


def test_options_that_are_passed_on_are_those_of_evaluate():
    parameters = set(signature(rw.evaluate).parameters)
    assert set(EvaluationOptions.__annotations__) == parameters - {"systems", "data", "metrics"}
    assert EvaluationOptions.__doc__ == rw.evaluate.__doc__
    data = rw.RankingData([[1.0], [2.0]], [0, 1], [1, 1])
    with pytest.raises(TypeError, match="least_relevant"):
        rw.compare({"a": [0.0, 1.0], "b": [1.0, 0.0]}, data, least_relevant=1)


def test_the_order_by_a_column_is_a_system():
    frame = pd.DataFrame(DATA.X[:, :1], columns=["bm25"]).assign(qid=DATA.qid, label=DATA.y)
    data = from_pandas(frame.assign(position=-DATA.X[:, 0]), show=["position"], drop=["position"])
    report = evaluate({"live": "position", "falling": "-bm25", "scores": SCORES}, data, metrics="ndcg@10")
    assert report.mean("live", "ndcg@10") == report.mean("falling", "ndcg@10") == report.mean("scores", "ndcg@10")
    with pytest.warns(UserWarning, match="'-position' ranks most pairs .* its reverse is 'position'"):
        evaluate({"live": "-position"}, data)
    mostly_empty = rw.RankingData(
        [[1], [2]] * 3, [1, 0, 0, 0, 0, 0], [1, 1, 2, 2, 3, 3], feature_names=["position"]
    )
    evaluate({"live": "position"}, mostly_empty)  # without a warning: queries without pairs say nothing
    with pytest.raises(InputError, match="There is no column 'positio'; did you mean 'position'"):
        evaluate({"live": "positio"}, data)
    with pytest.raises(InputError, match="There is no column 'position': judgements have no columns"):
        evaluate({"live": "position"}, Judgements.of(["1"], ["a"], [1]))
