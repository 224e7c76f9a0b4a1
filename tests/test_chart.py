"""Pictures of their own; those of pages and curves are tested with what draws them."""

import xml.etree.ElementTree as ET

import pytest

from rankwright.chart import line_chart, tile_chart

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
