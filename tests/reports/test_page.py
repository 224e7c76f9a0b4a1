"""Pages as files: what they hold, what they escape, and how large they are."""

import json
import sys

import pytest
from rankwright.reports.pages.browser import MOST_BYTES, BrowsedQuery, Listed, Moved, QueryBrowser

from html_page import read_page
from rankwright.base.errors import InputError, MissingPackageError
from rankwright.reports.charts import bar_chart
from rankwright.reports.pages.blocks import Cell, Code, Column, Facts, Figure, Figures, Note, Section, Table, Text
from rankwright.reports.pages.cells import number, p_value, shown
from rankwright.reports.pages.page import Page, require_packages, script_json

HOSTILE = "</script><script>alert(1)</script><!-- <b>\"x\" & 'y'</b>"


def figure(name="a"):
    return Figure(bar_chart({name: 1.0, "b": 2.0}, "length", description=f"Lengths of {name}."), f"Caption {name}")


def query(name="q1", document="d1"):
    listed = [Listed(0, 1.5, [Moved(0, float("nan"), -0.25)])]
    return BrowsedQuery(name, [0.5, float("nan")], 30, 2, [document], [1.0], [[1], [7]], [listed, []])


def browser(*queries, system="A", feature="f"):
    return QueryBrowser("map", [system, "B"], [feature], queries or [query()], 2.0)


def written(tmp_path, *blocks, title="Title", summary="Summary."):
    path = tmp_path / "page.html"
    Page(title, summary, [Section("First", blocks), Section("First", [Text("again")])]).write(path)
    return read_page(path)


def test_every_block_is_shown(tmp_path):
    table = Table(
        [Column("name", is_text=True), Column("value")], [(Cell("x", "small"), number(0.5))], "A caption."
    )
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
    table = Table([Column(HOSTILE, is_text=True)], [(Cell(HOSTILE, HOSTILE),)], HOSTILE)
    blocks = [Text(HOSTILE), Code(HOSTILE), Facts({HOSTILE: HOSTILE}), table, figure(HOSTILE)]
    listed = browser(query(HOSTILE, HOSTILE), system=HOSTILE, feature=HOSTILE)
    page = written(tmp_path, *blocks, listed, title=HOSTILE, summary=HOSTILE)
    assert page.count("script") == 3  # the data, the library and the page's own
    assert page.count("b") == 0
    assert page.data["browser"]["systems"][0] == HOSTILE
    assert page.data["browser"]["queries"][0]["documents"] == [HOSTILE]
    assert page.text.count("alert(1)") == 12


def test_script_data_can_be_read_back():
    data = {"text": "</script> <!-- & > \u2028", "numbers": [1.5, float("nan"), float("inf")], "list": (1, 2)}
    text = script_json(data)
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"text": data["text"], "numbers": [1.5, None, None], "list": [1, 2]}


def test_text_that_utf_8_cannot_hold(tmp_path):
    assert "bad ? name" in written(tmp_path, Text("bad \ud800 name")).text


def test_queries_beyond_the_room_are_left_out():
    many = browser(*(query(f"q{place}", "d" * 1000) for place in range(2_000)))
    assert 100 < len(many.kept) < 2_000
    assert len(json.dumps(many.plain(), separators=(",", ":"))) < MOST_BYTES + 1_000
    assert [one["id"] for one in many.kept[:2]] == ["q0", "q1"]


def test_numbers():
    assert (shown(-0.5, "+.2f"), shown(float("nan")), shown(1234, ",")) == (
        "\N{MINUS SIGN}0.50",
        "\N{EN DASH}",
        "1,234",
    )
    assert (number(float("inf")).value, number(2, "d").value) == (None, 2.0)
    assert (p_value(0.0001).text, p_value(0.25).text) == ("< 0.001", "0.250")


def test_a_page_is_written_completely_or_not_at_all(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        Page("t", "s", []).write(tmp_path / "nowhere" / "page.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("module", "package"), [("jinja2", "jinja2"), ("vl_convert", "vl-convert-python")])
def test_packages_that_are_missing_are_named(monkeypatch, tmp_path, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    sentence = f"A page needs {package}; run pip install 'rankwright[report]'."
    with pytest.raises(MissingPackageError) as caught:
        require_packages()
    assert str(caught.value) == sentence
    with pytest.raises(MissingPackageError):
        Page("t", "s", []).write(tmp_path / "page.html")
