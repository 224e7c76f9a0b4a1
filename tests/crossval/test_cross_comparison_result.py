"""Several rankers over the same folds, and curves by cut-off."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankwright as rw
from rankwright import AdaRank, InputError, LambdaMART, RankingData, cross_validate, synthetic
from rankwright.cards.crossval_page import write_rankers_page
from rankwright.crossval.cross_comparison_result import CrossComparison
from rankwright.evaluation.compare import compare_report

TRUTH = synthetic.RandomPolynomial.draw(3, n_features=5, n_active=3, n_terms=4)
DATA = TRUTH.sample(25, seed=1, n_documents=6)
RANKERS = {
    "trees": LambdaMART("ndcg@5", rounds=6),
    "ada": AdaRank("ndcg@5", directions="both", rounds=5),
    "few": LambdaMART("ndcg@5", rounds=2),
}
HOW = {"folds": 3, "metrics": "ndcg@1-3,map"}


@pytest.fixture(scope="module")
def found():
    return cross_validate(RANKERS, DATA, **HOW)


def test_each_ranker_gets_what_it_gets_alone(found):
    assert isinstance(found, CrossComparison)
    assert (found.rankers, list(found), len(found)) == (("trees", "ada", "few"), ["trees", "ada", "few"], 3)
    for name, ranker in RANKERS.items():
        alone = cross_validate(ranker, DATA, **HOW)
        for metric in found.metrics:
            assert found[name].per_query(metric).tolist() == alone.per_query(metric).tolist()
            assert found.mean(name, metric) == alone.mean(metric)
        assert [fold.best_round for fold in found[name].folds] == [fold.best_round for fold in alone.folds]
        assert not hasattr(ranker, "model_")


def test_test_queries_are_pooled(found):
    report = found.report
    assert sorted(report.queries) == sorted(DATA.groups.ids.tolist())
    assert report.systems == ("trees", "ada", "few")
    relevant = dict(
        zip(DATA.groups.ids.tolist(), DATA.groups.reduce(np.add, (DATA.y >= 1).astype(int)), strict=True)
    )
    assert report.query_facts["relevant"].tolist() == [relevant[query] for query in report.queries]
    pooled = np.concatenate([fold.report.per_query("ada", "map") for fold in found["ada"].folds])
    assert report.per_query("ada", "map").tolist() == pooled.tolist()
    assert sum(report.empty.values()) == sum(sum(fold.report.empty.values()) for fold in found["trees"].folds)


def test_rankers_are_compared_as_compare_does(found):
    compared = found.compare()
    by_hand = compare_report(found.report)
    assert [pair.to_dict() for pair in compared.pairs("map")] == [pair.to_dict() for pair in by_hand.pairs("map")]
    pair = compared.pair("trees", "few", "map")
    values = [found[name].per_query("map") for name in ("trees", "few")]
    assert pair.difference == pytest.approx(np.mean(values[0] - values[1]))
    from scipy.stats import ttest_rel

    assert pair.p_values["t"] == pytest.approx(ttest_rel(*values).pvalue)
    assert {"randomisation", "t"} <= set(pair.corrected)
    assert all(pair.corrected[test] >= pair.p_values[test] for test in ("randomisation", "t"))
    assert [one.system for one in found.compare(baseline="few").pairs()] == ["trees", "ada"]
    slices = found.compare(slices="relevant").slices("map")[0]
    assert sum(one.compared.n_queries for one in slices.slices) == 25
    kinds = {query: query % 2 for query in found.report.queries}
    assert len(found.compare(slices={"kind": kinds}).slices()[0].slices) == 2
    with pytest.raises(InputError, match="The slices by kind need a mapping from query id to value"):
        found.compare(slices={"kind": [0] * 25})


def test_repeats_of_a_query_count_as_their_mean():
    found = cross_validate({"a": RANKERS["trees"], "b": RANKERS["few"]}, DATA, folds=2, repeats=3, metrics="map")
    assert list(found.report.queries) == sorted(DATA.groups.ids.tolist())
    by_query = {query: [] for query in found.report.queries}
    for fold in found["a"].folds:
        for query, value in zip(fold.report.queries, fold.report.per_query("a", "map"), strict=True):
            by_query[query].append(value)
    expected = [np.mean(by_query[query]) for query in found.report.queries]
    np.testing.assert_allclose(found.report.per_query("a", "map"), expected, rtol=1e-12)


def test_the_order_is_by_the_mean_over_folds(found):
    ranked = found.ranked("map")
    assert sorted(ranked) == ["ada", "few", "trees"]
    means = [found.mean(name, "map") for name in ranked]
    assert means == sorted(means, reverse=True)
    means, folds = found.sections[-1].blocks[:2]
    assert [column.title for column in means.columns] == ["mean over folds", "ndcg@1", "ndcg@2", "ndcg@3", "map"]
    assert [row[0] for row in means.rows] == found.ranked()
    assert [column.title for column in folds.columns] == ["ndcg@1", "Fold1", "Fold2", "Fold3"]
    for name, *values in folds.rows:
        assert np.mean(values) == pytest.approx(found.mean(name, "ndcg@1"))


def test_what_is_printed(found):
    text = str(found)
    assert text.startswith(found.compare().summary)
    for words in ("mean over folds", "Fold3", "p (Holm)", "25 queries"):
        assert words in text
    assert repr(found) == f"<CrossComparison: {found.summary}>"
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert list(plain["rankers"]) == ["trees", "ada", "few"]
    assert plain["rankers"]["ada"]["mean"]["map"] == found.mean("ada", "map")
    assert plain["comparison"]["correction"] == "holm"
    assert "25 queries" in found.chart("map").description
    assert "text/plain" in found._repr_mimebundle_()


def test_one_ranker_by_name_is_not_compared():
    found = cross_validate({"only": RANKERS["few"]}, DATA, **HOW)
    assert found.to_dict()["comparison"] is None
    assert str(found).startswith("LambdaMART has ")
    assert "mean over folds" in str(found)
    with pytest.raises(InputError, match="There is only one system, only"):
        found.compare()


def test_rankers_of_a_list_are_called_as_their_methods():
    found = cross_validate(["mart", AdaRank(rounds=1)], DATA, folds=2, metrics="map")
    assert found.rankers == ("mart", "adarank")


def test_grids_are_by_ranker():
    seen = []
    found = cross_validate(
        {"a": RANKERS["trees"], "b": RANKERS["ada"]},
        DATA,
        folds=2,
        validation=0.3,
        tune=True,
        grid={"a": {"max_leaves": [4, 8]}, "b": {"choose": ["loss"]}},
        on_fold=seen.append,
    )
    assert {tuple(fold.chosen) for fold in found["a"].folds} == {("max_leaves",)}
    assert {fold.chosen["choose"] for fold in found["b"].folds} == {"loss"}
    assert [next(iter(fold.report.systems)) for fold in seen] == ["a", "b", "a", "b"]
    own = cross_validate({"b": RANKERS["ada"]}, DATA, folds=2, validation=0.3, tune=True, grid={})
    assert [len(fold.trials) for fold in own["b"].folds] == [2, 2]


@pytest.mark.parametrize(
    ("rankers", "options", "sentence"),
    [
        ({}, {}, "There is nothing to cross-validate: give at least one ranker."),
        ([], {}, "There is nothing to cross-validate: give at least one ranker."),
        ({"a": 3}, {}, "Give a ranker, such as LambdaMART() or 'lambdamart', not int."),
        ({"a": "lambdamrat"}, {}, "There is no ranker 'lambdamrat'; did you mean 'lambdamart'?"),
        (
            ["mart", "mart"],
            {},
            "Two rankers are called mart; give rankers by name, such as {'one': MART(...), 'other': MART(...)}.",
        ),
        (
            {"a": "mart"},
            {"tune": True, "grid": {"b": {}}},
            "The grid is for 'b', which is none of the rankers; there are a.",
        ),
        (
            {"a": "mart"},
            {"tune": True, "grid": {"a": [1]}},
            "The grid of several rankers is by name: {'LambdaMART': {'max_leaves': [4, 16]}}.",
        ),
        ({"a": "mart"}, {"folds": 26}, "26 folds need at least 26 queries, not 25."),
    ],
)
def test_mistakes_are_told_before_training(monkeypatch, rankers, options, sentence):
    monkeypatch.setattr(rw.MART, "fit", None)
    with pytest.raises(InputError) as caught:
        cross_validate(rankers, DATA, **options)
    assert str(caught.value) == sentence


def test_a_ranker_spelled_as_a_dict_is_one_ranker():
    found = cross_validate({"ranker": "adarank", "rounds": 1}, DATA, folds=2)
    assert found.ranker == "adarank"


def test_an_unknown_ranker_of_the_result(found):
    with pytest.raises(InputError, match="There is no ranker 'tree'; did you mean 'trees'"):
        found["tree"]


def test_the_page(found, tmp_path):
    write_rankers_page(found.against("few"), tmp_path / "page.html", data=DATA, reproduce="make it")
    text = (tmp_path / "page.html").read_text()
    for words in ("Cross-validation of 3 rankers", "By cut-off", "mean over folds", "Fold3", "make it"):
        assert words in text


# ---- curves by cut-off


def test_curves_of_several_rankers(found):
    curves = found.curves()
    assert (curves.metric, curves.cutoffs) == ("ndcg", (1, 2, 3))
    for name in found.rankers:
        values = [found.report.mean(name, f"ndcg@{cut}") for cut in (1, 2, 3)]
        assert [one.value for one in curves.curves[name]] == values
    assert [column.title for column in curves.tables[0].columns] == ["ndcg", "@1", "@2", "@3"]
    assert found.curves(" NDCG").curves == curves.curves
    assert "25 queries" in curves.note
    assert "From cut-off 1 to 3, the mean ndcg goes from " in curves.chart().description
    assert curves.to_dict()["systems"]["ada"][2]["value"] == found.report.mean("ada", "ndcg@3")
    with pytest.raises(InputError, match="A curve needs p at several cut-offs; measure metrics='p@1-10'"):
        found.curves("p")


def test_curves_of_systems():
    rng = np.random.default_rng(0)
    systems = {"labels": DATA.y, "noise": rng.normal(size=len(DATA))}
    curves = rw.analyses.cutoff_curves(systems, DATA, metric="ndcg(gain=linear)", cutoffs=[3, 1, 5])
    assert (curves.metric, curves.cutoffs) == ("ndcg(gain=linear)", (1, 3, 5))
    expected = rw.evaluate(systems, DATA, metrics="ndcg@3(gain=linear)")
    assert curves.curves["noise"][1].value == expected.mean("noise", "ndcg@3(gain=linear)")
    assert {one.value for one in curves.curves["labels"]} == {1.0}
    upper = rw.analyses.cutoff_curves(systems, DATA, metric="NDCG", cutoffs="1-2", min_relevant=1)
    assert (upper.metric, upper.cutoffs) == ("ndcg", (1, 2))
    assert "dropped: " in upper.note
    alike = RankingData(DATA.X, np.where(DATA.qid == 0, 1, DATA.y), DATA.qid)
    told = rw.analyses.cutoff_curves(systems, alike, cutoffs="1-2", drop_one_label=True).note
    assert told.startswith("24 queries")
    assert "1 query with a single label" in told
    with pytest.raises(InputError, match="at several cut-offs"):
        rw.analyses.cutoff_curves(systems, DATA, cutoffs="5")
    with pytest.raises(InputError, match="Name at least one metric"):
        rw.analyses.cutoff_curves(systems, DATA, cutoffs=[])
