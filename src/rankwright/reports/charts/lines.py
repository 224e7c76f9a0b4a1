"""Lines with their names beside them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.reports.charts.chart import DASHES, FONT_SIZE, HEIGHT, HOVER, WIDTH, altair
from rankwright.reports.charts.drawing import (
    MAX_SERIES,
    Record,
    colour,
    drawable,
    finished,
    layer,
    left_out_note,
    padded,
    quantity,
    require_some,
    shown,
    whole_steps,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rankwright.reports.charts.chart import Chart

MAX_POINTS = 12_000  # of all curves
MAX_OF_CURVE = 3000
MAX_HOVERED = 2000  # points that answer the pointer
HOVERED_SIZE = 120  # square pixels
MAX_DOTS = 12  # a curve of so few points shows them
NAME_WIDTH = 200
NAME_HEIGHT = FONT_SIZE + 3
NONE: Mapping[str, Any] = MappingProxyType({})


def line_chart(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    x_label: str,
    y_label: str,
    *,
    description: str,
    marked: Mapping[str, tuple[float, float]] = NONE,
    x_log: bool = False,
    dashed: Collection[str] = (),
    faint: Collection[str] = (),
    bands: Mapping[str, Sequence[tuple[float, float, float]]] = NONE,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> Chart:
    """Return one line per curve, through its points in the given order, with its name beside its end.

    A line is broken where a point is not finite, and thinned to its extremes where it has thousands of points. The
    first eight curves have a colour and a name; further ones are drawn faintly.

    Parameters
    ----------
    curves
        The points (x, y) of each curve. The name of a single curve may be empty.
    x_label, y_label
        The labels of the axes.
    description
        The alternative text.
    marked
        A point to emphasise for some of the curves, such as the one that was chosen.
    x_log
        Whether x has a logarithmic scale.
    dashed
        Names of curves to draw dashed, such as bounds.
    faint
        Names of curves to draw faintly and without names, as a background.
    bands
        For some of the curves (x, low, high), drawn behind it, such as an interval.

    Examples
    --------
    >>> curves = {"old": [(100, 0.40), (200, 0.42)], "new": [(100, 0.41), (200, 0.44)]}
    >>> chart = rw.charts.line_chart(curves, "queries", "ndcg@10", description="new learns faster.")
    >>> chart.save("curves.svg")
    """
    _require_curves(curves, *marked, *dashed, *faint, *bands)
    named = [shown(name) for name in curves if name not in faint][:MAX_SERIES]
    looks = {name: "dashed" if name in dashed else "solid" for name in curves if shown(name) in named}
    records, left_out = _records(curves, looks, log=x_log)
    require_some(records, left_out)
    spots = [_point(name, *point) for name, point in marked.items() if drawable(*point, log=x_log)]
    datasets = {"curves": records, "bands": _bands(bands, log=x_log), "dots": _dots(records), "marked": spots}
    drawn = [record for layer_records in datasets.values() for record in layer_records]
    y_domain = padded(record[key] for record in drawn for key in ("y", "low", "high") if key in record)
    datasets["names"] = _names(records, named, y_domain, height)
    layers = _layers(datasets, named, x_label, y_domain, log=x_log)
    others = len(curves) - len(faint) - len(named)
    unnamed = f"Drawn faintly and without a name: {counted(others, 'further curve')}." if others > 0 else ""
    notes = left_out_note(left_out, log=x_log), unnamed
    return finished(layers, datasets, description, *notes, title=y_label, width=width, height=height)


def _require_curves(curves: Mapping[str, Any], *names: str) -> None:
    unknown = [name for name in names if name not in curves]
    if unknown:
        raise InputError(f"There is no curve {unknown[0]!r}; there are {', '.join(map(repr, curves)) or 'none'}.")


def _point(name: str, x: float, y: float, **more: Any) -> Record:
    return {"series": shown(name), "x": float(x), "y": float(y), **more}


def _records(
    curves: Mapping[str, Sequence[tuple[float, float]]], looks: Mapping[str, str], *, log: bool
) -> tuple[list[Record], int]:
    """Return the points that can be drawn, and how many cannot."""
    records: list[Record] = []
    left_out = 0
    most = min(MAX_OF_CURVE, MAX_POINTS // max(1, len(curves)))
    for name, points in curves.items():
        look, segment = looks.get(name, "faint"), 0
        kept: list[Record] = []
        for number, (x, y) in enumerate(points):
            if drawable(x, y, log=log):
                kept.append(_point(name, x, y, look=look, segment=segment, place=number))
            else:
                left_out, segment = left_out + 1, segment + 1
        records += _thinned(kept, most)
    return records, left_out


def _bands(bands: Mapping[str, Sequence[tuple[float, float, float]]], *, log: bool) -> list[Record]:
    return [
        {"series": shown(name), "x": float(x), "low": float(low), "high": float(high)}
        for name, points in bands.items()
        for x, low, high in points
        if drawable(x, low, high, log=log)
    ]


def _thinned(points: list[Record], most: int) -> list[Record]:
    """Return about `most` points: the ends, and the lowest and highest of each stretch between."""
    if len(points) <= most:
        return points
    stretches = max(1, most // 2 - 1)
    borders = [len(points) * number // stretches for number in range(stretches + 1)]
    kept = {0, len(points) - 1}
    for begin, end in pairwise(borders):
        stretch = range(begin, end)
        kept |= {pick(stretch, key=lambda index: points[index]["y"]) for pick in (min, max)}
    return [points[index] for index in sorted(kept)]


def _dots(records: list[Record]) -> list[Record]:
    """Return the points to show as such: those of curves with few points, and those that no line goes through."""
    of_curve = Counter(record["series"] for record in records)
    of_segment = Counter((record["series"], record["segment"]) for record in records)
    return [
        record
        for record in records
        if (record["look"] == "solid" and of_curve[record["series"]] <= MAX_DOTS)
        or (record["look"] != "faint" and of_segment[record["series"], record["segment"]] == 1)
    ]


def _names(records: list[Record], named: list[str], y_domain: Sequence[float], height: int) -> list[Record]:
    """Return the names of curves at the heights of their ends, moved so that none covers another."""
    ends = {record["series"]: record["y"] for record in records if record["series"] in named}
    low, high = y_domain
    heights = spread(list(ends.values()), NAME_HEIGHT * (high - low) / height, low, high)
    return [{"series": name, "y": y} for name, y in zip(ends, heights, strict=True)]


def spread(values: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Return the values moved as little as needed to be `apart`, within the range if there is room.

    Neighbours that are too near become a block around the mean of their values, as in isotonic regression.
    """
    blocks: list[tuple[float, list[int]]] = []  # middle, and members from the lowest
    for index in sorted(range(len(values)), key=values.__getitem__):
        members = [index]
        while True:
            half = apart * (len(members) - 1) / 2
            middle = sum(values[member] for member in members) / len(members)
            middle = max(low + half, min(high - half, middle))
            if not blocks or blocks[-1][0] + apart * (len(blocks[-1][1]) + len(members)) / 2 <= middle:
                break
            members = blocks.pop()[1] + members
        blocks.append((middle, members))
    moved = [0.0] * len(values)
    for middle, members in blocks:
        for number, member in enumerate(members):
            moved[member] = middle + apart * (number - (len(members) - 1) / 2)
    return moved


