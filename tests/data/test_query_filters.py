"""Queries that are left out: too few relevant documents, or a single label."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.data.query_filters import QueryFilter, reasons_in_words, relevant_documents

LABELS = {"a": [2, 1, 0], "b": [1, 1], "c": [0, 0, 0], "d": [0.5, 0], "e": [3]}
Y = [label for labels in LABELS.values() for label in labels]
QID = [query for query, labels in LABELS.items() for _ in labels]
DATA = rw.RankingData(np.arange(len(Y), dtype=float)[:, None], Y, QID)


def names(data):
    return sorted(set(data.qid.tolist()))


def test_relevant_documents_have_a_label_of_at_least_one():
    assert relevant_documents(DATA.y, DATA.groups).tolist() == [2, 2, 0, 0, 1]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, "abcde"),
        ({"min_relevant": 0}, "abcde"),
        ({"min_relevant": 1}, "abe"),
        ({"min_relevant": 2}, "ab"),
        ({"drop_one_label": True}, "ad"),
        ({"min_relevant": 1, "drop_one_label": True}, "a"),
    ],
)
def test_queries_are_dropped_as_a_whole(options, kept):
    found = rw.drop_queries(DATA, **options)
    assert "".join(names(found)) == kept
    assert len(found) == sum(len(LABELS[name]) for name in kept)


def test_each_dropped_query_has_one_reason():
    reasons = QueryFilter(min_relevant=1, drop_one_label=True).reasons(DATA.y, DATA.groups)
    assert {reason: some.tolist() for reason, some in reasons.items()} == {
        "fewer than 1 relevant document": [False, False, True, True, False],
        "a single label": [False, True, False, False, True],
    }
    counts = {reason: int(some.sum()) for reason, some in reasons.items()}
    assert (
        reasons_in_words(counts) == "2 queries with fewer than 1 relevant document, 2 queries with a single label"
    )
    assert reasons_in_words({}) == ""


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=6), st.integers(0, 3))
def test_dropping_is_what_a_loop_over_queries_does(labels, least):
    y = np.concatenate(labels).astype(float)
    qid = np.repeat(np.arange(len(labels)), list(map(len, labels)))
    data = rw.RankingData(np.zeros((len(y), 1)), y, qid)
    wanted = [
        query for query, some in enumerate(labels) if sum(one >= 1 for one in some) >= least and len(set(some)) > 1
    ]
    if wanted:
        assert names(rw.drop_queries(data, min_relevant=least, drop_one_label=True)) == wanted
    else:
        with pytest.raises(InputError, match="There is nothing left"):
            rw.drop_queries(data, min_relevant=least, drop_one_label=True)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"min_relevant": 3}, "There is nothing left: every query has fewer than 3 relevant documents."),
        ({"min_relevant": -1}, "min_relevant must be a non-negative integer, not -1."),
        ({"min_relevant": True}, "min_relevant must be a non-negative integer, not True."),
        ({"min_relevant": 1.5}, "min_relevant must be a non-negative integer, not 1.5."),
    ],
)
def test_mistakes(options, sentence):
    with pytest.raises(InputError) as caught:
        rw.drop_queries(DATA, **options)
    assert str(caught.value) == sentence


def test_nothing_relevant_at_all():
    with pytest.raises(InputError, match="every query has fewer than 1 relevant document"):
        rw.drop_queries(rw.RankingData(np.zeros((3, 1)), [0, 0, 0], [1, 1, 2]), min_relevant=1)
    with pytest.raises(InputError, match="Expected RankingData, not Documents"):
        rw.drop_queries(rw.Documents(np.zeros((3, 1)), [1, 1, 2]), min_relevant=1)


def test_both_reasons_together_may_leave_nothing():
    data = rw.RankingData(np.zeros((3, 1)), [1, 1, 0], [1, 1, 2])
    with pytest.raises(InputError) as caught:
        rw.drop_queries(data, min_relevant=1, drop_one_label=True)
    assert str(caught.value) == (
        "There is nothing left: every query has either fewer than 1 relevant document, or documents of a single "
        "label only."
    )
