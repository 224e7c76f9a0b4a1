"""Every result is rendered by the same code: a new one of three fields writes no formatting."""

import io
import json
import sys
from dataclasses import dataclass

import pytest

from rankwright.base.errors import InputError
from rankwright.reports.blocks import Cell, Column, Facts, Interval, Kind, Note, Section, Table, Text, fact_lines
from rankwright.reports.page import page_html
from rankwright.reports.result import Result


@dataclass(frozen=True, repr=False)
class Throughput(Result):
    requests: int
    rate: float
    model: str


@dataclass(frozen=True, repr=False)
class Means(Result):
    means: dict[str, Interval]

    @property
    def summary(self):
        return "a leads."

    def blocks(self):
        rows = [(name, mean, None) for name, mean in self.means.items()]
        columns = [Column("system", Kind.TEXT), Column("ndcg@10"), Column("gain", Kind.DIFFERENCE)]
        yield Section("Means", [Table(columns, rows, "Means over queries."), Note("Five queries.")])
        yield Section("Tiles", [Table([Column("x")], [(Cell(0.5, shade=1.0),)], tiles=True)])
        yield Section("Empty", [])


THREE = Throughput(requests=1200, rate=0.25, model="<b>")


def test_a_result_of_three_fields_is_rendered_as_text():
    assert str(THREE).split("\n") == [
        "Throughput: requests 1,200, rate 0.25, model <b>.",
        "",
        "requests  1,200",
        "rate      0.25",
        "model     <b>",
    ]
    assert repr(THREE) == "<Throughput: requests 1,200, rate 0.25, model <b>.>"


def test_a_result_of_three_fields_is_rendered_as_json():
    assert json.loads(json.dumps(THREE.to_dict())) == {"requests": 1200, "rate": 0.25, "model": "<b>"}


def test_a_result_of_three_fields_is_rendered_in_a_notebook():
    bundle = THREE._repr_mimebundle_()
    assert bundle["text/plain"] == str(THREE)
    assert "<tr><th>model</th><td>&lt;b&gt;</td></tr>" in bundle["text/html"]


def test_a_result_of_three_fields_is_rendered_as_a_page(tmp_path):
    pytest.importorskip("vl_convert")
    THREE.write_page(tmp_path / "page.html", reproduce="rankwright <again>")
    page = (tmp_path / "page.html").read_text()
    assert "<h1>Throughput</h1>" in page
    assert "<dt>requests</dt><dd>1,200</dd>" in page
    assert "rankwright &lt;again&gt;" in page


def test_tables_hold_values_and_are_spelled_by_their_columns():
    result = Means({"a": Interval(0.5, 0.4, 0.6), "long name": Interval(0.25, float("nan"), float("nan"))})
    assert str(result).split("\n") == [
        "a leads.",
        "",
        "system                       ndcg@10  gain",
        "a          0.5000 (0.4000 to 0.6000)",
        "long name                     0.2500",
        "Five queries.",
    ]
    assert [section.title for section in result.sections] == ["Means", "Tiles"]
    assert len(result.tables) == 2
    assert result.charts == []


def test_a_table_becomes_a_data_frame():
    pytest.importorskip("pandas")
    frame = Means({"a": Interval(0.5, 0.4, 0.6)}).frame()
    assert frame["ndcg@10"].tolist() == [0.5]
    assert frame["ndcg@10 low"].tolist() == [0.4]


def test_unknown_numbers_are_null_in_json_and_a_dash_in_text():
    result = Throughput(1, float("nan"), "m")
    assert result.to_dict()["rate"] is None
    assert "rate -" in result.summary


def test_a_block_outside_of_sections_is_in_a_section_of_the_results_title():
    (section,) = THREE.sections
    assert section.title == "Throughput"
    assert isinstance(section.blocks[0], Facts)


def test_facts_are_named_as_given_in_text():
    assert fact_lines({"max_leaves": 8}) == ["max_leaves  8"]


def test_a_result_without_tables_becomes_a_data_frame_of_its_facts():
    pytest.importorskip("pandas")
    assert THREE.frame().to_dict("records") == [{"requests": 1200, "rate": 0.25, "model": "<b>"}]


@pytest.mark.parametrize("number", [2, -3])
def test_a_table_that_is_not_there_is_refused(number):
    pytest.importorskip("pandas")
    with pytest.raises(InputError, match=f"has tables 0 to 1, not a table {number}"):
        Means({"a": Interval(0.5, 0.4, 0.6)}).frame(number)


@dataclass(frozen=True, repr=False)
class TwoTables(Result):
    shown: str = "shown"

    def blocks(self):
        for name in ("Gains", "Losses"):
            yield Section(name, [Table([Column("n", Kind.COUNT), Column("q", Kind.TEXT)], [(7, "x")], f"{name}.")])
        yield Section("Charts", [Note("Only a note.")])


def test_tables_have_their_captions_where_there_are_several():
    assert str(TwoTables()).split("\n\n")[1:] == ["Gains.\nn  q\n7  x", "Losses.\nn  q\n7  x"]


def test_a_notebook_shows_titles_and_captions_and_aligns_numbers():
    html = TwoTables()._repr_mimebundle_()["text/html"]
    assert "<h4>Gains</h4><table><caption>Gains.</caption>" in html
    assert '<td style="text-align: right">7</td><td style="text-align: left">x</td>' in html
    assert "Only a note." not in html


def test_a_page_does_not_repeat_the_title_of_its_only_section():
    pytest.importorskip("vl_convert")
    page = page_html([THREE], title=THREE.title, reproduce="rankwright again")
    assert "<h1>Throughput</h1>" in page
    assert "<h2>Throughput</h2>" not in page
    assert '<nav class="contents"' not in page
    page = page_html([TwoTables()], title="Two tables")
    assert "<h2>Gains</h2>" in page
    assert '<nav class="contents"' in page


@dataclass(frozen=True, repr=False)
class Wordy(Result):
    words: str

    def blocks(self):
        return [Text(self.words), Note(self.words)]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_paragraphs_are_wrapped_at_the_width_of_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert len(str(Wordy("seven-letter " * 20)).split("\n")) == 4  # nothing is wrapped in a file or a pipe
    monkeypatch.setattr(sys, "stdout", Terminal())
    lines = str(Wordy("seven-letter " * 20)).split("\n")[1:]
    assert max(map(len, lines)) <= 40
    assert " ".join(lines).split() == ["seven-letter"] * 40


def test_a_column_without_values_is_left_out():
    columns = [Column("name", Kind.TEXT), Column("value"), Column("p", Kind.P_VALUE), Column("note", Kind.TEXT)]
    rows = [("a", 0.5, float("nan"), None), ("b", None, float("nan"), "")]
    shown = Table(columns, rows).without_empty_columns()
    assert [column.title for column in shown.columns] == ["name", "value"]
    assert shown.rows == [["a", 0.5], ["b", None]]
