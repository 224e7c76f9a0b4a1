"""Every chart: drawn as XML, with its names, whatever these are and however large the input."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from rankwright.charts import (
    Point,
    bar_chart,
    difference_chart,
    grouped_bar_chart,
    interval_chart,
    line_chart,
    scatter_chart,
    tile_chart,
)
from rankwright.errors import InputError

NAMES = ["a.b[0]", "<b>\"bold\" & 'more'</b>", "C:\\path", "datum.x + 1", "plain"]

CHARTS = {
    "line": lambda names: line_chart({one: [(1, 0.5), (2, 0.6)] for one in names}, "x", "y", description="d"),
    "interval": lambda names: interval_chart([(one, 0.5, 0.4, 0.6) for one in names], "x", description="d"),
    "bar": lambda names: bar_chart(dict.fromkeys(names, 0.5), "x", description="d"),
    "grouped": lambda names: grouped_bar_chart({one: {one: 0.5} for one in names}, "y", description="d"),
    "tile": lambda names: tile_chart({one: {one: 0.5} for one in names}, "label", description="d"),
    "scatter": lambda names: scatter_chart(
        [Point(one, place, place, one) for place, one in enumerate(names)], "x", "y", description="d"
    ),
    "difference": lambda names: difference_chart(np.arange(len(names)) - 1.0, names, "y", description="d"),
}


def texts(chart):
    return [one.text for one in ET.fromstring(chart.svg()).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("kind", set(CHARTS) - {"difference"})
def test_names_are_drawn_whatever_they_are(kind):
    assert set(NAMES) <= set(texts(CHARTS[kind](NAMES)))


@pytest.mark.parametrize("kind", CHARTS)
def test_nothing_to_draw_is_refused(kind):
    with pytest.raises(InputError, match=r"^There is nothing to draw\.$"):
        CHARTS[kind]([])


@pytest.mark.parametrize("kind", CHARTS)
def test_a_single_name_is_drawn(kind):
    assert texts(CHARTS[kind](["one"]))


@pytest.mark.parametrize("kind", CHARTS)
def test_a_specification_has_its_data_and_its_description_but_no_look(kind):
    chart = CHARTS[kind](NAMES)
    assert chart.spec["description"] == chart.description == "d"
    assert "config" not in chart.spec
    assert "url" not in json.dumps(chart.spec).replace("$schema", "")
