"""The page of a fitted AutoRanker."""

import copy
import dataclasses
import re

import numpy as np
import pytest

import rankwright as rw
from auto.small_run import small_data, small_ranker
from html_page import read_page
from rankwright.base.errors import InputError
from rankwright.base.wording import percent
from rankwright.metrics import NDCG


def written(ranker, path):
    ranker.report(path)
    assert path.stat().st_size < 3_000_000
    return read_page(path)


@pytest.fixture(scope="module")
def ranker():
    return small_ranker()


@pytest.fixture(scope="module")
def page(ranker, tmp_path_factory):
    return written(ranker, tmp_path_factory.mktemp("page") / "page.html")


def test_says_what_the_ranker_says(ranker, page):
    estimate = ranker.estimate_
    low, high = estimate.interval
    for expected in (
        f"{estimate.value:.4f}",
        f"95 % interval {low:.4f} to {high:.4f}",
        f"{estimate.best_member.value:.4f}",
        f"{estimate.best_feature.ahead:+.4f}",
        str(ranker.run_.plan),
        f"{len(small_data()):,} documents",
        *(f"{one.value:.4f}" for one in ranker.standings_),
        *(percent(round(one.weight, 3)) for one in ranker.standings_ if one.weight),
    ):
        assert expected.replace("-", "\N{MINUS SIGN}") in page.text.replace("-", "\N{MINUS SIGN}")
    for heading in ("Members", "Learning curves", "How alike members are", "Accuracy-latency frontier"):
        assert heading in page.words
    assert "nan" not in page.text.split()
    assert "The budget" not in page.text


def test_the_model_card_counts_the_members_of_the_table(tmp_path):
    trees = {"max_leaves": 4, "min_documents": 5, "query_features": ("zscore",)}  # whose columns the model shares
    portfolio = [rw.LambdaMART(rounds=6, **trees), rw.MART(rounds=4, **trees), rw.RankSVM()]
    ranker = small_ranker(portfolio=portfolio)
    members = [row for row in ranker.standings_ if row.weight]
    assert len(members) > len(ranker.model_.members)
    page = written(ranker, tmp_path / "page.html")
    assert f"AutoRanker: a weighted sum of {len(members)} models" in page.text
    (facts,) = re.findall(r"learned from.*how chosen", page.text)
    assert "rounds" not in facts


def test_queries_can_be_browsed(ranker, page):
    browser = page.data["browser"]
    members = [row.name for row in ranker.standings_ if row.weight > 0]
    assert browser["systems"][0] == "the mixture"
    assert sorted(browser["systems"][1:]) == sorted(members)
    assert len(browser["queries"]) == len(ranker.run_.plan.whole.data.groups)
    assert "ranked by fits that have not seen it" in page.text


def test_draws_curves_and_mixtures(ranker, page):
    frontier = next(one for one in page.charts if "microseconds per document" in one)
    assert f"{len(ranker.run_.mixtures)} mixtures" in frontier
    curves = [one for one in page.charts if "by number of rounds, out of fold" in one]
    assert len(curves) == 1
    assert "ndcg@10 of LambdaMART" in curves[0]


def test_names_are_never_markup(tmp_path, monkeypatch):
    hostile = "<script>alert(1)</script>\"'&{}"
    monkeypatch.setattr(
        "rankwright.auto.ranker.named",
        lambda rankers: ((hostile.format(number), one) for number, one in enumerate(rankers)),
    )
    data = small_data(names=hostile, feature_names=[hostile.format(letter) for letter in "abcd"])
    ranker = small_ranker(data)
    ranker.run_.failures[hostile] = hostile
    ranker.run_.skipped[hostile] = hostile
    read = written(ranker, tmp_path / "page.html")
    assert read.count("script") == 3
    assert all(hostile.format(number) in read.text for number in range(3))
    assert hostile.format(ranker.estimate_.best_feature.name[-1]) in read.text
    assert read.text.count(f"{hostile} failed {hostile}") == read.text.count(f"{hostile} skipped {hostile}") == 1


def test_says_what_a_budget_costs(tmp_path, ranker):
    cheapest = min(one.microseconds for one in ranker.run_.mixtures)
    limited = small_ranker(max_microseconds=20 * cheapest)
    words = written(limited, tmp_path / "page.html").text
    whole, kept = limited.run_.whole, limited.run_.kept
    assert f"changes the value out of fold from {whole.value:.4f}" in words
    difference = f"{kept.value - whole.value:+z.4f}".replace("-", "\N{MINUS SIGN}")
    assert f"to {kept.value:.4f} ({difference})" in words
    assert "the estimate is corrected for that" in words


def test_members_that_failed_are_named(tmp_path, ranker):
    run = dataclasses.replace(ranker.run_, failures={"AdaBoost": "too few labels"}, skipped={"MART": "no time"})
    other = copy.copy(ranker)
    other.run_ = run
    words = written(other, tmp_path / "page.html").text
    assert "AdaBoost failed too few labels" in words
    assert "MART skipped no time" in words


def test_one_member_without_rounds(tmp_path):
    read = written(small_ranker(portfolio=[rw.RankSVM()]), tmp_path / "page.html")
    assert not {"Learning curves", "How alike members are"} & set(read.words)
    assert any("1 mixture," in one for one in read.charts)


def test_few_queries_and_queries_that_are_left_out(tmp_path):
    metric = NDCG(k=10, empty=None)
    for n_queries in (3, 7):
        ranker = small_ranker(small_data(n_queries), metric=metric, portfolio=[rw.RankSVM(), rw.AdaRank(rounds=2)])
        assert "nan" not in written(ranker, tmp_path / "page.html").text.split()


def test_only_a_fitted_ranker_has_a_page(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError, match="not fitted yet"):
        rw.AutoRanker().report(tmp_path / "page.html")


def test_a_page_that_cannot_be_written(ranker, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        ranker.report(tmp_path / "nowhere" / "page.html")


def test_estimate_without_a_value(ranker, tmp_path):
    unknown = dataclasses.replace(ranker.estimate_, value=np.nan, interval=(np.nan, np.nan), best_feature=None)
    other = copy.copy(ranker)
    other.run_ = dataclasses.replace(ranker.run_, estimate=unknown)
    words = written(other, tmp_path / "page.html").text
    assert "too few queries for an interval" in words
    assert "best single feature" not in words
