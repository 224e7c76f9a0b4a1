"""The page of a tuning."""

import pytest

import rankwright as rw
from auto.small_run import small_data
from html_page import read_page
from rankwright.cards.tuning_page import count_page_fits, write_tuning_page


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
