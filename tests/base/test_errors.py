"""Mistakes that newcomers make with the types of arguments get a sentence, and lists do where arrays do."""

import importlib
import subprocess
import sys

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError, requiring
from rankwright.data.groups import Ranking

MODEL = rw.AdaRank(rounds=1).fit(rw.synthetic.gaussian_queries(5))
CURVE = rw.reliability([0.1, 0.9], [0, 1])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: rw.write_run(rw.synthetic.gaussian_queries(5), "x"),
            "write_run takes a Run, .*, not Rank",
        ),
        (lambda: rw.write_letor(np.ones((2, 2)), "x"), "write_letor takes Documents or RankingData, not ndarray"),
        (lambda: rw.mix_standardised(MODEL), "Give a list of fitted rankers or scorers, not AdaRank"),
        (lambda: rw.reliability_chart(CURVE), "takes a dict of names and curves, not Reliability"),
        (lambda: rw.make_ranker(rw.MART), "Name a ranker by a string such as 'lambdamart', not the class MART"),
        (lambda: rw.text.Queries.of(["a"]), "Queries.of takes a dict of ids and texts, not list"),
        (lambda: rw.charts.bar_chart([1], "x", description="y"), "takes a dict of names and values, not list"),
        (lambda: rw.text.generated_collection(6, 500), "n_queries must be at most 432, not 500"),
        (lambda: rw.text.Analyser().terms("some text"), "terms takes a list of words; for the terms of a text"),
        (lambda: rw.save(rw.MART(), "x"), "a fitted ranker, not this MART; fit it first"),
        (
            lambda: rw.text.read_queries("x", ids="q"),
            "ids must be 'file' or 'place', not 'q'; the column",
        ),
        (lambda: rw.compare_values([[1.0]], [[2.0]]), "Values must be lists with one number per query"),
        (lambda: rw.compare_values(["a"], [2.0]), "Values must be numbers"),
        (lambda: rw.metrics.AP().per_query([1], [2]), "AP takes a Ranking here; for scores, call it, not list"),
        (lambda: Ranking.of([1, 2], [1, 1]), "groups must be QueryGroups, .*, not list"),
    ],
)
def test_a_value_of_the_wrong_type_gets_a_sentence(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()


def test_values_to_compare_may_be_lists():
    assert rw.compare_values([0.1, 0.5], [0.2, 0.3]) == rw.compare_values(
        np.array([0.1, 0.5]), np.array([0.2, 0.3])
    )


@pytest.mark.parametrize(
    "name", ["ndcg", "dcg", "map", "err", "mrr", "wta", "p@2", "recall@2", "kendall_tau", "mean_ndcg"]
)
def test_metrics_take_the_labels_of_a_ranking_as_a_list(name):
    metric = rw.metrics.parse(name)
    assert metric.of_ranking([1, 0, 1]) == metric.of_ranking(np.array([1.0, 0.0, 1.0]))
    assert metric.of_rankings([[1, 0, 1], [0, 1, 1]])[0] == metric.of_ranking([1, 0, 1])


def test_one_of_something_is_not_spelled_as_many():
    single = rw.RankingData([[1.0]], [1], [1])
    assert repr(single) == "RankingData(1 document, 1 query, 1 feature)"
    assert repr(rw.RankSVM().fit(rw.RankingData([[1.0], [2.0]], [0, 1], [1, 1])).model_).endswith("(1 feature)")


def left_out(package):
    return f"This needs {package}, which is not installed: run pip install rankwright, which brings it."


def test_a_package_that_was_left_out_is_named(monkeypatch):
    for name in ("scipy.stats", "scipy.special"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(rw.MissingPackageError) as error:
        rw.compare_values([1.0, 0.5, 0.2], [0.4, 0.1, 0.0])
    assert (
        str(error.value)
        == "This needs scipy, which is not installed: run pip install rankwright, which brings it."
    )


def test_another_missing_module_is_not_explained_away():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), requiring("scipy"):
        importlib.import_module("no_such_module")


def test_the_command_line_names_the_package_that_it_needs():
    code = "import sys; sys.modules['typer'] = None; from rankwright.cli import main; main()"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert process.returncode == 1
    assert (
        process.stderr
        == "This needs typer, which is not installed: run pip install rankwright, which brings it.\n"
    )