def _layers(
    datasets: Mapping[str, list[Record]], named: list[str], x_label: str, y_domain: list[float], *, log: bool
) -> list[Any]:
    """Return the layers from the back to the front."""
    alt = altair()
    xs = [record["x"] for name in ("curves", "bands", "marked") for record in datasets[name]]
    x_domain = [min(xs), max(xs)] if min(xs) < max(xs) else [xs[0] / 2, xs[0] * 2] if log else padded(xs)
    x = quantity(alt.X, "x", x_label, x_domain, log=log, grid=False, **({} if log else whole_steps(xs)))
    y = quantity(alt.Y, "y", None, y_domain, tickCount=6)
    tint = colour(named)
    through = {"x": x, "y": y, "order": "place:Q", "detail": ["series:N", "segment:N"]}
    looks = {record["look"] for record in datasets["curves"]}
    lines = {
        "faint": layer("curves").mark_line(style="faint").encode(**through),
        "solid": layer("curves").mark_line().encode(**through, color=tint),
        "dashed": layer("curves").mark_line(strokeDash=DASHES).encode(**through, color=tint),
    }
    band = layer("bands").mark_area(opacity=0.18).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=tint)
    names = layer("names").mark_text(align="left", dx=10, limit=NAME_WIDTH)
    drawn = [band] if datasets["bands"] else []
    drawn += [line.transform_filter(f"datum.look === '{look}'") for look, line in lines.items() if look in looks]
    drawn += [layer("dots").mark_point().encode(x=x, y=y, color=tint)] if datasets["dots"] else []
    drawn += (
        [layer("marked").mark_point(style="marked").encode(x=x, y=y, color=tint)] if datasets["marked"] else []
    )
    drawn.append(names.encode(x=alt.XValue("width"), y="y:Q", text="series:N", color=tint))
    return [*drawn, _hover(x, y, x_label, tint)] if len(datasets["curves"]) <= MAX_HOVERED else drawn


def _hover(x: Any, y: Any, x_label: str, tint: Any) -> Any:
    """Return invisible points, each of which appears with its values when the pointer is over it.

    The nearest point does not appear from afar, since the tooltips of Vega-Lite 6.4 then lack names.
    """
    alt = altair()
    near = alt.selection_point(name="near", on="pointerover", empty=False, clear="pointerout")
    tips = [
        alt.Tooltip("series:N", title="curve"),
        alt.Tooltip("x:Q", title=x_label, format=",.4~f"),
        alt.Tooltip("y:Q", title="value", format=".4~f"),
    ]
    points = layer("curves", name=HOVER).mark_point(size=HOVERED_SIZE, aria=False)
    opacity = alt.condition(near, alt.value(1), alt.value(0))
    return points.encode(x=x, y=y, tooltip=tips, color=tint, opacity=opacity).add_params(near)
