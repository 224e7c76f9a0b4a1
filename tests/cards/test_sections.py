"""What stands behind a page: the data sheet, partial dependence, the queries to browse, the best feature."""

import numpy as np
import pytest

import rankwright as rw
from auto.small_run import small_data
from html_page import read_page
from rankwright.analyses.dependence import partial_dependence
from rankwright.cards.crossval_page import summary_of, write_crossval_page
from rankwright.cards.data_sheet import DataSheet, warnings_of
from rankwright.cards.query_browser import (
    LONGEST_LIST,
    MOST_ENTRIES,
    MOST_QUERIES,
    browser_section,
    chosen_queries,
)
from rankwright.cards.training_page import write_training_page
from rankwright.cards.tuning_page import count_page_fits, write_tuning_page
from rankwright.crossval.best_feature import best_feature
from rankwright.metrics import NDCG
from rankwright.models import FeatureScorer, LinearScorer


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
    assert any("Relevant documents come first in the file" in one for one in warnings_of(found))


def test_queries_without_relevant_documents_are_counted():
    found = DataSheet.of(sheet_data(np.repeat([0, 1], 60)))
    assert found.without_relevant == 10
    assert any("10 queries without a relevant document" in one for one in warnings_of(found))


def test_labels_that_the_metric_refuses_say_nothing_of_the_order():
    assert DataSheet.of(sheet_data(np.full(120, -1.0))).order is None


def test_partial_dependence_of_a_weighted_sum_is_a_line():
    data = small_data()
    scorer = LinearScorer(np.array([2.0, 0.0, -1.0, 0.0]), np.zeros(4))
    rising, falling = partial_dependence(scorer, data, [0, 2])
    assert np.polyfit(rising.values, rising.scores, 1)[0] == pytest.approx(2.0, abs=1e-5)
    assert np.polyfit(falling.values, falling.scores, 1)[0] == pytest.approx(-1.0, abs=1e-5)


def test_partial_dependence_moves_a_document_among_the_others_of_its_query():
    data = small_data()
    ranker = rw.RankSVM().fit(data)
    assert ranker.model_.needs_queries
    for found in partial_dependence(ranker.model_, data, [0, 1]):
        assert found.scores[-1] > found.scores[0] + 0.1


def test_constant_features_have_no_dependence():
    data = sheet_data()
    assert partial_dependence(FeatureScorer(0, n_features=5, missing=0.0), data, [1]) == []


def test_queries_that_differ_most_are_kept():
    values = np.zeros((2, 1_000))
    values[1, [7, 500]] = 1.0
    values[1, 8] = np.nan
    found = chosen_queries(values, np.full(1_000, 5))
    assert len(set(found.tolist())) == len(found) == MOST_QUERIES
    assert {7, 500} <= set(found[:4].tolist())
    assert len(chosen_queries(np.zeros((8, 1_000)), np.full(1_000, 50))) == MOST_ENTRIES // (8 * LONGEST_LIST)
    assert len(chosen_queries(np.zeros((2, 1)), np.full(1, 10**6))) == 1


def test_browsed_lists_are_the_rankings():
    data = small_data(12)
    systems = {
        "trees": rw.LambdaMART(rounds=5, max_leaves=4).fit(data),
        "scores": -np.arange(len(data), dtype=float),
    }
    report = rw.evaluate(systems, data, metrics="ndcg@10")
    _, browser, _ = browser_section(systems, report, data).blocks
    scores, ranks = systems["trees"].predict(data), systems["trees"].rank(data)
    contributions = systems["trees"].model_.contributions(data)[:, :-1]
    for query in browser.queries:
        rows = np.flatnonzero(data.qid == query.id)
        assert (query.n_documents, query.n_relevant) == (len(rows), (data.y[rows] > 0).sum())
        assert query.documents == [f"row{row + 1}" for row in rows]
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


def test_best_feature_is_the_best_of_all():
    data = small_data()
    found = best_feature(data)
    value = NDCG(k=10)(data.y, found.predict(data), data.qid)
    assert value == max(
        NDCG(k=10)(data.y, sign * data.X[:, one], data.qid) for one in range(4) for sign in (1, -1)
    )


@pytest.mark.parametrize("held_out", [False, True])
def test_training_page(tmp_path, held_out):
    train, validation = small_data(), small_data(12) if held_out else None
    ranker = rw.LambdaMART(rounds=4, max_leaves=4).fit(train, validation=validation)
    write_training_page(ranker, tmp_path / "page.html", train=train, validation=validation)
    read = read_page(tmp_path / "page.html")
    assert f"Measured on the {'validation' if held_out else 'training'} queries" in read.text
    assert "rankwright.LambdaMART(max_leaves=4, rounds=4).fit(data)" in read.text
    assert read.data["browser"]["systems"] == ["LambdaMART", "best feature"]


