"""Points with names, and lines through some of them."""

from __future__ import annotations

from math import log10
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwright.reports.charts.chart import FONT_SIZE, HEIGHT, WIDTH, altair
from rankwright.reports.charts.drawing import (
    MAX_SERIES,
    Record,
    colour,
    drawable,
    evenly,
    finished,
    first_note,
    layer,
    left_out_note,
    log_padded,
    padded,
    quantity,
    require_some,
    sample_note,
    shown,
    whole_steps,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.reports.charts.chart import Chart

MAX_POINTS = 2000
MAX_NAMES = 60
NAME_WIDTH = 160
LETTER = 0.55 * FONT_SIZE  # mean width
NONE: Mapping[str, Any] = MappingProxyType({})
# Where a name may stand beside its point, in the order tried: side, alignment, and how far from the point.
SIDES = (
    ("above", "center", 0, -11),
    ("right", "left", 9, 0),
    ("left", "right", -9, 0),
    ("below", "center", 0, 12),
)


class Point(NamedTuple):
    """A point of a scatter chart: its name, its place, the series that it belongs to, and the text beside it.

    The text is the name by default; if it is empty, only the pointer shows the name.

    Examples
    --------
    >>> point = rw.charts.Point("LambdaMART", x=1.8, y=0.44, series="trees")
    >>> rw.charts.scatter_chart([point], "microseconds", "ndcg@10", description="One ranker.")
    Chart('One ranker.')
    """

    name: str
    x: float
    y: float
    series: str = ""
    text: str | None = None


def scatter_chart(
    points: Sequence[Point],
    x_label: str,
    y_label: str,
    *,
    description: str,
    x_log: bool = False,
    lines: Mapping[str, Sequence[tuple[float, float]]] = NONE,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> Chart:
    """Return points in one colour per series, with their names where there is room.

    Parameters
    ----------
    points
        The points; of more than two thousand, evenly spaced ones are drawn. The first eight series are drawn.
    x_label, y_label
        The labels of the axes.
    description
        The alternative text.
    x_log
        Whether x has a logarithmic scale.
    lines
        Lines behind the points, by the name of their series.

    Examples
    --------
    >>> points = [rw.charts.Point("BM25", 0.2, 0.37), rw.charts.Point("LambdaMART", 1.8, 0.40)]
    >>> chart = rw.charts.scatter_chart(
    ...     points, "microseconds", "ndcg@10", description="LambdaMART is better and slower."
    ... )
    >>> chart.save("speed.svg")
    """
    known = [_record(point) for point in points if drawable(point.x, point.y, log=x_log)]
    require_some(known, len(points))
    paths = [
        {"series": shown(name), "x": float(x), "y": float(y), "place": number}
        for name, line in lines.items()
        for number, (x, y) in enumerate(line)
        if drawable(x, y, log=x_log)
    ]
    series = list(dict.fromkeys(record["series"] for record in [*paths, *known]))
    named = [record for record in known if record["series"] in series[:MAX_SERIES]]
    kept = [named[number] for number in evenly(len(named), MAX_POINTS)]
    drawing = _Scatter(kept, paths, series[:MAX_SERIES], x_log, (width, height))
    datasets = {"points": kept, "lines": paths, "names": drawing.names()}
    notes = (
        left_out_note(len(points) - len(known), log=x_log),
        first_note(len(series), "series", MAX_SERIES),
        sample_note(len(kept), len(named), "point"),
    )
    return finished(
        drawing.layers(x_label), datasets, description, *notes, title=y_label, width=width, height=height
    )


def _record(point: Point) -> Record:
    text = point.name if point.text is None else point.text
    return {
        "name": shown(point.name),
        "x": float(point.x),
        "y": float(point.y),
        "series": shown(point.series),
        "text": shown(text),
    }


class _Scatter:
    """Points and lines in a rectangle of so many pixels."""

    def __init__(
        self, points: list[Record], paths: list[Record], series: list[str], log: bool, size: tuple[int, int]
    ) -> None:
        self.points, self.paths, self.series, self.log = points, paths, series, log
        self.width, self.height = size
        across, down = ([record[key] for record in [*points, *paths]] for key in ("x", "y"))
        self.x_domain = log_padded(across) if log else padded(across)
        self.y_domain = padded(down)
        self.x_ticks = {} if log else whole_steps(across)

    def layers(self, x_label: str) -> list[Any]:
        """Return the layers from the back to the front."""
        alt = altair()
        x = quantity(alt.X, "x", x_label, self.x_domain, log=self.log, grid=False, **self.x_ticks)
        y = quantity(alt.Y, "y", None, self.y_domain, tickCount=6)
        several = len(self.series) > 1
        tint = colour(self.series, legend=several)
        tips = [
            "name:N",
            *(["series:N"] if several else []),
            alt.Tooltip("x:Q", title=x_label, format=".4~g"),
            alt.Tooltip("y:Q", title="value", format=".4~f"),
        ]
        behind = layer("lines").mark_line().encode(x=x, y=y, order="place:Q", color=tint)
        dots = layer("points").mark_point().encode(x=x, y=y, tooltip=tips, color=tint)
        names = [
            layer("names")
            .mark_text(align=align, dx=right, dy=down, limit=NAME_WIDTH)
            .encode(x=x, y=y, text="text:N")
            .transform_filter(f"datum.side === '{side}'")
            for side, align, right, down in SIDES
        ]
        return [*([behind] if self.paths else []), dots, *names]

    def names(self) -> list[Record]:
        """Return the names that can be drawn beside their points without covering another point or name."""
        taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in map(self._pixel, self.points)]
        placed = []
        for point in [point for point in self.points if point["text"]][:MAX_NAMES]:
            for side, align, right, down in SIDES:
                box = self._box(point, align, right, down)
                if not any(_overlap(box, other) for other in taken):
                    placed.append({"x": point["x"], "y": point["y"], "text": point["text"], "side": side})
                    taken.append(box)
                    break
        return placed

    def _pixel(self, point: Record) -> tuple[float, float]:
        (left, right), x = self.x_domain, point["x"]
        if self.log:
            left, right, x = log10(left), log10(right), log10(x)
        low, high = self.y_domain
        return (x - left) / (right - left) * self.width, (high - point["y"]) / (high - low) * self.height

    def _box(self, point: Record, align: str, right: float, down: float) -> tuple[float, float, float, float]:
        """Return left, top, right and bottom of a name beside its point."""
        x, y = self._pixel(point)
        length = min(NAME_WIDTH, LETTER * len(point["text"]))
        left = x + right - {"center": length / 2, "left": 0.0, "right": length}[align]
        return left, y + down - FONT_SIZE / 2, left + length, y + down + FONT_SIZE / 2


def _overlap(box: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
