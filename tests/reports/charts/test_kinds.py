"""Every kind of chart: drawn as XML, with its names, whatever these are and however large the input."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright.base.errors import InputError
from rankwright.reports.charts import (
    Point,
    bar_chart,
    config,
    difference_chart,
    grouped_bar_chart,
    interval_chart,
    line_chart,
    scatter_chart,
    tile_chart,
)
from rankwright.reports.charts.drawing import MAX_SERIES
from reports.charts.pictures import texts

NAMES = ["a.b[0]", "<b>\"bold\" & 'more'</b>", "C:\\path\\n", "datum.x + 1", "plain", "</script>", "$x", "0"]


def of_values(kind, names, values):
    """Return a chart with these values of these names."""
    pairs = list(zip(names, values, strict=True))
    return {
        "line": lambda: line_chart(
            {one: [(1, value), (2, value)] for one, value in pairs}, "x", "y", description="d"
        ),
        "interval": lambda: interval_chart([(one, value, 0.4, 0.6) for one, value in pairs], "x", description="d"),
        "bar": lambda: bar_chart(dict(pairs), "x", description="d"),
        "grouped": lambda: grouped_bar_chart({one: {one: value} for one, value in pairs}, "y", description="d"),
        "tile": lambda: tile_chart({one: {one: value} for one, value in pairs}, "label", description="d"),
        "scatter": lambda: scatter_chart(
            [Point(one, place, value, one) for place, (one, value) in enumerate(pairs)], "x", "y", description="d"
        ),
        "difference": lambda: difference_chart(list(values), list(names), "y", description="d"),
    }[kind]()


def of(kind, names):
    return of_values(kind, names, np.linspace(0.2, 0.8, len(names)))


KINDS = ["line", "interval", "bar", "grouped", "tile", "scatter", "difference"]
WITH_NAMES = KINDS[:-1]


@pytest.mark.parametrize("kind", WITH_NAMES)
@pytest.mark.parametrize("name", ["__proto__", "constructor", "toString"])
def test_names_that_objects_of_javascript_have_are_drawn(kind, name):
    assert name in [text.removesuffix("\N{WORD JOINER}") for text in texts(of(kind, [name, "other"]))]
    titled = line_chart({"curve": [(1, 2), (2, 3)]}, name, name, description=name)
    assert titled.description == name
    assert name in [text.removesuffix("\N{WORD JOINER}") for text in texts(titled)]


@pytest.mark.parametrize("kind", WITH_NAMES)
def test_names_are_drawn_whatever_they_are(kind):
    drawn = texts(of(kind, NAMES))
    assert set(NAMES) <= set(drawn)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_draw_is_refused(kind):
    with pytest.raises(InputError, match=r"^There is nothing to draw\.$"):
        of(kind, [])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_left_out_and_counted(kind, value):
    with pytest.raises(InputError, match=r"^There is nothing to draw: none of \d values? is finite\.$"):
        of_values(kind, ["one"], [value])
    chart = of_values(kind, ["one", "other"], [0.5, value])
    assert "left out: not finite." in chart.description
    assert all(one["difference"] == 0.5 for one in chart.spec["datasets"].get("queries", []))
    json.dumps(chart.spec, allow_nan=False)
    assert "NaN" not in chart.svg()


@pytest.mark.parametrize("kind", KINDS)
def test_a_single_name_is_drawn(kind):
    picture = ET.fromstring(of(kind, ["one"]).svg())
    assert (picture.get("role"), picture.get("aria-label")) == ("img", "d")


@pytest.mark.parametrize("kind", KINDS)
def test_a_specification_has_data_and_description_and_no_look(kind):
    chart = of(kind, NAMES)
    assert chart.spec["description"] == chart.description == "d"
    assert "config" not in chart.spec
    assert "url" not in json.dumps(chart.spec)
    assert '"#' not in json.dumps(chart.spec), "colours are the theme's"
    assert of(kind, NAMES).spec == chart.spec, "the same input gives the same specification"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_two_hundred_names(kind):
    names = [f"system {number}" for number in range(200)]
    chart = of(kind, names)
    drawn = set(texts(chart)) & set(names)
    assert len(drawn) <= 60
    if kind != "difference":
        assert len(drawn) >= MAX_SERIES
        assert "200" in chart.description or "192" in chart.description
    picture = ET.fromstring(chart.svg())
    assert float(picture.get("width")) < 1000
    assert float(picture.get("height")) < 2000


@pytest.mark.parametrize("kind", KINDS)
def test_notebooks_with_an_older_vega_lite_and_dark_pages_can_draw_it(kind):
    spec = {**of(kind, NAMES[:3]).spec, "$schema": "https://vega.github.io/schema/vega-lite/v5.json"}
    dark = vl_convert.vegalite_to_svg(spec, vl_version="5.20", config=config(dark=True))
    assert config(dark=True)["background"] in dark
    assert kind == "difference" or NAMES[0] in dark


@examples(30)
@given(st.sampled_from(WITH_NAMES), st.lists(st.text(max_size=12), min_size=1, max_size=5, unique=True))
def test_any_text_can_be_a_name(kind, names):
    chart = of(kind, names)
    ET.fromstring(chart.svg())
    chart.json().encode()


@examples(30)
@given(st.sampled_from(KINDS), st.lists(st.floats(width=32), min_size=1, max_size=6))
def test_any_number_can_be_a_value(kind, values):
    names = [f"n{place}" for place in range(len(values))]
    if not np.isfinite(values).any():
        with pytest.raises(InputError, match="nothing to draw"):
            of_values(kind, names, values)
        return
    picture = of_values(kind, names, values).svg()
    assert "NaN" not in picture
    ET.fromstring(picture)
