"""The table of published numbers and claims, as texts and as a section of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.papers.framework.results import Row

HEAD = ("where", "data", "what", "published", "ours", "interval", "p", "state", "remarks")


def cells(row: Row) -> tuple[str, ...]:
    """Return a row of the table as texts."""
    interval = "" if row.low is None or row.high is None else f"{number(row.low)} to {number(row.high)}"
    remarks = "; ".join(text for text in (row.measured, row.why) if text)
    p_value = "" if row.p_value is None else p_text(row.p_value)
    return (
        row.where,
        row.data,
        row.what,
        number(row.published),
        number(row.ours),
        interval,
        p_value,
        row.state,
        remarks,
    )


def number(value: float | None) -> str:
    """Return a number with four decimals below 10 and two above; nothing for None."""
    if value is None:
        return ""
    return f"{value:.4f}" if abs(value) < 10 else f"{value:,.2f}"


def p_text(value: float) -> str:
    """Return a p-value as tables show it."""
    return "< .0001" if value < 0.0001 else f"{value:.4f}"


def markdown(rows: Sequence[Row]) -> str:
    """Return the table in Markdown."""
    lines = [HEAD, ("---",) * len(HEAD), *(cells(row) for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
