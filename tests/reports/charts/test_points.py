import numpy as np

from rankwright.reports.charts import Point, scatter_chart
from reports.charts.pictures import marks, texts


def drawn(points, **options):
    return scatter_chart(points, "x", "y", description="d", **options)


def test_points_lines_and_names():
    points = [Point("one", 1.0, 0.5, "a"), Point("two", 10.0, 0.7, "b"), Point("quiet", 5.0, 0.6, "b", "")]
    chart = drawn(points, x_log=True, lines={"a": [(1.0, 0.5), (5.0, 0.6)]})
    assert {"one", "two", "a", "b", "1", "2", "5", "10"} <= set(texts(chart))
    assert "quiet" not in texts(chart)
    assert len(marks(chart, "line")) == 1
    assert [one["name"] for one in chart.spec["datasets"]["points"]] == ["one", "two", "quiet"]


def test_names_of_near_points_stand_on_different_sides():
    placed = drawn([Point("left", 0.5, 0.5), Point("right", 0.51, 0.5), Point("far", 0.9, 0.9)]).spec["datasets"][
        "names"
    ]
    sides = {one["text"]: one["side"] for one in placed}
    assert sides["left"] != sides["right"]
    assert sides["far"] == "above"


def test_names_without_room_are_left_to_the_pointer():
    chart = drawn([Point(f"a long name {place}", 0.5, 0.5) for place in range(20)] + [Point("far", 1.0, 1.0)])
    names = {one["text"] for one in chart.spec["datasets"]["names"]}
    assert "far" in names
    assert len(names) < 10
    assert len(chart.spec["datasets"]["points"]) == 21


def test_many_points_are_sampled():
    points = [
        Point(str(place), *values) for place, values in enumerate(np.random.default_rng(0).random((50_000, 2)))
    ]
    chart = drawn(points)
    assert len(chart.spec["datasets"]["points"]) == 2000
    assert chart.description == "d 2,000 of 50,000 points are drawn, evenly spaced."


def test_a_logarithmic_axis_of_one_point():
    assert "alone" in texts(drawn([Point("alone", 3.0, 0.5)], x_log=True))


def test_integers_have_no_ticks_between():
    for last in (2, 3, 5):
        chart = drawn([Point("", float(number), 0.5 + number / 100) for number in range(1, last + 1)])
        assert [text for text in texts(chart) if text and text[0] in "12345"] == [*map(str, range(1, last + 1))]
