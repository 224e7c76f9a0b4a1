"""Pictures of their own; those of pages and curves are tested with what draws them."""

import xml.etree.ElementTree as ET

import pytest

from rankwright.chart import Chart, line_chart, round_numbers, tile_chart

SVG = "{http://www.w3.org/2000/svg}"
TABLE = {"ls": {"5 leaves": 0.1, "2 < 3": 0.5}, "a & b": {"5 leaves": 0.0, "2 < 3": 0.4}}


def test_a_tile_stands_for_every_value_darker_the_larger_it_is():
    picture = ET.fromstring(tile_chart(TABLE, "weights"))
    tiles = picture.findall(f"{SVG}rect")
    assert [float(tile.get("fill-opacity")) for tile in tiles] == [0.2, 1.0, 0.0, 0.8]
    texts = [one.text for one in picture.iter(f"{SVG}text")]
    assert {"weights", "ls", "a & b", "5 leaves", "2 < 3", "10.0%", "50.0%", "0.0%", "40.0%"} == set(texts)
    height = float(picture.get("height"))
    assert all(float(tile.get("y")) + float(tile.get("height")) <= height for tile in tiles)


def test_tiles_of_nothing_are_drawn_too():
    tiles = ET.fromstring(tile_chart({"a": {"b": 0.0}}, "nothing")).findall(f"{SVG}rect")
    assert [tile.get("fill-opacity") for tile in tiles] == ["0.000"]


@pytest.mark.parametrize("above", [True, False])
def test_names_stand_where_curves_leave_room(above):
    curves = {"rising": [(0.0, 0.0), (1.0, 1.0)]} if above else {"falling": [(0.0, 1.0), (1.0, 0.0)]}
    picture = ET.fromstring(line_chart(curves, "x", "y", x_whole=False, names_above=above))
    (name,) = (one for one in picture.iter(f"{SVG}text") if one.text in curves)
    assert (float(name.get("x")) < 360) == above
    assert (float(name.get("y")) < 130) == above


def test_an_axis_of_shares_has_ticks_between_whole_numbers():
    picture = ET.fromstring(line_chart({"a": [(0, 0), (1, 1)]}, "x", "y", x_whole=False))
    assert [one.text for one in picture.iter(f"{SVG}text")].count("0.1") == 1


def test_equal_ratios_are_equally_far_on_a_logarithmic_axis():
    chart = Chart((0.1, 1000.0), (0.0, 1.0), "x", "y", x_whole=False, x_log=True, width=360, height=200)
    svg = chart.drawn([chart.point("a", x, 0.5, "<&>") for x in (0.1, 1.0, 10.0, 100.0, 1000.0)])
    picture = ET.fromstring(svg)
    places = [float(one.get("cx")) for one in picture.iter("circle")]
    assert places == pytest.approx([56.0, 128.0, 200.0, 272.0, 344.0])
    assert [one.text for one in picture.iter("title")] == ["<&>"] * 5
    texts = [one.text for one in picture.iter("text")]
    assert {"0.1", "1", "10", "100", "1000"} <= set(texts)
    assert "2" not in texts, "there is no room for more than powers of ten"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1, 10, [1, 2, 5, 10]),
        (0.03, 0.6, [0.05, 0.1, 0.2, 0.5]),
        (5, 400, [5, 10, 20, 50, 100, 200]),
        (2.1, 4.9, []),
    ],
)
def test_round_numbers(low, high, expected):
    assert round_numbers(low, high) == expected


def test_a_short_logarithmic_axis_has_ticks():
    picture = ET.fromstring(Chart((2.1, 4.9), (0.0, 1.0), "x", "y", x_log=True).drawn([]))
    assert {"3", "4"} <= {one.text for one in picture.iter("text")}


def test_names_of_near_points_do_not_overlap():
    chart = Chart((0.0, 1.0), (0.0, 1.0), "x", "y")
    picture = ET.fromstring(
        f"<svg>{chart.names('a', [(0.5, 0.5, '<1>'), (0.505, 0.5, '2'), (0.9, 0.5, '3')])}</svg>"
    )
    first, second, third = picture.iter("text")
    assert first.text == "<1>"
    assert float(second.get("y")) - float(first.get("y")) >= 12
    assert third.get("y") == first.get("y")
