"""The page of a fitted AutoRanker."""

import copy
import dataclasses
import re

import numpy as np
import pytest

import rankwright as rw
from auto.small_run import small_data, small_ranker
from html_page import Page
from rankwright.auto.page import write_auto_page
from rankwright.errors import InputError
from rankwright.metrics import NDCG


def written(ranker, path):
    ranker.report(path)
    text = path.read_text(encoding="utf-8")
    return text, Page(text)


@pytest.fixture(scope="module")
def ranker():
    return small_ranker()


@pytest.fixture(scope="module")
def page(ranker, tmp_path_factory):
    return written(ranker, tmp_path_factory.mktemp("page") / "page.html")


def test_says_what_the_ranker_says(ranker, page):
    words = " ".join(page[1].words)
    estimate = ranker.estimate_
    low, high = estimate.interval
    for expected in (
        f"{estimate.value:.4f}",
        f"95% interval {low:.4f} to {high:.4f}",
        f"{estimate.best_member.value:.4f}",
        f"{estimate.best_feature.ahead:+.4f}",
        str(ranker.run_.plan),
        f"{len(small_data()):,} documents",
        *(f"{one.value:.4f}" for one in ranker.standings_),
        *(f"{one.weight:.1%}" for one in ranker.standings_ if one.weight),
    ):
        assert expected in words
    for heading in ("Members", "Learning curves", "How alike members are", "What each microsecond buys"):
        assert heading in page[1].words
    assert "nan" not in words
    assert "The budget" not in words


def test_draws_curves_and_mixtures(page):
    assert page[1].count("svg") == 2  # LambdaMART's curve, and the mixtures
    assert {"mixtures", "this model", "members alone", "rounds"} <= set(page[1].words)


def test_stands_alone(page):
    text, read = page
    assert not re.search(r"https?:|//|url\(|@import|<script|<link|<img", re.sub(r"<svg[^>]*>", "", text))
    assert not any({"src", "href"} & set(given) for _, given in read.tags)


def test_can_be_read_in_the_dark(page):
    assert "prefers-color-scheme: dark" in page[0]
    outside = re.sub(r"<svg.*?</svg>", "", page[0], flags=re.DOTALL)
    assert not re.search(r"#[0-9a-f]{3,6}\b", outside), "colours are variables, which have a dark value too"


def test_names_are_never_markup(tmp_path, monkeypatch):
    hostile = "<script>alert(1)</script>\"'&{}"
    monkeypatch.setattr(
        "rankwright.auto.ranker.named",
        lambda rankers: ((hostile.format(number), one) for number, one in enumerate(rankers)),
    )
    data = small_data(names=hostile, feature_names=[hostile.format(letter) for letter in "abcd"])
    ranker = small_ranker(data)
    ranker.run_.failures[hostile] = hostile
    ranker.run_.passed_over[hostile] = hostile
    text, read = written(ranker, tmp_path / "page.html")
    assert "<script" not in text
    assert any(tag == "title" for tag, _ in read.tags)
    words = "".join(read.words)
    assert all(hostile.format(number) in words for number in range(3))
    assert hostile.format(ranker.estimate_.best_feature.name[-1]) in words
    assert words.count(f"{hostile}failed{hostile}") == words.count(f"{hostile}passed over{hostile}") == 1


def test_says_what_a_budget_costs(tmp_path, ranker):
    cheapest = min(one.microseconds for one in ranker.run_.frontier)
    limited = small_ranker(max_microseconds=20 * cheapest)
    words = "".join(written(limited, tmp_path / "page.html")[1].words)
    whole, kept = limited.run_.whole, limited.run_.kept
    assert f"changes the value out of fold from {whole.value:.4f}" in words
    assert f"to {kept.value:.4f} ({kept.value - whole.value:+z.4f})" in words
    assert "the estimate is corrected for that" in words


def test_members_that_failed_are_named(tmp_path, ranker):
    run = dataclasses.replace(
        ranker.run_, failures={"AdaBoost": "too few labels"}, passed_over={"MART": "no time"}
    )
    other = copy.copy(ranker)
    other.run_ = run
    words = "".join(written(other, tmp_path / "page.html")[1].words)
    assert "AdaBoostfailedtoo few labels" in words
    assert "MARTpassed overno time" in words


def test_one_member_without_rounds(tmp_path):
    _, read = written(small_ranker(portfolio=[rw.RankSVM()]), tmp_path / "page.html")
    assert not {"Learning curves", "How alike members are"} & set(read.words)
    assert read.count("svg") == 1


def test_few_queries_and_queries_that_are_left_out(tmp_path):
    metric = NDCG(k=10, empty=None)
    for n_queries in (3, 7):
        ranker = small_ranker(small_data(n_queries), metric=metric, portfolio=[rw.RankSVM(), rw.AdaRank(rounds=2)])
        text, read = written(ranker, tmp_path / "page.html")
        assert "nan" not in "".join(read.words)
        assert "nan" not in re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)


def test_only_a_fitted_ranker_has_a_page(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError, match="not fitted yet"):
        rw.AutoRanker().report(tmp_path / "page.html")


def test_a_page_that_cannot_be_written(ranker, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        write_auto_page(ranker, tmp_path / "nowhere" / "page.html")


def test_estimate_without_a_value(ranker, tmp_path):
    unknown = dataclasses.replace(ranker.estimate_, value=np.nan, interval=(np.nan, np.nan), best_feature=None)
    other = copy.copy(ranker)
    other.estimate_ = unknown
    words = " ".join(written(other, tmp_path / "page.html")[1].words)
    assert "Too few queries for an interval" in words
    assert "best single feature" not in words
