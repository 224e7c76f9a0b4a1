"""A chart as files, and what is said where a package is missing."""

import json
import sys
import xml.etree.ElementTree as ET

import pytest

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.reports.charts import line_chart, require_drawing
from rankwright.reports.charts.chart import script_json

HOSTILE = "</script><script>alert(1)</script><!--"


def chart(name="curve"):
    return line_chart({name: [(1, 0.5), (2, 0.6)]}, "x", "y", description=f"About {name}.")


@pytest.mark.parametrize(
    "ending", [".svg", ".png", pytest.param(".html", marks=pytest.mark.slow), ".json", ".SVG"]
)
def test_the_ending_chooses_the_form(tmp_path, ending):
    path = tmp_path / f"chart{ending}"
    chart().save(path)
    content = path.read_bytes()
    start = {".svg": b"<svg ", ".png": b"\x89PNG", ".html": b"<!doctype html>", ".json": b"{"}[ending.lower()]
    assert content.startswith(start)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", ["chart.pdf", "chart", ".svg"])
def test_another_ending_is_refused(tmp_path, name):
    sentence = rf"^A chart is saved as \.svg, \.png, \.html or \.json, not as '{name}'\.$"
    with pytest.raises(InputError, match=sentence):
        chart().save(tmp_path / name)
    with pytest.raises(InputError, match=sentence):
        require_drawing(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        chart().save(tmp_path / "nowhere" / "chart.svg")


def test_a_picture_has_an_alternative_text():
    picture = ET.fromstring(chart('"<&>"').svg())
    assert picture.get("aria-label") == 'About "<&>".'


def test_json_is_complete():
    spec = json.loads(chart().json())
    assert spec["config"]["background"] == "#ffffff"
    assert spec["datasets"]["curves"]


@pytest.mark.slow
def test_a_page_stands_alone_and_no_name_ends_its_script():
    page = chart(HOSTILE).html()
    assert page.count("</script>") == 2
    assert "<!--" not in page.split("</script>")[1]
    assert not any(f'{what}="http' in page.split("<script>")[0] for what in ("src", "href"))
    assert "prefers-color-scheme: dark" in page


@pytest.mark.parametrize(
    ("package", "sentence"),
    [
        ("altair", r"^A chart needs altair; run pip install 'rankwright\[report\]'\.$"),
        (
            "vl_convert",
            r"^A picture of a chart needs vl-convert-python; run pip install 'rankwright\[report\]'\.$",
        ),
    ],
)
def test_without_a_package(monkeypatch, tmp_path, package, sentence):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=sentence):
        chart().save(tmp_path / "chart.svg")
    with pytest.raises(MissingPackageError, match=sentence):
        require_drawing("chart.svg")


def test_json_needs_no_converter(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    require_drawing("chart.json")
    chart().save(tmp_path / "chart.json")


def test_script_data_can_be_read_back():
    data = {"text": "</script> <!-- & > \u2028", "numbers": [1.5, float("nan"), float("inf")], "list": (1, 2)}
    text = script_json(data)
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"text": data["text"], "numbers": [1.5, None, None], "list": [1, 2]}
