"""Which options of a metric a convention sets."""

import copy
import pickle

import pytest

from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.evaluation.evaluate import evaluate
from rankwright.metrics import AP, NDCG, Discount, Gain, Ties, find_convention, parse


def test_conventions_keep_what_the_user_set_and_refuse_what_they_lack():
    assert find_convention("letor3").apply(AP(threshold=2)).threshold == 2
    assert find_convention("sklearn").apply(NDCG(k=3)) == parse("ndcg@3(gain=linear)")
    with pytest.raises(InputError, match="The convention letor3 has no err; it has ndcg, map, p"):
        find_convention("letor3").apply(parse("err@10"))
    with pytest.raises(InputError, match="did you mean 'letor3'"):
        find_convention("leto3")


@pytest.mark.parametrize(
    ("convention", "metric", "expected"),
    [
        ("sklearn", NDCG(k=3, gain=Gain.EXPONENTIAL), NDCG(k=3)),
        ("sklearn", parse("ndcg@3(gain=exponential)"), NDCG(k=3)),
        ("sklearn", NDCG(None, Gain.EXPONENTIAL), NDCG()),
        ("sklearn", NDCG(gain=Gain.EXPONENTIAL) @ 3, NDCG(k=3)),
        ("sklearn", NDCG() @ 3, NDCG(k=3, gain=Gain.LINEAR)),
        ("lightgbm", NDCG(k=3, empty=0.0), NDCG(k=3, ties=Ties.STABLE)),
        ("letor4", NDCG(k=3, fewer_than_k=None, ties=Ties.EXPECTED), NDCG(k=3, discount=Discount.LETOR)),
        ("trec", copy.deepcopy(NDCG(gain=Gain.EXPONENTIAL)), NDCG(ties=Ties.STABLE)),
        ("trec", pickle.loads(pickle.dumps(NDCG(gain=Gain.EXPONENTIAL))), NDCG(ties=Ties.STABLE)),
        ("trec", parse(str(NDCG(gain=Gain.EXPONENTIAL))), NDCG(ties=Ties.STABLE)),
    ],
)
def test_a_convention_keeps_a_default_that_the_user_gave(convention, metric, expected):
    assert find_convention(convention).apply(metric) == expected


def test_a_report_tells_a_given_default_from_an_open_option():
    data = RankingData([[1.0], [2.0], [3.0]], [1, 2, 0], [1, 1, 1])
    asked = [NDCG(), NDCG(gain=Gain.EXPONENTIAL)]
    assert asked[0] == asked[1]
    assert hash(asked[0]) == hash(asked[1])
    report = evaluate({"one": data.X[:, 0]}, data, metrics=asked, convention="sklearn")
    assert report.metrics == ("ndcg", "ndcg(gain=exponential)")
    assert report.mean("one", "ndcg") != report.mean("one", "ndcg(gain=exponential)")
