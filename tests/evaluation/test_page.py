from __future__ import annotations

import re

import numpy as np
import pytest

from evaluation.examples import small_report
from html_page import Page
from rankwright.errors import InputError
from rankwright.evaluation.page import write_page
from rankwright.training import History, Round


def history(*values, validation=True, best=1):
    rounds = (Round(place, 1.0, one, one / 2 if validation else None) for place, one in enumerate(values, start=1))
    return History(tuple(rounds), best)


@pytest.fixture
def page(tmp_path):
    def written(report, **options):
        write_page(report, tmp_path / "page.html", **options)
        text = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert "nan" not in text
        return text, Page(text)

    return written


REPORT = small_report(good=[1.0, 0.5, 0.75, 0.5], poor=[0.25, 0.5, 0.25, 0.75])


def test_says_what_the_report_says(page):
    _, read = page(REPORT, histories={"good": history(0.5, 0.75, 0.7, best=2)})
    words = " ".join(read.words)
    for expected in ("good", "poor", "0.6875", "0.4375", "+0.2500", "4 queries, 0 of them empty"):
        assert expected in words
    assert read.count("svg") == 2
    for label in ("better (2)", "worse (1)", "training", "validation", "queries, best first", "round"):
        assert label in read.words


def test_stands_alone(page):
    text, read = page(REPORT, histories={"good": history(0.5, 0.75)})
    assert not re.search(r"https?:|//|url\(|@import|<script|<link|<img", re.sub(r"<svg[^>]*>", "", text))
    assert not any({"src", "href"} & set(given) for _, given in read.tags)


def test_names_are_never_markup(page):
    name = "<b>\"x\" & 'y'</b><script>alert(1)</script>"
    text, read = page(small_report(**{name: [1.0], "other": [0.0]}), histories={name: history(0.5)})
    assert "<script" not in text
    assert any(name in words for words in ["".join(read.words)])
    text, _ = page(small_report(**{"other": [1.0], name: [0.0]}))
    assert "<script" not in text


def test_one_system_has_no_comparison(page):
    text, read = page(small_report(only=[1.0, 0.0]))
    assert "Is the difference real?" not in text
    assert read.count("svg") == 0


def test_queries_left_out_have_no_bar(page):
    _, read = page(small_report(one=[1.0, np.nan, 0.5], other=[0.0, 0.5, 1.0]))
    assert {"better (1)", "worse (1)"} <= set(read.words)


@pytest.mark.parametrize("rounds", [(), (0.5,), (0.5, 0.5)])
def test_short_and_flat_histories(page, rounds):
    _, read = page(REPORT, histories={"good": history(*rounds, validation=False)})
    assert read.count("svg") == (2 if rounds else 1)
    assert "validation" not in read.words


def test_validation_without_a_value_is_not_drawn(page):
    _, read = page(REPORT, histories={"good": History((Round(1, 1.0, 0.5, float("nan")),), 1)})
    assert "training" in read.words
    assert "validation" not in read.words


def test_equal_systems(page):
    _, read = page(small_report(one=[0.5, 0.5], same=[0.5, 0.5]))
    assert {"better (0)", "worse (0)"} <= set(read.words)


def test_a_page_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        write_page(REPORT, tmp_path / "nowhere" / "page.html")


def with_facts(*facts, train=0.5):
    return History(tuple(Round(place, 1.0, train, None, one) for place, one in enumerate(facts, start=1)), 1)


def test_misordered_pairs_are_drawn_below_their_bound(page):
    told = with_facts({"bound": 0.9, "misordered": 0.5}, {"bound": 0.8, "misordered": 0.4})
    text, drawn = page(REPORT, histories={"RankBoost": told})
    assert "Bound of RankBoost" in text
    assert {"fraction of misordered pairs", "upper bound"} <= set(drawn.words)


def test_the_metric_is_drawn_above_its_bound(page):
    _, drawn = page(REPORT, histories={"AdaRank": with_facts({"bound": 0.3}, {"bound": -7.0})})
    assert {"metric on training queries", "lower bound"} <= set(drawn.words)


def test_without_a_bound_none_is_drawn(page):
    for told in (with_facts({}, {}), with_facts({"bound": 0.3}, {"bound": 0.2}, train=None)):
        text, _ = page(REPORT, histories={"other": told})
        assert "Bound of" not in text
