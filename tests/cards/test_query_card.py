"""Which queries the query browser shows, and with which lists."""

import numpy as np
import pandas as pd
import pytest

import rankwright as rw
from auto.small_run import small_data
from rankwright.cards.query_card import (
    LONGEST_LIST,
    MAX_ENTRIES,
    MAX_QUERIES,
    QueryCard,
    browsable,
    chosen_queries,
)


def test_queries_that_differ_most_are_kept():
    values = np.zeros((2, 1_000))
    values[1, [7, 500]] = 1.0
    values[1, 8] = np.nan
    found = chosen_queries(values, np.full(1_000, 5))
    assert len(set(found.tolist())) == len(found) == MAX_QUERIES
    assert {7, 500} <= set(found[:4].tolist())
    assert len(chosen_queries(np.zeros((8, 1_000)), np.full(1_000, 50))) == MAX_ENTRIES // (8 * LONGEST_LIST)
    assert len(chosen_queries(np.zeros((2, 1)), np.full(1, 10**6))) == 1


def test_browsed_lists_are_the_rankings():
    data = small_data(12)
    systems = {
        "trees": rw.LambdaMART(rounds=5, max_leaves=4).fit(data),
        "scores": -np.arange(len(data), dtype=float),
    }
    report = rw.evaluate(systems, data, metrics="ndcg@10")
    browser = QueryCard.of(systems, report, data).browser
    scores, ranks = systems["trees"].predict(data), systems["trees"].rank(data)
    contributions = systems["trees"].model_.contributions(data)[:, :-1]
    for query in browser.queries:
        rows = np.flatnonzero(data.qid == query.id)
        assert (query.n_documents, query.n_relevant) == (len(rows), (data.y[rows] > 0).sum())
        assert query.documents == [f"doc{number}" for number in range(1, len(rows) + 1)]
        assert query.ranks[0] == ranks[rows].tolist()
        assert query.ranks[1] == list(range(1, len(rows) + 1))
        first = query.lists[0][0]
        row = rows[first.document]
        assert (ranks[row], first.score) == (1, scores[row])
        relative = contributions[row] - contributions[rows].mean(axis=0)
        for moved in first.moved:
            assert moved.contribution == pytest.approx(relative[moved.feature])
            assert moved.value == data.X[row, moved.feature]
        assert query.lists[1][0].moved == ()


def test_columns_to_show_are_beside_queries_and_documents():
    frame = pd.DataFrame(
        {
            "qid": ["q1", "q1", "q2", "q2"],
            "query_text": ["red shoes", "red shoes", "hats", "hats"],
            "label": [1, 0, 0, 1],
            "bm25": [1.0, 2.0, 3.0, 4.0],
            "title": ["Sneaker", None, "Cap", "Top hat"],
            "position": [2, 1, 2, 1],
        }
    )
    data = rw.from_pandas(frame, show=["query_text", "title", "position"], drop=["position"])
    systems = {"live": "position", "bm25": "-bm25"}
    shown = browsable(systems, report := rw.evaluate(systems, data), data)
    queries = {query.id: query for query in QueryCard.of(shown.systems, report, shown.data).browser.queries}
    assert {name: query.text for name, query in queries.items()} == {"q1": "red shoes", "q2": "hats"}
    assert queries["q1"].details == [["Sneaker", "position 2"], ["position 1"]]
    assert queries["q2"].plain()["details"] == [["Cap", "position 2"], ["Top hat", "position 1"]]
    assert queries["q1"].ranks[0] == [2, 1]
