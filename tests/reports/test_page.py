"""Pages as files: what they hold, what they escape, and how large they are."""

import sys
from dataclasses import dataclass, field

import pytest

from html_page import read_page
from rankwright.base.errors import InputError, MissingPackageError
from rankwright.reports.blocks import (
    Cell,
    Code,
    Column,
    Facts,
    Figure,
    Figures,
    Interval,
    Kind,
    Note,
    Section,
    Table,
    Text,
)
from rankwright.reports.charts import bar_chart
from rankwright.reports.page import require_packages, write_page
from rankwright.reports.query_browser import BrowsedQuery, Listed, Moved, QueryBrowser
from rankwright.reports.result import Result

HOSTILE = "</script><script>alert(1)</script><!-- <b>\"x\" & 'y'</b>"
NAN = float("nan")


@dataclass(frozen=True, repr=False)
class Shown(Result):
    shown: list = field(default_factory=list)
    sentence: str = "Summary."

    @property
    def summary(self):
        return self.sentence

    def blocks(self):
        return [Section("First", self.shown), Section("First", [Text("again")])]


def figure(name="a"):
    def chart():
        return bar_chart({name: 1.0, "b": 2.0}, "length", description=f"Lengths of {name}.")

    return Figure(chart, f"Caption {name}")


def query(name="q1", document="d1"):
    listed = [Listed(0, 1.5, [Moved(0, NAN, -0.25)])]
    return BrowsedQuery(name, [0.5, NAN], 30, 2, [document], [1.0], [[1], [7]], [listed, []])


def browser(*queries, system="A", feature="f"):
    return QueryBrowser("map", [system, "B"], [feature], queries or [query()], 2.0)


def written(tmp_path, *blocks, title="Title", summary="Summary."):
    path = tmp_path / "page.html"
    write_page([Shown(list(blocks), summary)], path, title=title)
    return read_page(path)


def test_every_block_is_shown(tmp_path):
    table = Table([Column("name", Kind.TEXT), Column("value")], [(Cell("x", "small"), 0.5)], "A caption.")
    blocks = [Text("a text"), Note("a note"), Code("a code"), Facts({"fact": "value"}), table, figure(), browser()]
    page = written(tmp_path, *blocks, Figures([figure("c")]))
    for expected in ("Summary.", "a text", "a note", "a code", "fact value", "A caption.", "small", "Caption c"):
        assert expected in page.text
    assert page.charts == ["Lengths of a.", "Lengths of c."]
    assert [one["spec"]["description"] for one in page.data["charts"]] == page.charts
    assert page.data["browser"]["queries"][0]["lists"][0] == [[0, 1.5, [[0, None, -0.25]]]]
    assert [given["href"] for tag, given in page.tags if given.get("href", "").startswith("#")] == [
        "#content",
        "#first",
        "#first-2",
    ]


def test_nothing_is_asked_for_and_the_page_is_small(tmp_path):
    page = written(tmp_path, figure(), browser())
    assert not any("src" in given for _, given in page.tags)
    links = [given["href"] for _, given in page.tags if "href" in given]
    assert all(link.startswith(("#", "data:")) for link in links)
    assert (tmp_path / "page.html").stat().st_size < 1_200_000


def test_without_charts_there_is_no_library(tmp_path):
    written(tmp_path, Text("only words"))
    assert (tmp_path / "page.html").stat().st_size < 50_000


def test_names_are_never_markup(tmp_path):
    table = Table([Column(HOSTILE, Kind.TEXT)], [(Cell(HOSTILE, HOSTILE),)], HOSTILE)
    blocks = [Text(HOSTILE), Code(HOSTILE), Facts({HOSTILE: HOSTILE}), table, figure(HOSTILE)]
    listed = browser(query(HOSTILE, HOSTILE), system=HOSTILE, feature=HOSTILE)
    page = written(tmp_path, *blocks, listed, title=HOSTILE, summary=HOSTILE)
    assert page.count("script") == 3  # the data, the library and the page's own
    assert page.count("b") == 0
    assert page.data["browser"]["systems"][0] == HOSTILE
    assert page.data["browser"]["queries"][0]["documents"] == [HOSTILE]
    assert page.text.count("alert(1)") == 12


def test_text_that_utf_8_cannot_hold(tmp_path):
    assert "bad ? name" in written(tmp_path, Text("bad \ud800 name")).text


def test_numbers_and_what_a_column_is_sorted_by(tmp_path):
    kinds = [Kind.TEXT, Kind.METRIC, Kind.DIFFERENCE, Kind.COUNT, Kind.P_VALUE]
    rows = [
        ("a", Interval(0.5, 0.25, 0.75), Interval(-0.5, -0.75, 0.25), 1234, 0.0001),
        ("b", float("inf"), NAN, None, 0.25),
    ]
    page = written(tmp_path, Table([Column(kind.value, kind) for kind in kinds], rows))
    for expected in ("0.5000", "0.2500 to 0.7500", "\N{MINUS SIGN}0.5000", "1,234", "< 0.001", "0.250"):
        assert expected in page.text
    assert "\N{MINUS SIGN}0.7500 to +0.2500" in page.text
    assert page.text.count("\N{EN DASH}") == 2
    sorted_by = [given.get("data-value") for tag, given in page.tags if tag == "td"]
    assert sorted_by == ["0.5", "-0.5", "1234.0", "0.0001", None, None, None, "0.25"]


def test_an_interval_that_takes_long_is_computed_for_the_page_and_not_for_text(tmp_path):
    computed = []

    def limits():
        computed.append(1)
        return 0.25, 0.75

    table = Table([Column("system", Kind.TEXT), Column("map")], [("a", Cell(0.5, limits=limits))])
    assert "0.5000" in str(Shown([table]))
    assert not computed
    assert "0.2500 to 0.7500" in written(tmp_path, table).text
    assert computed


def test_tints_and_bars(tmp_path):
    columns = [Column("name", Kind.TEXT), Column("length", bar=True), Column("tint")]
    rows = [("a", 0.5, Cell(1.0, shade=0.5)), ("b", 0.25, Cell(1.0, shade=-1.0))]
    written(tmp_path, Table(columns, rows))
    html = (tmp_path / "page.html").read_text()
    assert 'style="width: 50.0%"' in html
    assert 'style="--shade: 50%" data-shade="blue"' in html
    assert 'style="--shade: 100%" data-shade="orange"' in html


def test_a_page_is_written_completely_or_not_at_all(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        Shown().write_page(tmp_path / "nowhere" / "page.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("module", "package"), [("jinja2", "jinja2"), ("vl_convert", "vl-convert-python")])
def test_packages_that_are_missing_are_named(monkeypatch, tmp_path, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    sentence = f"A page needs {package}; run pip install 'rankwright[report]'."
    with pytest.raises(MissingPackageError) as caught:
        require_packages()
    assert str(caught.value) == sentence
    with pytest.raises(MissingPackageError):
        Shown().write_page(tmp_path / "page.html")


def test_a_headline_is_not_broken_within_a_number_and_its_unit(tmp_path):
    @dataclass(frozen=True, repr=False)
    class Finding(Result):
        summary = "A beats B by 0.0123 map (p < 0.001, 95 % interval 0.0100 to 0.0200)."

        def blocks(self):
            return []

    Finding().write_page(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "(p\N{NO-BREAK SPACE}&lt;\N{NO-BREAK SPACE}0.001, 95\N{NO-BREAK SPACE}% interval" in page
    assert "0.0100\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}0.0200" in page
