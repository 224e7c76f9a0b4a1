"""A chart as files, and what is said where a package is missing."""

import json
import re
import sys
import xml.etree.ElementTree as ET
from itertools import combinations

import numpy as np
import pytest

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.reports.charts import bar_chart, line_chart, require_drawing
from rankwright.reports.charts.chart import DARK, LIGHT, config, script_json

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


TEXT, GRAPHIC = 4.5, 3.0  # contrasts that WCAG 2.1 asks for (1.4.3, 1.4.11)
# How people without one kind of cone see linear colours (Viénot, Brettel & Mollon 1999).
DEUTERANOPIA = np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]])
PROTANOPIA = np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]])


def linear(colour):
    values = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def luminance(colour):
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_can_be_read(palette):
    assert all(contrast(one, palette.page) >= TEXT for one in (palette.text, palette.muted, *palette.series))
    assert all(contrast(one, palette.text) >= TEXT for one in (*palette.ramp, *palette.diverging))


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("sight", [np.eye(3), DEUTERANOPIA, PROTANOPIA], ids=["all", "deuteranopia", "protanopia"])
def test_the_first_colours_can_be_told_apart(palette, sight):
    seen = [np.cbrt(np.clip(sight @ linear(one), 0, 1)) for one in palette.series[:4]]  # about as eyes do
    assert min(np.abs(one - other).max() for one, other in combinations(seen, 2)) > 0.1


def test_light_and_dark_differ_in_colours_alone():
    light, dark = config(), config(dark=True)
    assert light.keys() == dark.keys()
    assert light["axis"].keys() == dark["axis"].keys()
    assert light["style"].keys() == dark["style"].keys()
    assert light["background"] != dark["background"]


def test_names_at_the_side_have_room_for_a_wider_font():
    """The font of a picture is measured where it is drawn; a browser may show it in another."""
    drawn = bar_chart({"category=trousers": 0.4, "b": 0.44}, "x", description="d").svg()
    left = int(re.search(r"translate\((\d+),", drawn)[1])
    assert left >= 119, "as wide as in DejaVu Sans, with the gap between name and bar"
