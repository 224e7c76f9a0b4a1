"""Every result is rendered by the same code: a new one of three fields writes no formatting."""

import json
from dataclasses import dataclass

import pytest

from rankwright.reports.blocks import Cell, Column, Facts, Interval, Kind, Note, Section, Table
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
    assert repr(THREE) == "<Throughput: Throughput: requests 1,200, rate 0.25, model <b>.>"


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
