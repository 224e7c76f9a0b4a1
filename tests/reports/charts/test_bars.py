import numpy as np
import pytest

from rankwright.base.errors import InputError
from rankwright.reports.charts import bar_chart, difference_chart, grouped_bar_chart, tile_chart
from rankwright.reports.charts.bars import MAX_BARS
from reports.charts.pictures import marks, texts


def test_differences_are_sorted_and_named():
    chart = difference_chart([0.1, -0.3, np.nan, 0.5, 0.0], ["a", 7, "left out", "c", "d"], "y", description="d")
    bars = chart.spec["datasets"]["queries"]
    assert [one["query"] for one in bars] == ["c", "a", "d", "7"]
    assert [one["difference"] for one in bars] == [0.5, 0.1, 0.0, -0.3]
    assert {"better (2)", "worse (1)", "queries, best first"} <= set(texts(chart))
    assert len(marks(chart, "rect")) == 4


def test_a_page_can_listen_to_what_is_picked():
    chart = difference_chart([0.1], ["a"], "y", description="d")
    (picked,) = [one for one in chart.spec["params"] if one["name"] == "picked"]
    assert picked["select"] == {"type": "point", "fields": ["query"]}
    assert picked["views"] == ["bars"]


def test_fifty_thousand_queries_are_sampled_and_the_description_says_so():
    differences = np.random.default_rng(0).normal(size=50_000)
    chart = difference_chart(differences, range(50_000), "y", description="d")
    bars = chart.spec["datasets"]["queries"]
    assert len(bars) == MAX_BARS
    assert chart.description == "d 2,000 of 50,000 queries are drawn, evenly spaced."
    assert (bars[0]["difference"], bars[-1]["difference"]) == (differences.max(), differences.min())
    assert bars[-1]["to"] == pytest.approx(50_000)
    assert f"better ({(differences > 0).sum():,})" in texts(chart)
    assert len(chart.json()) < 500_000


def test_as_many_names_as_differences():
    with pytest.raises(InputError, match=r"^There are 2 differences but 1 names of queries\.$"):
        difference_chart([0.1, 0.2], ["a"], "y", description="d")


def test_bars_keep_their_order_and_have_their_numbers():
    chart = bar_chart({"z": 0.5, "a": 0.125, "minus": -0.25}, "importance", description="d")
    drawn = texts(chart)
    assert [one for one in drawn if one in {"z", "a", "minus"}] == ["z", "a", "minus"]
    assert {"0.5", "0.125", "\N{MINUS SIGN}0.25", "importance"} <= set(drawn)


def test_all_bars_may_be_zero():
    assert "0" in texts(bar_chart({"a": 0.0}, "x", description="d"))


def test_groups():
    table = {"0-1": {"A": 0.5, "B": 0.25}, "0-2": {"B": 0.125, "C": np.nan}}
    chart = grouped_bar_chart(table, "error rate", description="d", x_label="pair of labels")
    assert len(marks(chart, "rect")) == 3
    assert {"0-1", "0-2", "A", "B", "C", "pair of labels", "error rate"} <= set(texts(chart))
    assert chart.description == "d 1 value is left out: not finite."


@pytest.mark.parametrize(("percent", "text"), [(True, "25.0%"), (False, "0.25")])
def test_tiles(percent, text):
    table = {"one": {"a": 0.25, "b": 0.5}, "other": {"a": np.nan, "b": -0.5}}
    chart = tile_chart(table, "share", description="d", percent=percent)
    assert {"one", "other", "a", "b", text, "share"} <= set(texts(chart))
    assert len(marks(chart, "rect")) == 3


def test_tiles_of_many_columns_have_no_numbers():
    table = {"one": {f"column {number}": 0.123 for number in range(40)}}
    assert "12.3%" not in texts(tile_chart(table, "share", description="d"))
