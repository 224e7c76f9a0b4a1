"""Bars: of named values, of groups, and of differences per query."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.charts.drawing import (
    MOST_SERIES,
    Record,
    colour,
    data_of,
    drawable,
    evenly,
    finished,
    left_out_note,
    quantity,
    require_some,
    shown,
)
from rankwright.charts.packages import altair
from rankwright.charts.theme import HEIGHT, WIDTH
from rankwright.data.counted import counted
from rankwright.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import ArrayLike

    from rankwright.charts.chart import Chart

MOST_ROWS = 50
MOST_GROUPS = 30
MOST_BARS = 2000  # of differences; more are narrower than a pixel
ROW = 22  # pixels


def bar_chart(values: Mapping[str, float], x_label: str, *, description: str, width: int = WIDTH) -> Chart:
    """Return one horizontal bar per name, in the given order; of more than fifty names, the first fifty.

    Parameters
    ----------
    values
        The length of each bar; negative ones go to the left.
    x_label
        What the values are.
    description
        The alternative text.
    """
    known = {shown(name): float(value) for name, value in values.items() if drawable(value)}
    left_out = len(values) - len(known)
    require_some(known, left_out)
    records = [{"name": name, "value": value} for name, value in list(known.items())[:MOST_ROWS]]
    alt = altair()
    bars = alt.Chart(data_of(records)).encode(
        x=quantity(alt.X, "value", None, domain=_room_for_numbers(known.values()), labels=False, grid=False),
        y=row_names([one["name"] for one in records]),
        tooltip=[alt.Tooltip("name:N"), alt.Tooltip("value:Q", format=".4~g")],
    )
    number = alt.Text("value:Q", format=".3~g")
    layers = [
        bars.mark_bar(height={"band": 0.72}),
        bars.transform_filter("datum.value >= 0").mark_text(align="left", dx=5, style="note").encode(text=number),
        bars.transform_filter("datum.value < 0").mark_text(align="right", dx=-5, style="note").encode(text=number),
    ]
    notes = left_out_note(left_out), first_note(len(known), "bar")
    return finished(layers, description, *notes, title=x_label, width=width, height=alt.Step(ROW))


def _room_for_numbers(values: Collection[float]) -> tuple[float, float]:
    """Return the range of bars from zero, with room beyond the negative ones for their numbers."""
    low, high = min(0.0, *values), max(0.0, *values)
    return low - (0.12 * (high - low) if low < 0 else 0.0), high or (low == 0.0)


def grouped_bar_chart(
    table: Mapping[str, Mapping[str, float]],
    y_label: str,
    *,
    description: str,
    x_label: str | None = None,
    intervals: Mapping[str, Mapping[str, tuple[float, float]]] | None = None,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> Chart:
    """Return a group of bars per row of the table, with one bar per system; systems have their own colours.

    Parameters
    ----------
    table
        For each group the value of each system; a system may be missing in some groups. At most the first thirty
        groups and the first eight systems are drawn.
    y_label
        What the values are.
    description
        The alternative text.
    x_label
        What the groups are.
    intervals
        The lower and the upper end of the interval of some values, drawn as a line over the bar.
    """
    systems = list(dict.fromkeys(shown(system) for row in table.values() for system in row))
    records = [
        {"group": shown(group), "system": shown(system), "value": float(value)} | _ends(intervals, group, system)
        for group, row in list(table.items())[:MOST_GROUPS]
        for system, value in row.items()
        if drawable(value)
    ]
    total = sum(map(len, list(table.values())[:MOST_GROUPS]))
    require_some(records, total)
    named = systems[:MOST_SERIES]
    alt = altair()
    bars = alt.Chart(data_of([one for one in records if one["system"] in named])).mark_bar()
    groups = alt.Axis(title=x_label, labelAngle=0, labelLimit=width // len(table), labelOverlap=True)
    drawn = bars.encode(
        x=alt.X("group:N", sort=None, axis=groups, scale=alt.Scale(paddingInner=0.25)),
        xOffset=alt.XOffset("system:N", sort=named),
        y=alt.Y("value:Q", axis=alt.Axis(title=None, tickCount=6)),
        color=colour(named, legend=True, field="system"),
        tooltip=["group:N", "system:N", alt.Tooltip("value:Q", format=".4~g")],
    )
    notes = (
        left_out_note(total - len(records)),
        first_note(len(table), "group", MOST_GROUPS),
        first_note(len(systems), "system", MOST_SERIES),
    )
    layers = [drawn, *_interval_rules(drawn.data.values, named)]
    return finished(layers, description, *notes, title=y_label, width=width, height=height)


def _ends(
    intervals: Mapping[str, Mapping[str, tuple[float, float]]] | None, group: str, system: str
) -> dict[str, float]:
    """Return the ends of a value's interval, if it has one that can be drawn."""
    low, high = (intervals or {}).get(group, {}).get(system, (math.nan, math.nan))
    return {"low": float(low), "high": float(high)} if drawable(low, high) else {}


