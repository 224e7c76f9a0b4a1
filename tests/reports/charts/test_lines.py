import json
import re

import numpy as np
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright.base.errors import InputError
from rankwright.reports.charts import line_chart
from rankwright.reports.charts.lines import MAX_OF_CURVE, MAX_POINTS, spread
from reports.charts.pictures import marks, texts


def drawn(curves, **options):
    return line_chart(curves, "x", "y", description="d", **options)


def test_a_line_is_broken_where_a_value_is_missing():
    curve = [(0, 1.0), (1, 2.0), (2, np.nan), (3, 2.0), (4, 1.0), (5, np.inf), (6, 1.5)]
    chart = drawn({"a": curve})
    assert len(marks(chart, "line")) == 3
    assert chart.description == "d 2 values are left out: not finite."
    assert len(chart.spec["datasets"]["dots"]) == 5, "a single point between gaps is seen too"


def test_points_are_joined_in_their_order():
    back = [(3.0, 1.0), (1.0, 2.0), (2.0, 3.0)]
    assert [(one["x"], one["y"]) for one in drawn({"a": back}).spec["datasets"]["curves"]] == back
    (path,) = marks(drawn({"a": back}), "line")
    across = [float(place.split(",")[0]) for place in path[1:].split("L")]
    assert across == [640, 0, 320]


def test_looks():
    curves = {name: [(1, 1.0), (2, 2.0)] for name in ("plain", "bound", "other")}
    chart = drawn(curves, dashed=["bound"], faint=["other"], marked={"plain": (2, 2.0)})
    looks = {one["series"]: one["look"] for one in chart.spec["datasets"]["curves"]}
    assert looks == {"plain": "solid", "bound": "dashed", "other": "faint"}
    assert {"plain", "bound"} <= set(texts(chart))
    assert "other" not in texts(chart)
    assert chart.svg().count("stroke-dasharray") == 1


def test_bands_lie_behind():
    chart = drawn({"a": [(1, 1.0), (2, 2.0)]}, bands={"a": [(1, 0.5, 1.5), (2, 1.0, 9.0), (3, np.nan, 1.0)]})
    assert len(chart.spec["datasets"]["bands"]) == 2
    assert len(marks(chart, "area")) == 1
    assert "8" in texts(chart), "the axis reaches to the end of the band"


@pytest.mark.parametrize("option", [{"marked": {"b": (1, 1)}}, {"dashed": ["b"]}, {"bands": {"b": []}}])
def test_options_of_a_curve_that_is_not_there(option):
    with pytest.raises(InputError, match=r"^There is no curve 'b'; there are 'a'\.$"):
        drawn({"a": [(1, 1.0)]}, **option)


def test_a_long_curve_keeps_its_extremes():
    values = np.zeros(100_000)
    values[[31_234, 77_777]] = 1.0, -1.0
    points = drawn({"a": list(enumerate(values))}).spec["datasets"]["curves"]
    assert len(points) <= MAX_OF_CURVE
    assert {one["y"] for one in points} == {0.0, 1.0, -1.0}
    assert (points[0]["x"], points[-1]["x"]) == (0, 99_999)
    assert [one["x"] for one in points] == sorted(one["x"] for one in points)


@pytest.mark.slow
def test_many_curves_are_drawn_with_few_points_each():
    curves = {f"curve {number}": [(x, number * x) for x in range(1000)] for number in range(200)}
    chart = drawn(curves)
    assert len(chart.spec["datasets"]["curves"]) <= MAX_POINTS
    assert sum(one.startswith("curve") for one in texts(chart)) == 8
    assert chart.description == "d Drawn faintly and without a name: 192 further curves."


def test_a_logarithmic_axis():
    curve = [(0, 1.0), *((10.0**power, power) for power in range(5))]
    chart = drawn({"a": curve}, x_log=True)
    assert {"1", "10", "100", "1,000", "10,000"} <= set(texts(chart))
    assert chart.description == "d 1 value is left out: not positive and finite."
    (path,) = marks(chart, "line")
    across = [float(place.split(",")[0]) for place in path[1:].split("L")]
    assert across == pytest.approx([0, 160, 320, 480, 640])


def test_tooltips_have_the_names():
    spec = vl_convert.vegalite_to_vega(drawn({"a": [(1, 1.0), (2, 2.0)]}).spec)
    tooltips = re.findall(r'"tooltip": {.*?}', json.dumps(spec))
    assert tooltips
    assert not any("datum.datum" in one for one in tooltips), "of the nearest point, whose names Vega-Lite loses"


def test_integers_have_no_ticks_between():
    assert "1.5" not in texts(drawn({"a": [(1, 10.0), (2, 30.0)]}))
    assert "1.5" in texts(drawn({"a": [(1, 10.0), (1.75, 30.0), (2, 30.0)]}))


@examples(100)
@given(st.lists(st.floats(0, 100), min_size=1, max_size=12))
def test_names_are_apart_and_as_near_as_possible(values):
    moved = spread(values, 5.0, 0.0, 100.0)
    order = np.argsort(values, kind="stable")
    assert (np.diff(np.array(moved)[order]) >= 5.0 - 1e-9).all()
    assert min(moved) >= -1e-9
    assert max(moved) <= 100 + 1e-9
    if (np.diff(np.array(values)[order]) >= 5.0).all():
        assert moved == pytest.approx(values)
