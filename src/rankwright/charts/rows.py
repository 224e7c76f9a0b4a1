"""Intervals and tiles: one row per name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.charts.bars import MOST_ROWS, ROW, first_note, row_names
from rankwright.charts.drawing import (
    data_of,
    drawable,
    finished,
    left_out_note,
    padded,
    quantity,
    require_some,
    shown,
)
from rankwright.charts.packages import altair
from rankwright.charts.theme import WIDTH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.charts.chart import Chart

MOST_COLUMNS = 50
MOST_TEXTS = 16  # columns that leave room for the numbers
STRONG = 0.5  # of the range of colours; from there on texts are inverted


def interval_chart(
    rows: Sequence[tuple[str, float, float, float]], x_label: str, *, description: str, width: int = WIDTH
) -> Chart:
    """Return a dot and a line per name, in the given order; of more than fifty names, the first fifty.

    Parameters
    ----------
    rows
        The name, the value, and the low and the high end of its interval. Ends that are not finite are not drawn.
    x_label
        What the values are.
    description
        The alternative text.
    """
    dots = [{"name": shown(name), "value": float(value)} for name, value, _, _ in rows if drawable(value)]
    require_some(dots, len(rows))
    names = [one["name"] for one in dots[:MOST_ROWS]]
    lines = [
        {"name": shown(name), "value": float(value), "low": float(low), "high": float(high)}
        for name, value, low, high in rows
        if shown(name) in names and drawable(value, low, high)
    ]
    alt = altair()
    ends = [one[key] for one in lines for key in ("low", "high")] + [one["value"] for one in dots[:MOST_ROWS]]
    x = quantity(alt.X, "value", x_label, domain=padded(ends), tickCount=6)
    y = row_names(names)
    tips = [alt.Tooltip("name:N"), *(alt.Tooltip(f"{one}:Q", format=".4f") for one in ("value", "low", "high"))]
    layers = [
        alt.Chart(data_of(lines))
        .mark_rule(style="interval")
        .encode(x=quantity(alt.X, "low", x_label, domain=padded(ends)), x2="high:Q", y=y, tooltip=tips),
        alt.Chart(data_of(dots[:MOST_ROWS])).mark_point(size=70).encode(x=x, y=y, tooltip=tips[:2]),
    ]
    notes = left_out_note(len(rows) - len(dots)), first_note(len(dots), "row")
    return finished(layers, description, *notes, width=width, height=alt.Step(ROW + 4))


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
    rows = list(table.items())[:MOST_ROWS]
    total = sum(shown(column) in columns[:MOST_COLUMNS] for _, row in rows for column in row)
    records = [
        {"name": shown(name), "column": shown(column), "value": float(value)}
        for name, row in rows
        for column, value in row.items()
        if drawable(value) and shown(column) in columns[:MOST_COLUMNS]
    ]
    require_some(records, total)
    layers = _tiles(records, columns[:MOST_COLUMNS], [shown(name) for name, _ in rows], percent)
    notes = (
        left_out_note(total - len(records)),
        first_note(len(table), "row"),
        first_note(len(columns), "column", MOST_COLUMNS),
    )
    return finished(layers, description, *notes, title=label, width=width, height=altair().Step(ROW + 4))


def _tiles(records: list[dict[str, Any]], columns: list[str], names: list[str], percent: bool) -> list[Any]:
    alt = altair()
    reach = max(abs(one["value"]) for one in records) or 1.0
    signed = min(one["value"] for one in records) < 0
    scale = (
        alt.Scale(range="diverging", domain=[-reach, reach], domainMid=0, interpolate="lab")
        if signed
        else alt.Scale(range="ramp", domain=[0, reach], interpolate="lab")
    )
    form = ".1%" if percent else ".3~g"
    head = alt.Axis(title=None, orient="top", labelAngle=0, grid=False, labelLimit=max(24, 560 // len(columns)))
    tiles = alt.Chart(data_of(records)).encode(
        x=alt.X("column:N", sort=columns, axis=head),
        y=row_names(names),
        tooltip=["name:N", "column:N", alt.Tooltip("value:Q", format=form)],
    )
    grounds = tiles.mark_rect(cornerRadius=2, width={"band": 0.96}, height={"band": 0.92}).encode(
        color=alt.Color("value:Q", scale=scale, legend=None)
    )
    if len(columns) > MOST_TEXTS:
        return [grounds]
    strong = f"abs(datum.value) > {STRONG * reach}"
    texts = [
        tiles.transform_filter(test).mark_text(style=style).encode(text=alt.Text("value:Q", format=form))
        for test, style in ((f"!({strong})", "on-weak"), (strong, "on-strong"))
    ]
    return [grounds, *texts]