@pytest.mark.parametrize("repeats", [1, 2])
def test_crossval_page(tmp_path, repeats):
    grid = {"C": [0.1, 1.0]}
    result = rw.cross_validate(
        rw.RankSVM(), small_data(), folds=3, repeats=repeats, metrics="ndcg@10", tune="out-of-fold", grid=grid
    )
    write_crossval_page(result, tmp_path / "page.html", data=small_data(), reproduce="rankwright crossval ranksvm")
    read = read_page(tmp_path / "page.html")
    assert summary_of(result).startswith(f"RankSVM has {result.mean('ndcg@10'):.4f} ndcg@10 (standard error ")
    assert summary_of(result).endswith("3 folds, 2 times." if repeats == 2 else "24 test queries of 3 folds.")
    for expected in ("tuned out of fold", "rankwright crossval ranksvm", "For a model of all queries: C ="):
        assert expected in read.text
    assert read.text.count("0.1") >= 3
    assert read.data["browser"]["systems"] == ["RankSVM", "best feature"]
    assert len(read.data["browser"]["queries"]) == 24
    assert ("those of the first repeat" in read.text) == (repeats == 2)
    assert "RankSVM: a weighted sum of features; 3 models, one per fold" in read.text
    assert "16 queries each" in read.text


def test_a_crossval_page_shows_the_scores_of_the_model_that_has_not_seen_the_query(tmp_path):
    data = small_data()
    result = rw.cross_validate(rw.LambdaMART(rounds=3, max_leaves=4), data, folds=3, metrics="ndcg@10")
    write_crossval_page(result, tmp_path / "page.html", data=data)
    browser = read_page(tmp_path / "page.html").data["browser"]
    values = dict(
        zip(
            [str(query) for fold in result.folds for query in fold.report.queries],
            result.per_query("ndcg@10"),
            strict=True,
        )
    )
    for query in browser["queries"]:
        assert query["values"][0] == pytest.approx(values[query["id"]], rel=1e-3)
        assert query["lists"][0][0][2], "no feature moved the first document"
    models = {str(query): fold.model for fold in result.folds for query in fold.report.queries}
    query = browser["queries"][0]
    rows = np.flatnonzero(data.qid.astype(str) == query["id"])
    scores = np.sort(models[query["id"]].predict(data.take(rows)))[::-1]
    shown = [score for _, score, _ in query["lists"][0]]
    np.testing.assert_allclose(shown, scores[: len(shown)], rtol=1e-3, atol=1e-6)


def test_a_crossval_page_of_a_fitted_model_has_its_card(tmp_path):
    result = rw.cross_validate(rw.RankSVM(), small_data(), folds=3, metrics="ndcg@10")
    result.best.fit(small_data())
    write_crossval_page(result, tmp_path / "page.html", data=small_data())
    text = read_page(tmp_path / "page.html").text
    assert "of 24 queries" in text
    assert "one per fold" not in text


def test_a_crossval_page_without_data_says_why(tmp_path):
    result = rw.cross_validate(rw.RankSVM(), small_data(), folds=3, metrics="ndcg@10")
    write_crossval_page(result, tmp_path / "page.html", without_data="There are no data.")
    read = read_page(tmp_path / "page.html")
    assert "There are no data." in read.text
    assert read.data["browser"] is None


def test_a_query_in_two_test_parts_is_refused(tmp_path):
    parts = [(small_data(), small_data(12))] * 2
    result = rw.cross_validate(rw.RankSVM(), parts, metrics="ndcg@10")
    with pytest.raises(rw.InputError, match="in the test parts of several folds"):
        write_crossval_page(result, tmp_path / "page.html", data=small_data(12))


def tuned(**options):
    pytest.importorskip("optuna")
    ranker = rw.LambdaMART(rounds=3, min_documents=2, n_jobs=1)
    return rw.tune(ranker, small_data(), trials=3, **options)


def test_tuning_page(tmp_path):
    tuning, fits = tuned(), []
    write_tuning_page(tuning, tmp_path / "page.html", on_fit=lambda: fits.append(1))
    read = read_page(tmp_path / "page.html")
    assert len(fits) == count_page_fits(tuning)
    own = tuning.best.number == tuning.baseline.number
    assert read.data["browser"]["systems"] == ["best setting", *([] if own else ["own setting"]), "best feature"]
    assert "Every query is ranked by the model of the fold that did not learn from it" in read.text
    assert "The setting itself was chosen by all of these queries" in read.text
    assert "3 trials: " in read.text
    assert "4 models, one per fold" in read.text
    assert read.text.count("on new queries") <= 3


def test_tuning_page_after_a_grid(tmp_path):
    grid = {"max_leaves": [None, 4], "query_features": [(), ("zscore",)]}
    tuning = rw.tune(rw.LambdaMART(rounds=2, min_documents=2, n_jobs=1), small_data(), grid=grid)
    write_tuning_page(tuning, tmp_path / "page.html")
    read = read_page(tmp_path / "page.html")
    assert any("by query_features" in one for one in read.charts)
    assert any("by max_leaves" in one for one in read.charts)
    assert "Importance of parameters" not in read.text
