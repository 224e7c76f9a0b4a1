"""Bars, intervals and tiles: one row per name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, require_type
from rankwright.base.wording import interval, metric_value
from rankwright.reports.charts.chart import HEIGHT, WIDTH, altair
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
    padded,
    quantity,
    require_some,
    sample_note,
    shown,
    whole_steps,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.reports.charts.chart import Chart


MAX_ROWS = 50
MAX_GROUPS = 30
MAX_BARS = 2000  # of differences; more would be narrower than a pixel
WIDE_ENOUGH = 4  # pixels of a bar with a gap beside it
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

    Examples
    --------
    >>> importances = {"title: BM25": 0.31, "clicks": 0.12}
    >>> chart = rw.charts.bar_chart(importances, "importance", description="BM25 matters most.")
    >>> chart.save("importances.svg")
    """
    require_type(values, Mapping, "bar_chart takes a dict of names and values")
    known: list[Record] = [
        {"name": shown(name), "value": float(value)} for name, value in values.items() if drawable(value)
    ]
    require_some(known, len(values))
    bars = known[:MAX_ROWS]
    alt = altair()
    base = layer("bars").encode(
        x=quantity(alt.X, "value", None, _bar_ends([bar["value"] for bar in bars]), labels=False, grid=False),
        y=row_names([bar["name"] for bar in bars]),
        tooltip=["name:N", alt.Tooltip("value:Q", format=".4~g")],
    )
    number = alt.Text("value:Q", format=".3~g")
    layers = [
        base.mark_bar(height={"band": 0.72}),
        base.transform_filter("datum.value >= 0").mark_text(align="left", dx=5, style="note").encode(text=number),
        base.transform_filter("datum.value < 0").mark_text(align="right", dx=-5, style="note").encode(text=number),
    ]
    notes = left_out_note(len(values) - len(known)), first_note(len(known), "bar", MAX_ROWS)
    return finished(layers, {"bars": bars}, description, *notes, title=x_label, width=width, height=alt.Step(ROW))


def _bar_ends(values: Collection[float]) -> tuple[float, float]:
    """Return the range of bars from zero, with room for the numbers of the negative ones."""
    low, high = min(0.0, *values), max(0.0, *values)
    return low - (0.12 * (high - low) if low < 0 else 0.0), high if low < high else 1.0


def row_names(names: Sequence[str]) -> Any:
    """Return the encoding of names down the left side, in this order."""
    alt = altair()
    return alt.Y("name:N", sort=list(names), axis=alt.Axis(title=None, grid=False))