def _interval_rules(records: Sequence[Record], named: Sequence[str]) -> list[Any]:
    """Return a layer with the interval of each bar that has one; nothing if none has."""
    alt = altair()
    known = [one for one in records if "low" in one]
    rules = alt.Chart(data_of(known)).mark_rule(style="interval").encode(
        x=alt.X("group:N", sort=None),
        xOffset=alt.XOffset("system:N", sort=list(named)),
        y=alt.Y("low:Q"),
        y2=alt.Y2("high:Q"),
    )
    return [rules] if known else []


def difference_chart(
    differences: ArrayLike,
    names: Sequence[object],
    y_label: str,
    *,
    description: str,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> Chart:
    """Return one bar per query, from the largest gain to the largest loss; a click picks a query.

    Of more than two thousand queries, evenly spaced ones are drawn. The selection is called `picked`, and each bar
    has the name of its query in the field `query`.

    Parameters
    ----------
    differences
        One per query; NaN for a query that is left out.
    names
        The name of each query.
    y_label
        What the differences are.
    description
        The alternative text.
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or len(values) != len(names):
        raise InputError(f"There are {values.size} differences but {len(names)} names of queries.")
    finite = np.flatnonzero(np.isfinite(values))
    require_some(finite.tolist(), len(values))
    order = finite[np.argsort(-values[finite], kind="stable")]
    sides = [f"better ({(values[order] > 0).sum():,})", f"worse ({(values[order] < 0).sum():,})"]
    records = _difference_records(values, names, order, sides)
    layers = _difference_layers(records, sides, len(order))
    sampled = f"{len(records):,} of {len(order):,} queries are drawn." if len(records) < len(order) else ""
    notes = left_out_note(len(values) - len(order)), sampled
    return finished(layers, description, *notes, title=y_label, width=width, height=height)


def _difference_records(values: Any, names: Sequence[object], order: Any, sides: list[str]) -> list[Record]:
    kept = evenly(len(order), MOST_BARS)
    step = len(order) / len(kept)
    filled = step if len(kept) > WIDTH // 4 else 0.88 * step  # with gaps where bars are wide enough
    return [
        {
            "query": shown(names[order[place]]),
            "difference": float(values[order[place]]),
            "side": sides[int(values[order[place]] < 0)],
            "from": number * step,
            "to": number * step + filled,
        }
        for number, place in enumerate(kept)
    ]


def _difference_layers(records: list[Record], sides: list[str], total: int) -> list[Any]:
    alt = altair()
    picked = alt.selection_point(name="picked", fields=["query"])
    x = quantity(alt.X, "from", "queries, best first", domain=(0, total), grid=False, tickMinStep=1)
    bars = alt.Chart(data_of(records)).mark_bar(cursor="pointer", cornerRadiusEnd=0)
    drawn = bars.encode(
        x=x,
        x2=alt.X2("to:Q"),
        y=alt.Y("difference:Q", axis=alt.Axis(title=None, tickCount=6), scale=alt.Scale(nice=False)),
        y2=alt.Y2Datum(0),
        color=colour(sides, legend=True, field="side"),
        opacity=alt.condition(picked, alt.value(1.0), alt.value(0.35)),
        tooltip=["query:N", alt.Tooltip("difference:Q", format="+.4f")],
    ).add_params(picked)
    zero = alt.Chart(data_of([{"zero": 0}])).mark_rule(style="zero").encode(y="zero:Q")
    return [drawn, zero]


def row_names(names: Sequence[str]) -> Any:
    """Return the encoding of names down the left side, in this order."""
    alt = altair()
    return alt.Y("name:N", sort=list(names), axis=alt.Axis(title=None, grid=False))


def first_note(total: int, noun: str, most: int = MOST_ROWS) -> str:
    """Return a sentence if only the first of many things are drawn; else nothing."""
    return f"The first {most} of {counted(total, noun)} are drawn." if total > most else ""
