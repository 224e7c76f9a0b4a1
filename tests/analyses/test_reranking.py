"""Reranking: the first documents by a second system, against doing it by hand; costs, and what is refused."""

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError

TEST = rw.synthetic.gaussian_queries(20, seed=3)
RANDOM = np.random.default_rng(0)
FAST, SLOW = TEST.X[:, 0] + RANDOM.normal(size=len(TEST)), TEST.X[:, 0]


def by_hand(depth):
    """The mean metric where the first documents of each query are sorted again."""
    scores = np.empty(len(TEST))
    for query in TEST.groups.ids:
        rows = np.flatnonzero(TEST.qid == query)
        order = rows[np.argsort(-FAST[rows], kind="stable")]
        head = order[:depth][np.argsort(-SLOW[order[:depth]], kind="stable")]
        scores[[*head, *order[depth:]]] = -np.arange(len(rows))
    return rw.evaluate({"hand": scores}, TEST, metrics="ndcg@10").mean("hand", "ndcg@10")


def test_the_first_documents_are_sorted_again():
    result = rw.analyses.reranking({"fast": FAST, "slow": SLOW}, TEST, milliseconds=2.5, depths=[8, 1, 3])
    assert [(point.documents, point.milliseconds) for point in result.points] == [(1, 2.5), (3, 7.5), (8, 20.0)]
    for point in result.points:
        assert point.value == pytest.approx(by_hand(point.documents))
        assert point.gain.value == pytest.approx(point.value - result.start)
        assert point.per_millisecond == pytest.approx(point.gain.value / point.milliseconds)
    assert result.points[0].gain.value == 0.0
    assert "slow on the first 8 documents of fast raises ndcg@10 from" in result.summary
    assert result.to_dict()["points"][2]["per_millisecond"] > 0
    useless = rw.analyses.reranking({"slow": SLOW, "worse": -SLOW}, TEST, milliseconds=1.0)
    assert useless.summary.startswith("worse does not improve ndcg@10 of slow")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"systems": {"a": FAST}}, "reranking takes two systems, not 1"),
        ({"milliseconds": 0.0}, "milliseconds must be a positive number"),
        ({"depths": [0]}, "depths must be positive integers"),
        ({"depths": []}, "depths must be positive integers"),
    ],
)
def test_bad_input_is_one_sentence(options, sentence):
    how = {"systems": {"a": FAST, "b": SLOW}, "milliseconds": 1.0} | options
    with pytest.raises(InputError, match=sentence):
        rw.analyses.reranking(how.pop("systems"), TEST, **how)