def grouped_bar_chart(
    table: Mapping[str, Mapping[str, float | tuple[float, float, float]]],
    y_label: str,
    *,
    description: str,
    x_label: str | None = None,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> Chart:
    """Return a group of bars per row of the table, with one bar per system; systems have their own colours.

    Parameters
    ----------
    table
        For each group the value of each system, or the value with the low and the high end of its interval, which
        is a line over the bar. A system may be missing in some groups. At most the first thirty groups and the
        first eight systems are drawn.
    y_label
        What the values are.
    description
        The alternative text.
    x_label
        What the groups are.

    Examples
    --------
    >>> table = {"ndcg@10": {"old": 0.41, "new": 0.44}, "map": {"old": 0.33, "new": 0.35}}
    >>> chart = rw.charts.grouped_bar_chart(table, "mean", description="new is ahead by both metrics.")
    >>> chart.save("means.svg")
    """
    systems = list(dict.fromkeys(shown(system) for row in table.values() for system in row))
    named, groups = systems[:MAX_SERIES], list(table)[:MAX_GROUPS]
    given: list[Record] = [
        {"group": shown(group), "system": shown(system)} | _with_ends(value)
        for group in groups
        for system, value in table[group].items()
        if shown(system) in named
    ]
    bars = [bar for bar in given if drawable(bar["value"])]
    require_some(bars, len(given))
    alt = altair()
    axis = alt.Axis(title=x_label, labelAngle=0, labelLimit=width // len(groups), labelOverlap=True)
    positions = {
        "x": alt.X("group:N", sort=list(map(shown, groups)), axis=axis, scale=alt.Scale(paddingInner=0.25)),
        "xOffset": alt.XOffset("system:N", sort=named),
    }
    base = layer("bars").mark_bar()
    drawn = base.encode(
        **positions,
        y=alt.Y("value:Q", axis=alt.Axis(title=None, tickCount=6)),
        color=colour(named, legend=len(named) > 1, field="system"),
        tooltip=["group:N", "system:N", alt.Tooltip("value:Q", format=".4~g")],
    )
    notes = (
        left_out_note(len(given) - len(bars)),
        first_note(len(table), "group", MAX_GROUPS),
        first_note(len(systems), "system", MAX_SERIES),
    )
    layers, data = [drawn], {"bars": bars}
    if lines := [bar for bar in bars if "low" in bar]:
        layers.append(_over_bars(positions))
        data["intervals"] = lines
    return finished(layers, data, description, *notes, title=y_label, width=width, height=height)


def _over_bars(positions: dict[str, Any]) -> Any:
    """Return the layer of the intervals, at the places of their bars."""
    alt = altair()
    return (
        layer("intervals").mark_rule(style="over-bar").encode(**positions, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))
    )


def _with_ends(value: float | tuple[float, float, float]) -> dict[str, float]:
    """Return a value, with the ends of its interval if it has one that can be drawn."""
    height, low, high = value if isinstance(value, tuple) else (value, math.nan, math.nan)
    return {"value": float(height)} | ({"low": float(low), "high": float(high)} if drawable(low, high) else {})


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

    Examples
    --------
    >>> differences = {"q1": 0.10, "q2": -0.05, "q3": 0.30}
    >>> chart = rw.charts.difference_chart(
    ...     [*differences.values()], [*differences], "new - old", description="new wins 2 of 3 queries."
    ... )
    >>> chart.save("differences.svg")
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.shape != (len(names),):
        raise InputError(f"There are {values.size} differences but {len(names)} names of queries.")
    finite = np.flatnonzero(np.isfinite(values))
    require_some(finite.tolist(), len(values))
    order = finite[np.argsort(-values[finite], kind="stable")]
    sides = [f"better ({(values[order] > 0).sum():,})", f"worse ({(values[order] < 0).sum():,})"]
    bars = _difference_bars(values, names, order, sides, width)
    notes = left_out_note(len(values) - len(order)), sample_note(len(bars), len(order), "query")
    datasets = {"queries": bars, "zero": [{"zero": 0}]}
    layers = _difference_layers(sides, len(order))
    return finished(layers, datasets, description, *notes, title=y_label, width=width, height=height)


def _difference_bars(
    values: Doubles, names: Sequence[object], order: NDArray[np.int64], sides: Sequence[str], width: int
) -> list[Record]:
    kept = evenly(len(order), MAX_BARS)
    step = len(order) / len(kept)
    filled = step * (0.88 if len(kept) * WIDE_ENOUGH <= width else 1.0)
    return [
        {
            "query": shown(names[order[rank]]),
            "difference": float(values[order[rank]]),
            "side": sides[int(values[order[rank]] < 0)],
            "from": number * step,
            "to": number * step + filled,
        }
        for number, rank in enumerate(kept)
    ]


def _difference_layers(sides: Sequence[str], total: int) -> list[Any]:
    alt = altair()
    picked = alt.selection_point(name="picked", fields=["query"])
    bars = layer("queries", name="bars").mark_bar(cursor="pointer", cornerRadiusEnd=0, aria=False)
    drawn = bars.encode(
        x=quantity(alt.X, "from", "queries, best first", (0, total), grid=False, **whole_steps((0, total))),
        x2="to:Q",
        y=alt.Y("difference:Q", axis=alt.Axis(title=None, tickCount=6), scale=alt.Scale(nice=False)),
        y2=alt.Y2Datum(0),
        color=colour(sides, legend=True, field="side"),
        opacity=alt.condition(picked, alt.value(1.0), alt.value(0.35)),
        tooltip=["query:N", alt.Tooltip("difference:Q", format="+.4f")],
    ).add_params(picked)
    return [drawn, layer("zero").mark_rule(style="zero").encode(y="zero:Q")]


MAX_NAMED = 10  # rows that a description spells out
MAX_COLUMNS = 50
MAX_TEXTS = 16  # columns that leave room for the numbers


def interval_chart(
    rows: Sequence[tuple[str, float, float, float]],
    x_label: str,
    *,
    description: str,
    mark: float | None = None,
    width: int = WIDTH,
) -> Chart:
    """Return a dot and a line per name, in the given order; of more than fifty names, the first fifty.

    Parameters
    ----------
    rows
        The name, the value, and the low and the high end of its interval; an end that is not finite is not drawn.
    x_label
        What the values are.
    description
        The alternative text.
    mark
        A value to compare with, such as 0 for differences: a line through all rows.

    Examples
    --------
    >>> rows = [("old", 0.41, 0.38, 0.44), ("new", 0.44, 0.41, 0.47)]
    >>> chart = rw.charts.interval_chart(rows, "ndcg@10", description="new 0.44, old 0.41.")
    >>> chart.save("intervals.svg")
    """
    known: list[Record] = [
        {"name": shown(name), "value": float(value), "low": float(low), "high": float(high)}
        for name, value, low, high in rows
        if drawable(value)
    ]
    require_some(known, len(rows))
    kept = known[:MAX_ROWS]
    lines = [row for row in kept if drawable(row["low"], row["high"])]
    dots = [{"name": row["name"], "value": row["value"]} for row in kept]
    marks = [] if mark is None else [{"mark": float(mark)}]
    reached = [row[key] for row in lines for key in ("low", "high")] + [row["value"] for row in kept]
    ends = padded(reached + [row["mark"] for row in marks])
    alt = altair()
    y = row_names([row["name"] for row in kept])
    tips = [alt.Tooltip(f"{field}:Q", format=".4f") for field in ("value", "low", "high")]
    drawn = [
        layer("intervals")
        .mark_rule(style="interval")
        .encode(x=quantity(alt.X, "low", x_label, ends), x2="high:Q", y=y, tooltip=["name:N", *tips]),
        layer("values")
        .mark_point(size=70)
        .encode(x=quantity(alt.X, "value", x_label, ends), y=y, tooltip=["name:N", tips[0]]),
    ]
    if marks:
        at = alt.X("mark:Q", scale=alt.Scale(domain=ends, nice=False, zero=False))
        drawn.insert(0, layer("marks").mark_rule(style="zero").encode(x=at))
    notes = left_out_note(len(rows) - len(known)), first_note(len(known), "row", MAX_ROWS)
    datasets = {"intervals": lines, "values": dots} | ({"marks": marks} if marks else {})
    return finished(drawn, datasets, description, *notes, width=width, height=alt.Step(ROW + 4))


def described(rows: Sequence[tuple[str, float, float, float]]) -> str:
    """Return the rows of an interval chart in words, for its description; of many, the first ones."""
    named = [
        f"{name} {metric_value(value)}" + (f" ({interval(low, high)})" if drawable(low, high) else "")
        for name, value, low, high in rows[:MAX_NAMED]
    ]
    more = f", and {len(rows) - MAX_NAMED:,} more" if len(rows) > MAX_NAMED else ""
    return ", ".join(named) + more


def tile_chart(
    table: Mapping[str, Mapping[str, float]],
    label: str,
    *,
    description: str,
    percent: bool = True,
    width: int = WIDTH,
) -> Chart:
    """Return one tile per row and column, the stronger in colour the larger its value.

    Values below zero have a colour of their own. At most the first fifty rows and columns are drawn.

    Parameters
    ----------
    table
        For each row the value of each column.
    label
        What the values are.
    description
        The alternative text.
    percent
        Whether to write values as percentages.

    Examples
    --------
    >>> errors = {"old": {"2 > 0": 0.08, "1 > 0": 0.21}, "new": {"2 > 0": 0.05, "1 > 0": 0.19}}
    >>> chart = rw.charts.tile_chart(errors, "misordered pairs", description="new makes fewer errors.")
    >>> chart.save("errors.svg")
    """
    columns = list(dict.fromkeys(shown(column) for row in table.values() for column in row))
    names, kept = list(table)[:MAX_ROWS], columns[:MAX_COLUMNS]
    given: list[Record] = [
        {"name": shown(name), "column": shown(column), "value": float(value)}
        for name in names
        for column, value in table[name].items()
        if shown(column) in kept
    ]
    tiles = [tile for tile in given if drawable(tile["value"])]
    require_some(tiles, len(given))
    layers = _tile_layers([tile["value"] for tile in tiles], kept, list(map(shown, names)), percent, width)
    notes = (
        left_out_note(len(given) - len(tiles)),
        first_note(len(table), "row", MAX_ROWS),
        first_note(len(columns), "column", MAX_COLUMNS),
    )
    size = {"width": width, "height": altair().Step(ROW + 4)}
    return finished(layers, {"tiles": tiles}, description, *notes, title=label, **size)


def _tile_layers(
    values: list[float], columns: list[str], names: list[str], percent: bool, width: int
) -> list[Any]:
    alt = altair()
    reach = max(map(abs, values)) or 1.0
    signed = min(values) < 0
    scale = alt.Scale(
        range="diverging" if signed else "ramp", domain=[-reach if signed else 0.0, reach], interpolate="lab"
    )
    form = ".1%" if percent else ".3~g"
    head = alt.Axis(title=None, orient="top", labelAngle=0, grid=False, labelLimit=max(24, width // len(columns)))
    base = layer("tiles").encode(
        x=alt.X("column:N", sort=columns, axis=head),
        y=row_names(names),
        tooltip=["name:N", "column:N", alt.Tooltip("value:Q", format=form)],
    )
    grounds = base.mark_rect(cornerRadius=2, width={"band": 0.97}, height={"band": 0.92}).encode(
        color=alt.Color("value:Q", scale=scale, legend=None)
    )
    if len(columns) > MAX_TEXTS:
        return [grounds]
    return [grounds, base.mark_text().encode(text=alt.Text("value:Q", format=form))]
