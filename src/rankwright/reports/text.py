"""Results as text for terminals: the summary, then tables, facts and notes; figures need a page or a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankwright.base import wording
from rankwright.reports.result import Cell, Facts, Interval, Kind, Note, Table, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rankwright.reports.result import Column, Rendered, Section

MOST_ROWS = 60  # of a table; to_dict and pages have all


def text_of(result: Rendered) -> str:
    """Return a result as text; an empty line separates its tables and paragraphs."""
    lines = [result.summary]
    for block in shown_blocks(result.sections):
        if isinstance(block, Table):
            lines += ["", *table_lines(block)]
        elif isinstance(block, Facts):
            lines += ["", *fact_lines(block.facts)]
        elif isinstance(block, Text):
            lines += ["", block.text]
        else:
            lines.append(block.text)
    return "\n".join(lines)


def shown_blocks(sections: Iterable[Section]) -> Iterator[Table | Facts | Text | Note]:
    """Yield the blocks that text can show; not the notes of a section that has only charts."""
    for section in sections:
        shown = [
            block
            for block in section.blocks
            if isinstance(block, Facts | Text | Note) or (isinstance(block, Table) and block.in_text)
        ]
        if not all(isinstance(block, Note) for block in shown):
            yield from shown


def table_lines(table: Table) -> list[str]:
    """Return a table as lines, the heading first; columns of text are aligned left, the others right."""
    rows = [spelled_row(table.columns, row) for row in table.rows[:MOST_ROWS]]
    titles = [column.title for column in table.columns]
    lines = aligned([titles, *rows], [column.kind is Kind.TEXT for column in table.columns])
    if len(table.rows) > MOST_ROWS:
        lines.append(f"... and {wording.counted(len(table.rows) - MOST_ROWS, 'more row')}")
    return lines


def markdown(table: Table) -> str:
    """Return a table in Markdown."""
    titles = [column.title for column in table.columns]
    lines = [titles, ["---"] * len(titles), *(spelled_row(table.columns, row) for row in table.rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def spelled_row(columns: Sequence[Column], row: Sequence[Any], *, limits: bool = False) -> list[str]:
    """Return the cells of a row as texts, with their notes in brackets; `limits` is as for `spelled_cell`."""
    cells = (spelled_cell(column, value, limits=limits) for column, value in zip(columns, row, strict=True))
    return [f"{text} ({note})" if note else text for text, note in cells]


def spelled_cell(column: Column, value: Any, *, limits: bool = False) -> tuple[str, str]:
    """Return the text of a cell and its note; the note of a value with an interval is the interval.

    With `limits`, intervals that take long to compute are shown too.
    """
    note = ""
    if isinstance(value, Cell):
        value, note = value.with_limits() if limits else value.value, value.note
    if isinstance(value, Interval):
        interval = wording.interval(value.low, value.high, signed=column.kind is Kind.DIFFERENCE)
        value, note = value.value, note or (interval if interval != wording.UNKNOWN else "")
    return column.kind.spell(value), note


def aligned(rows: Sequence[Sequence[str]], left: Sequence[bool] | None = None) -> list[str]:
    """Return rows of cells as lines; `left` says which columns are aligned left, by default the first."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    flush = left or [number == 0 for number in range(len(widths))]
    return [
        "  ".join(
            cell.ljust(width) if is_left else cell.rjust(width)
            for cell, width, is_left in zip(row, widths, flush, strict=True)
        ).rstrip()
        for row in rows
    ]


def fact_lines(facts: Mapping[str, Any]) -> list[str]:
    """Return facts as lines: the name, then the value; nested facts and records are indented."""
    width = max(map(len, facts), default=0)
    lines = []
    for name, value in facts.items():
        first, *others = _lines_of_fact(value)
        lines.append(f"{name.replace('_', ' '):<{width}}  {first}".rstrip())
        lines += [f"{'':<{width}}  {line}" for line in others]
    return lines


def spelled_fact(value: Any) -> str:
    """Return a fact in one line."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, int | float):
        return wording.plain_number(value)
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {spelled_fact(item)}" for name, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(spelled_fact, value)) or "none"
    return str(value)


def _lines_of_fact(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        width = max(map(len, value), default=0)
        return [f"{name:<{width}}  {spelled_fact(item)}" for name, item in value.items()] or ["none"]
    if _are_records(value):
        names = list(value[0])
        return aligned([names, *([spelled_fact(record[name]) for name in names] for record in value)])
    return [spelled_fact(value)]


def _are_records(value: Any) -> bool:
    records = isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
    return records and all(item.keys() == value[0].keys() for item in value)


def printable(text: str) -> str:
    """Return text with its control characters escaped, so that a terminal does not obey them."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
