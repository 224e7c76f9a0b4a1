"""The page of a report."""

from __future__ import annotations

import re

import numpy as np
import pytest

import rankwright as rw
from auto.small_run import small_data
from evaluation.examples import small_report
from html_page import read_page
from rankwright.base.errors import InputError
from rankwright.cards.report_page import compared, write_page
from rankwright.data.readers.trec import Judgements, Run
from rankwright.training.history import History, Round

MAX_BYTES = 3_000_000


def history(*values, validation=True, best=1):
    rounds = (Round(place, 1.0, one, one / 2 if validation else None) for place, one in enumerate(values, start=1))
    return History(tuple(rounds), best)


@pytest.fixture
def page(tmp_path):
    def written(report, **options):
        path = tmp_path / "page.html"
        write_page(report, path, **options)
        assert path.stat().st_size < MAX_BYTES
        read = read_page(path)
        assert "nan" not in read.text.split()
        return read

    return written


REPORT = small_report(good=[1.0, 0.5, 0.75, 0.5], poor=[0.25, 0.5, 0.25, 0.75])


def test_says_what_the_report_says(page):
    read = page(REPORT, histories={"good": history(0.5, 0.75, 0.7, best=2)}, reproduce="rankwright evaluate")
    for expected in ("good", "poor", "0.6875", "0.4375", "+0.2500", "4 queries."):
        assert expected in read.text
    assert "round 2 of 3 was kept" in read.text
    assert len(read.charts) == 3
    assert "good is better than poor on 2 queries and worse on 1." in read.text
    assert "rankwright evaluate" in read.text
    assert read.data["browser"] is None


def said(report):
    return compared(report).summary


def test_summaries():
    assert re.fullmatch(
        r"good is ahead of poor by 0\.2500 map, which may be chance \(p = 0\.5\d*\)\.", said(REPORT)
    )
    sure = small_report(good=np.linspace(0.5, 1, 30), poor=np.linspace(0, 0.5, 30))
    assert said(sure) == "good beats poor by 0.5000 map (p < 0.001)."
    assert said(small_report(poor=np.zeros(30), good=np.ones(30))).startswith("good beats poor by 1.0000 map")
    assert said(small_report(only=[1.0, 0.5])) == "The mean map of only over 2 queries is 0.7500."
    assert said(small_report(one=[1.0], other=[0.5])) == (
        "On the only query, the map of one is 1.0000, that of other 0.5000."
    )
    assert said(small_report(one=[np.nan], other=[np.nan])) == "No query has a value of map."


def test_one_system_has_no_comparison(page):
    read = page(small_report(only=[1.0, 0.0]))
    assert "Which differences are real?" not in read.text
    assert read.charts == []


def test_one_query(page):
    assert (
        "other is better than one on 1 query and worse on 0." in page(small_report(one=[0.5], other=[0.75])).text
    )


def test_queries_left_out_have_no_bar(page):
    read = page(small_report(one=[1.0, np.nan, 0.5], other=[0.0, 0.5, 1.0]))
    assert "one is better than other on 1 query and worse on 1." in read.text
    assert "Which differences are real?" not in page(small_report(one=[np.nan], other=[1.0])).text


@pytest.mark.parametrize("rounds", [(), (0.5,), (0.5, 0.5), (0.5, 0.5, 0.5)])
def test_a_learning_curve_has_three_points_or_is_left_out(page, rounds):
    read = page(REPORT, histories={"good": history(*rounds, validation=False)})
    assert len(read.charts) == (3 if len(rounds) > 2 else 2)
    assert ("Learning curves" in read.text) == (len(rounds) > 2)
    assert "validation" not in read.text


def test_validation_without_a_value_is_not_drawn(page):
    rounds = tuple(Round(number, 1.0, 0.5, float("nan")) for number in (1, 2, 3))
    read = page(REPORT, histories={"good": History(rounds, 1)})
    assert "on training queries" in read.charts[-1]
    assert "on validation queries" not in read.charts[-1]


def test_the_differences_of_equal_systems_are_not_drawn(page):
    assert "Query by query" not in page(small_report(one=[0.5, 0.5], same=[0.5, 0.5])).text


def test_of_several_differences_a_page_shows_one_at_a_time(page):
    report = small_report(good=[1.0, 0.5, 0.75], fair=[0.5, 0.5, 0.5], poor=[0.25, 0.0, 0.25])
    read = page(report)
    assert read.count("select") == 1
    assert read.count("option") == 2
    assert "good against fair" in read.text
    assert "Click a bar" not in read.text  # there is no query browser to open


def test_a_page_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        write_page(REPORT, tmp_path / "nowhere" / "page.html")


def with_facts(*facts, train=0.5):
    return History(tuple(Round(place, 1.0, train, None, one) for place, one in enumerate(facts, start=1)), 1)


