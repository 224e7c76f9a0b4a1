"""Lines with their names beside them."""

from __future__ import annotations

from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rankwright.charts.chart import HOVER, Chart
from rankwright.charts.drawing import (
    MOST_SERIES,
    Record,
    colour,
    data_of,
    drawable,
    finished,
    left_out_note,
    padded,
    quantity,
    require_some,
    shown,
    whole_steps,
)
from rankwright.charts.packages import altair
from rankwright.charts.theme import DASHES, FONT_SIZE, HEIGHT, WIDTH
from rankwright.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

MOST_POINTS = 1200  # of one curve; two for each pixel
MOST_DOTS = 12  # a curve of so few points shows them
MOST_HOVERED = 2000  # points that answer the pointer
NAME_WIDTH = 200
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
    bands: Mapping[str, Sequence[tuple[float, float, float]]] = NONE,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> Chart:
    """Return one line per curve, through its points in the given order, with its name beside its end.

    A line is broken where a point is not finite, and thinned to its extremes where it has thousands of points. The
    first eight curves have a colour and a name; the others are drawn faintly.

    Parameters
    ----------
    curves
        The points (x, y) of each curve.
    x_label, y_label
        The labels of the axes.
    description
        The alternative text.
    marked
        A point to emphasise for some of the curves, such as the one that was chosen.
    x_log
        Whether x has a logarithmic scale.
    dashed
        Names of the curves to draw dashed, such as bounds.
    bands
        For some of the curves (x, low, high), drawn faintly behind it, such as an interval.
    """
    _require_curves(marked, dashed, bands, curves)
    records, left_out = _records(curves, x_log)
    require_some(records, left_out)
    band_records = [
        {"series": shown(name), "x": x, "low": low, "high": high}
        for name, points in bands.items()
        for x, low, high in points
        if drawable(x, low, high, log=x_log)
    ]
    spots = [_point(name, x, y) for name, (x, y) in marked.items() if drawable(x, y, log=x_log)]
    drawing = _Lines(records, band_records, spots, list(map(shown, curves)), set(map(shown, dashed)))
    layers = drawing.layers(x_label, x_log=x_log, height=height)
    others = len(curves) - MOST_SERIES
    faint = f"{others} more curves are drawn faintly and without names." if others > 0 else ""
    notes = (left_out_note(left_out, x_log), faint)
    return finished(layers, description, *notes, title=y_label, width=width, height=height)


class _Lines:
    """The records of a line chart, and the layers that show them."""

    def __init__(
        self, records: list[Record], bands: list[Record], spots: list[Record], names: list[str], dashed: set[str]
    ) -> None:
        self.records, self.bands, self.spots, self.dashed = records, bands, spots, dashed
        self.named, self.faint = names[:MOST_SERIES], set(names[MOST_SERIES:])
        across = [*records, *bands, *spots]
        self.x_domain = min(one["x"] for one in across), max(one["x"] for one in across)
        heights = [one[key] for one in across for key in ("y", "low", "high") if key in one]
        self.y_domain = padded(heights)

    def layers(self, x_label: str, *, x_log: bool, height: int) -> list[Any]:
        """Return the layers from the back to the front."""
        alt = altair()
        steps = whole_steps(one["x"] for one in self.records)
        self.x = quantity(alt.X, "x", x_label, domain=self._x_ends(x_log), log=x_log, grid=False, **steps)
        self.y = quantity(alt.Y, "y", None, domain=self.y_domain, tickCount=6)
        groups = [
            ("area", self.bands, {"opacity": 0.18}),
            ("line", self._of(self.faint), {"style": "background"}),
            ("line", self._of(set(self.named) - self.dashed), {}),
            ("line", self._of(set(self.named) & self.dashed), {"strokeDash": DASHES}),
            ("point", [*self._dots(), *self.spots], {}),
        ]
        drawn = [self._layer(kind, records, options) for kind, records, options in groups if records]
        drawn += [self._names(height)] if len(self.named) > 1 else []
        return [*drawn, self._hover()] if len(self.records) <= MOST_HOVERED else drawn

    def _x_ends(self, log: bool) -> tuple[float, float] | list[float]:
        low, high = self.x_domain
        if low < high:
            return low, high
        return (low / 2, low * 2) if log else padded([low])

    def _of(self, names: set[str]) -> list[Record]:
        return [one for one in self.records if one["series"] in names]

    def _dots(self) -> Iterator[Record]:
        """Yield the points that a line would not show: of curves with few points, and single ones."""
        counts: dict[tuple[str, int], int] = {}
        for one in self.records:
            counts[one["series"], one["segment"]] = counts.get((one["series"], one["segment"]), 0) + 1
        for one in self.records:
            few = sum(number for (name, _), number in counts.items() if name == one["series"]) <= MOST_DOTS
            if one["series"] in self.named and (few or counts[one["series"], one["segment"]] == 1):
                yield one

    def _layer(self, kind: str, records: list[Record], options: dict[str, Any]) -> Any:
        alt = altair()
        base = getattr(alt.Chart(data_of(records)), f"mark_{kind}")(**options)
        encoded: dict[str, Any] = {"x": self.x, "y": self.y, "detail": ["segment:N", "series:N"]}
        if kind == "area":
            encoded |= {"y": alt.Y("low:Q"), "y2": alt.Y2("high:Q"), "detail": ["series:N"]}
        else:
            encoded["order"] = alt.Order("place:Q") if kind == "line" else alt.Undefined
        if options.get("style") != "background":
            encoded["color"] = colour(self.named)
        return base.encode(**encoded)

    def _names(self, height: int) -> Any:
        """Return the names of the curves, at the right of their ends and apart from each other."""
        alt = altair()
        ends = {one["series"]: one["y"] for one in self.records if one["series"] in self.named}
        low, high = self.y_domain
        apart = (FONT_SIZE + 3) * (high - low) / height
        places = spread(list(ends.values()), apart, low, high)
        records = [{"series": name, "y": place} for name, place in zip(ends, places, strict=True)]
        text = alt.Chart(data_of(records)).mark_text(align="left", dx=10, limit=NAME_WIDTH)
        return text.encode(
            x=alt.XValue("width"), y=alt.Y("y:Q"), text=alt.Text("series:N"), color=colour(self.named)
        )

    def _hover(self) -> Any:
        """Return invisible points, of which the nearest to the pointer appears with its values."""
        alt = altair()
        near = alt.selection_point(name="near", on="pointerover", nearest=True, empty=False, clear="pointerout")
        tips = [alt.Tooltip("series:N", title="curve"), alt.Tooltip("x:Q"), alt.Tooltip("y:Q", format=".4~f")]
        points = alt.Chart(data_of(self.records), name=HOVER).mark_point(size=80)
        return points.encode(
            x=self.x, y=self.y, tooltip=tips, opacity=alt.condition(near, alt.value(1), alt.value(0))
        ).add_params(near)


