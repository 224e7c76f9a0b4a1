"""What judged documents contain, and what in them may mislead."""

import numpy as np
import pytest

import rankwright as rw
from rankwright.cards.data_sheet import DataSheet, _binned
from rankwright.metrics import NDCG


def sheet_data(y=None, n_queries=20):
    random = np.random.default_rng(1)
    X = random.normal(size=(6 * n_queries, 5)).astype(np.float32)
    X[:, 1] = 3.0
    X[:, 2] = X[:, 0]
    X[::4, 3] = X[::4, 4] = np.nan
    X[:, 4] = X[:, 3]
    X[0, 0], X[0, 2] = 0.0, -0.0
    y = random.integers(0, 3, len(X)) if y is None else y
    return rw.RankingData(X, y, np.repeat(np.arange(n_queries), 6), feature_names=list("abcde"))


def test_data_sheet():
    found = DataSheet.of(sheet_data())
    assert (found.documents, found.queries, found.features) == (120, 20, 5)
    assert sum(found.labels.values()) == 120
    assert found.constant == ["b"]
    assert found.duplicates == [["a", "c"], ["d", "e"]]
    assert found.missing == {"d": 0.25, "e": 0.25}
    assert not found.order.leaks


def test_file_order_that_leaks():
    sorted_labels = np.tile([2, 2, 1, 1, 0, 0], 20)
    found = DataSheet.of(sheet_data(sorted_labels))
    assert found.order.leaks
    assert found.order.value == 1.0
    data = sheet_data(sorted_labels)
    random = np.random.default_rng(0)
    shuffled = [NDCG(k=10)(data.y, random.normal(size=len(data)), data.qid) for _ in range(300)]
    assert found.order.expected == pytest.approx(np.mean(shuffled), abs=0.01)
    assert any("Relevant documents come first in the file" in sentence for sentence in found.warnings())


def test_queries_without_relevant_documents_are_counted():
    found = DataSheet.of(sheet_data(np.repeat([0, 1], 60)))
    assert found.without_relevant == 10
    assert any("10 queries have no relevant document" in sentence for sentence in found.warnings())


def test_labels_that_the_metric_refuses_say_nothing_of_the_order():
    assert DataSheet.of(sheet_data(np.full(120, -1.0))).order is None


def test_what_is_not_there_is_left_out():
    text = str(DataSheet.of(rw.synthetic.gaussian_queries(6)))
    for words in ("missing", "constant", "duplicate", "without relevant", "order"):
        assert words not in text


def test_ranges_of_query_sizes_end_at_the_largest():
    assert _binned(np.array([8, 9, 20, 20]))[-1] == ("20", 2)
    assert _binned(np.array([8, 38]))[-1] == ("38", 1)
    assert _binned(np.array([8, 39]))[-1] == ("38\N{EN DASH}39", 1)
