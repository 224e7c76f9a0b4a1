import numpy as np
import pytest

import rankwright as rw
from rankers.test_lambdamart import judged
from rankwright.base.errors import InputError
from rankwright.models import Combination
from reports.charts.pictures import marks, texts

TRAIN, TEST = judged(), judged(seed=2)
LAMBDA = rw.LambdaMART(rounds=6, n_jobs=1).fit(TRAIN)
CLASSES = rw.McRank(rounds=5, n_jobs=1, trees="per_class", query_features=["rank"]).fit(TRAIN)
LINEAR = rw.AdaRank(n_jobs=1).fit(TRAIN)


def test_every_cut_is_measured_as_a_model_of_its_own():
    found = rw.evaluate_rounds({"a": LAMBDA, "b": CLASSES.model_}, TEST, [5, 1, 3, 3], metrics=["ndcg@5", "map"])
    assert (found.systems, found.rounds) == (("a", "b"), (1, 3, 5))
    cut = rw.LambdaMART(rounds=3, n_jobs=1).fit(TRAIN)
    assert found.mean("a", 3, "map") == rw.evaluate({"a": cut}, TEST, metrics=["map"]).mean("a", "map")
    whole = rw.evaluate({"b": CLASSES}, TEST, metrics=["ndcg@5"]).mean("b", "ndcg@5")
    assert found.curve("b", "ndcg@5")[-1] == (5, whole)
    facts = found.to_dict()
    assert facts["systems"]["a"]["3"]["map"] == found.mean("a", 3, "map")
    assert facts["queries"] == 30
    assert found.report.compare("a, 5 rounds", "a, 1 rounds", "map").difference == pytest.approx(
        found.mean("a", 5, "map") - found.mean("a", 1, "map")
    )


def test_a_combination_is_cut_where_it_has_rounds():
    both = Combination([LINEAR.model_, LAMBDA.model_], [1.0, 2.0])
    assert both.n_rounds == 6
    expected = LINEAR.predict(TEST) + 2.0 * LAMBDA.model_.first(2).predict(TEST)
    np.testing.assert_array_equal(both.first(2).predict(TEST), expected)
    assert both.first(6).predict(TEST).tobytes() == both.predict(TEST).tobytes()


def test_the_curves_are_drawn():
    found = rw.evaluate_rounds({"a": LAMBDA, "<b>": CLASSES}, TEST, [1, 3, 5], metrics=["ndcg@5"])
    chart = found.chart()
    assert [len(path.split("L")) for path in marks(chart, "line")] == [3, 3]
    assert {"a", "<b>", "rounds", "ndcg@5", "3"} <= set(texts(chart))
    assert f"after 5 it is {found.mean('a', 5, 'ndcg@5'):.4f} for a and 0." in chart.description


@pytest.mark.parametrize(
    ("systems", "rounds", "sentence"),
    [
        ({"a": LAMBDA}, [7], "a has 6 rounds; it cannot be truncated to 7"),
        ({"a": LAMBDA}, [0, 3], r"rounds must be one or more positive integers, not \[0, 3\]"),
        ({"a": LAMBDA}, [], "rounds must be one or more positive integers"),
        ({"a": LAMBDA}, [2.5], "rounds must be one or more positive integers"),
        ({"linear": LINEAR}, [1], "linear is no boosted model, so it cannot be cut to fewer rounds"),
        ({"scores": np.zeros(360)}, [1], "scores is neither a model of rankwright nor a fitted ranker"),
        ({"a": rw.LambdaMART()}, [1], "a is neither a model of rankwright nor a fitted ranker"),
    ],
)
def test_what_cannot_be_cut_is_told_in_a_sentence(systems, rounds, sentence):
    with pytest.raises(InputError, match=sentence):
        rw.evaluate_rounds(systems, TEST, rounds)


def test_a_scorer_without_rounds_cannot_be_cut():
    with pytest.raises(InputError, match="A scorer of kind 'linear' has no rounds, so it cannot be cut to 3"):
        LINEAR.model_.first(3)
