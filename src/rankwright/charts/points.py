"""Points with names, and lines through some of them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwright.charts.drawing import (
    MOST_SERIES,
    Record,
    colour,
    data_of,
    drawable,
    evenly,
    finished,
    left_out_note,
    padded,
    quantity,
    require_some,
    shown,
)
from rankwright.charts.packages import altair
from rankwright.charts.theme import HEIGHT, WIDTH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.charts.chart import Chart

MOST_POINTS = 2000
MOST_NAMES = 30
NONE: Mapping[str, Any] = MappingProxyType({})


class Point(NamedTuple):
    """A point of a scatter chart: its name, its place, and the series that it belongs to."""

    name: str
    x: float
    y: float
    series: str = ""


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
    """Return points with their names, where there is room, in one colour per series.

    Parameters
    ----------
    points
        The points; of more than two thousand, evenly spaced ones are drawn.
    x_label, y_label
        The labels of the axes.
    description
        The alternative text.
    x_log
        Whether x has a logarithmic scale.
    lines
        Lines behind the points, by the name of their series.
    """
    known = [_record(one) for one in points if drawable(one.x, one.y, log=x_log)]
    left_out = len(points) - len(known)
    require_some(known, left_out)
    kept = [known[place] for place in evenly(len(known), MOST_POINTS)]
    paths = [
        {"series": shown(name), "x": float(x), "y": float(y), "place": place}
        for name, line in lines.items()
        for place, (x, y) in enumerate(line)
        if drawable(x, y, log=x_log)
    ]
    layers = _layers(kept, paths, x_label, x_log=x_log)
    sampled = f"{len(kept):,} of {len(known):,} points are drawn." if len(kept) < len(known) else ""
    notes = left_out_note(left_out, x_log), sampled
    return finished(layers, description, *notes, title=y_label, width=width, height=height)


def _record(point: Point) -> Record:
    return {"name": shown(point.name), "x": float(point.x), "y": float(point.y), "series": shown(point.series)}


def _layers(points: list[Record], paths: list[Record], x_label: str, *, x_log: bool) -> list[Any]:
    alt = altair()
    series = list(dict.fromkeys(one["series"] for one in [*paths, *points]))
    xs, ys = ([one[key] for one in [*points, *paths]] for key in ("x", "y"))
    x_domain = [min(xs) / 1.2, max(xs) * 1.2] if x_log else padded(xs)
    x = quantity(alt.X, "x", x_label, domain=x_domain, log=x_log, grid=False)
    y = quantity(alt.Y, "y", None, domain=padded(ys), tickCount=6)
    several = len(series) > 1
    tint = {"color": colour(series[:MOST_SERIES], legend=several)}
    tips = [
        alt.Tooltip("name:N"),
        *([alt.Tooltip("series:N")] if several else []),
        alt.Tooltip("x:Q", title=x_label, format=".4~g"),
        alt.Tooltip("y:Q", format=".4~f"),
    ]
    behind = alt.Chart(data_of(paths)).mark_line().encode(x=x, y=y, order="place:Q", **tint)
    dots = alt.Chart(data_of(points)).mark_point().encode(x=x, y=y, tooltip=tips, **tint)
    drawn = [behind, dots] if paths else [dots]
    if len(points) > MOST_NAMES:
        return drawn
    names = alt.Chart(data_of(points)).mark_text(dy=-11, limit=160).encode(x=x, y=y, text="name:N")
    return [*drawn, names]
