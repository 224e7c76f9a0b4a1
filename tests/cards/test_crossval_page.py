"""The page of a cross-validation."""

import numpy as np
import pytest

import rankwright as rw
from auto.small_run import small_data
from html_page import read_page
from rankwright.cards.crossval_page import write_crossval_page


@pytest.mark.parametrize("repeats", [1, 2])
def test_crossval_page(tmp_path, repeats):
    grid = {"C": [0.1, 1.0]}
    result = rw.cross_validate(
        rw.RankSVM(), small_data(), folds=3, repeats=repeats, metrics="ndcg@10", tune="out-of-fold", grid=grid
    )
    write_crossval_page(result, tmp_path / "page.html", data=small_data(), reproduce="rankwright crossval ranksvm")
    read = read_page(tmp_path / "page.html")
    assert result.summary.startswith(
        f"RankSVM has a mean ndcg@10 of {result.mean('ndcg@10'):.4f} (standard error "
    )
    assert result.summary.endswith("3 folds, 2 times." if repeats == 2 else "24 test queries of 3 folds.")
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


def test_a_crossval_page_without_data_has_no_queries(tmp_path):
    result = rw.cross_validate(rw.RankSVM(), small_data(), folds=3, metrics="ndcg@10")
    write_crossval_page(result, tmp_path / "page.html")
    read = read_page(tmp_path / "page.html")
    assert "Query by query" not in read.text
    assert read.data["browser"] is None


def test_a_query_in_two_test_parts_is_refused(tmp_path):
    parts = [(small_data(), small_data(12))] * 2
    result = rw.cross_validate(rw.RankSVM(), parts, metrics="ndcg@10")
    with pytest.raises(rw.InputError, match="in the test parts of several folds"):
        write_crossval_page(result, tmp_path / "page.html", data=small_data(12))