def spread(values: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Return the values moved as little as needed to be `apart`, within the range if there is room.

    Neighbours that are too near are merged to a block around the mean of their values, as in isotonic regression.
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    blocks: list[tuple[float, list[int]]] = []  # middle, members from the lowest
    for place in order:
        middle, members = values[place], [place]
        while True:
            half = apart * (len(members) - 1) / 2
            middle = max(low + half, min(high - half, middle))
            if not blocks or blocks[-1][0] + apart * (len(blocks[-1][1]) + len(members)) / 2 <= middle:
                break
            members = blocks.pop()[1] + members
            middle = sum(values[one] for one in members) / len(members)
        blocks.append((middle, members))
    moved = [0.0] * len(values)
    for middle, members in blocks:
        for number, one in enumerate(members):
            moved[one] = middle + apart * (number - (len(members) - 1) / 2)
    return moved


def _point(name: str, x: float, y: float, place: int = 0, segment: int = 0) -> Record:
    return {"series": shown(name), "x": float(x), "y": float(y), "place": place, "segment": segment}


def _records(curves: Mapping[str, Sequence[tuple[float, float]]], log: bool) -> tuple[list[Record], int]:
    """Return the points that can be drawn, and how many cannot."""
    records: list[Record] = []
    left_out = 0
    for name, points in curves.items():
        segment = 0
        kept: list[Record] = []
        for place, (x, y) in enumerate(points):
            if drawable(x, y, log=log):
                kept.append(_point(name, x, y, place, segment))
            else:
                left_out, segment = left_out + 1, segment + 1
        records += _thinned(kept)
    return records, left_out


def _thinned(points: list[Record]) -> list[Record]:
    """Return at most about MOST_POINTS points: the ends, and the lowest and highest of each stretch between."""
    if len(points) <= MOST_POINTS:
        return points
    stretches = MOST_POINTS // 2
    borders = [len(points) * number // stretches for number in range(stretches + 1)]
    kept = {0, len(points) - 1}
    for begin, end in pairwise(borders):
        heights = range(begin, end)
        kept |= {min(heights, key=lambda one: points[one]["y"]), max(heights, key=lambda one: points[one]["y"])}
    return [points[one] for one in sorted(kept)]


def _require_curves(
    marked: Mapping[str, Any], dashed: Collection[str], bands: Mapping[str, Any], curves: Mapping[str, Any]
) -> None:
    unknown = [name for name in (*marked, *dashed, *bands) if name not in curves]
    if unknown:
        raise InputError(f"There is no curve {unknown[0]!r}; there are {', '.join(map(repr, curves)) or 'none'}.")
