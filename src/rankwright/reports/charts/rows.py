"""Intervals and tiles: one row per name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.base.wording import interval, metric_value
from rankwright.reports.charts.bars import MOST_ROWS, ROW, row_names
from rankwright.reports.charts.chart import WIDTH, altair
from rankwright.reports.charts.drawing import (
    Record,
    drawable,
    finished,
    first_note,
    layer,
    left_out_note,
    padded,
    quantity,
    require_some,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.reports.charts.chart import Chart

MOST_NAMED = 10  # rows that a description spells out
MOST_COLUMNS = 50
MOST_TEXTS = 16  # columns that leave room for the numbers


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
    """
    known: list[Record] = [
        {"name": shown(name), "value": float(value), "low": float(low), "high": float(high)}
        for name, value, low, high in rows
        if drawable(value)
    ]
    require_some(known, len(rows))
    kept = known[:MOST_ROWS]
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
    notes = left_out_note(len(rows) - len(known)), first_note(len(known), "row", MOST_ROWS)
    datasets = {"intervals": lines, "values": dots} | ({"marks": marks} if marks else {})
    return finished(drawn, datasets, description, *notes, width=width, height=alt.Step(ROW + 4))


def described(rows: Sequence[tuple[str, float, float, float]]) -> str:
    """Return the rows of an interval chart in words, for its description; of many, the first ones."""
    named = [
        f"{name} {metric_value(value)}" + (f" ({interval(low, high)})" if drawable(low, high) else "")
        for name, value, low, high in rows[:MOST_NAMED]
    ]
    more = f", and {len(rows) - MOST_NAMED:,} more" if len(rows) > MOST_NAMED else ""
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
    """
    columns = list(dict.fromkeys(shown(column) for row in table.values() for column in row))
    names, kept = list(table)[:MOST_ROWS], columns[:MOST_COLUMNS]
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
        first_note(len(table), "row", MOST_ROWS),
        first_note(len(columns), "column", MOST_COLUMNS),
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
    if len(columns) > MOST_TEXTS:
        return [grounds]
    return [grounds, base.mark_text().encode(text=alt.Text("value:Q", format=form))]