def test_misordered_pairs_are_drawn_below_their_bound(page):
    told = with_facts(*({"bound": bound, "misordered": 0.4} for bound in (0.9, 0.8, 0.7)))
    read = page(REPORT, histories={"RankBoost": told})
    assert "RankBoost: the bound that its paper proves" in read.text
    assert "fraction of misordered pairs" in read.charts[-1]
    assert "upper bound" in read.charts[-1]


def test_the_metric_is_drawn_above_its_bound(page):
    read = page(REPORT, histories={"AdaRank": with_facts(*({"bound": bound} for bound in (0.1, 0.2, 0.3)))})
    assert "AdaRank: the bound that its paper proves" in read.text
    assert "lower bound" in read.charts[-1]


def test_without_a_bound_that_says_something_none_is_drawn(page):
    trivial = with_facts({"bound": 0.3}, {"bound": -0.2}, {"bound": -0.9})
    for told in (with_facts({}, {}, {}), with_facts(*[{"bound": 0.3}] * 3, train=None), trivial):
        read = page(REPORT, histories={"other": told})
        assert "bound" not in read.text.replace("unbounded", "")


def test_names_are_never_markup(page):
    name = "<b>\"x\" & 'y'</b></script><script>alert(1)</script>"
    for systems in ({name: [1.0], "other": [0.0]}, {"other": [1.0], name: [0.0]}):
        read = page(small_report(**systems), histories={name: history(0.5)})
        assert (read.count("script"), read.count("b")) == (3, 0)
        assert name in read.text


def test_systems_and_data_give_browser_features_card_and_sheet(page):
    data = small_data(feature_names=["first", "second", "third", "fourth"])
    systems = {"trees": rw.LambdaMART(rounds=5, max_leaves=4).fit(data), "scores": np.arange(len(data))}
    read = page(rw.evaluate(systems, data, metrics="ndcg@10"), systems=systems, data=data)
    titles = [given["id"] for tag, given in read.tags if tag == "section"]
    assert titles[-4:] == ["query-browser", "features-of-trees", "the-model-trees", "the-test-data"]
    found = read.data["browser"]
    assert (found["systems"], found["features"]) == (["trees", "scores"], ["first", "second", "third", "fourth"])
    assert len(found["queries"]) == 24
    assert "LambdaMART: regression trees, whose outputs are added" in read.text


def test_unjudged_documents_are_shown_as_such(page):
    judged = Judgements.of(["1", "1", "2"], ["a", "b", "a"], [1, 0, 2])
    runs = {
        "old": Run.of(["1", "1", "2"], ["a", "x", "a"], [2.0, 1.0, 1.0]),
        "new": Run.of(["1", "1", "2"], ["b", "a", "y"], [2.0, 1.0, 1.0]),
    }
    read = page(rw.evaluate(runs, judged, metrics="map"), systems=runs, data=judged)
    shown = {
        (query["id"], name): label
        for query in read.data["browser"]["queries"]
        for name, label in zip(query["documents"], query["labels"], strict=True)
    }
    assert shown == {("1", "a"): 1, ("1", "b"): 0, ("1", "x"): None, ("2", "a"): 2, ("2", "y"): None}
    assert "a dash if the document was not judged" in read.text


def test_a_single_slice_has_no_chart(page):
    data = small_data()
    systems = {"first": data.X[:, 0], "second": data.X[:, 1]}
    kinds = dict.fromkeys(data.groups.ids, "one kind")
    found = rw.compare(systems, data, metrics="ndcg@10", slices={"kind": kinds})
    read = page(found)
    assert "All queries are in one slice, one kind, so there is nothing to compare." in read.text
    assert not any("slice" in one for one in read.charts)


def test_further_tests_are_folded(page):
    read = page(REPORT)
    assert read.count("details") == read.count("summary") == 1
    assert "Other tests by map: t, Wilcoxon, sign" in read.text


@pytest.mark.slow
def test_two_hundred_systems(page):
    data = small_data(10)
    random = np.random.default_rng(0)
    systems = {f"system {number}": random.normal(size=len(data)) for number in range(200)}
    read = page(rw.evaluate(systems, data, metrics="ndcg@10"), systems=systems, data=data)
    assert "12 of 199 comparisons are drawn." in read.text
    assert "8 of 200 systems are kept." in read.text
    assert "19,855 more pairs not listed" in read.text
    assert read.text.count("system 199") >= 1


@pytest.mark.slow
def test_fifty_thousand_queries(page):
    random = np.random.default_rng(0)
    qid = np.repeat(np.arange(50_000), 3)
    data = rw.RankingData(random.normal(size=(len(qid), 2)), random.integers(0, 3, len(qid)), qid)
    systems = {"first": data.X[:, 0], "second": data.X[:, 1]}
    report = rw.evaluate(systems, data, metrics="ndcg@10")
    read = page(report, systems=systems, data=data)
    assert "This page keeps 100 of 50,000 queries" in read.text
    assert "2,000 of 50,000 queries are drawn" in read.charts[1]
