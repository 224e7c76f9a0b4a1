"""The blocks that a result consists of, and their text: tables, figures, facts and paragraphs, as plain values.

Tables hold values, not texts: a column says what its values are, and the renderers spell them. In a terminal a
result is its summary, then tables, facts and notes; figures need a page or a notebook.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from rankwright.base import wording

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.reports.charts.chart import Chart
    from rankwright.reports.query_browser import QueryBrowser


MAX_ROWS = 60  # of a table; to_dict and pages have all


class Kind(Enum):
    """What the values of a column are, which decides how they are spelled and aligned."""

    TEXT = "text"
    METRIC = "metric value"
    DIFFERENCE = "difference of metric values"
    COUNT = "count"
    MEASURED = "measured number of any size"
    P_VALUE = "p-value"
    PRECISE_P_VALUE = "p-value with four digits"
    PERCENT = "fraction, as a percentage"
    SECONDS = "seconds"
    MICROSECONDS = "microseconds"
    EFFECT = "effect size"
    CORRELATION = "correlation coefficient"
    THOUSANDTHS = "difference of metric values, in thousandths"
    NUMBER = "number"

    def spell(self, value: Any) -> str:
        """Return a value as text; nothing for None."""
        return "" if value is None else SPELLING[self](value)


SPELLING: Mapping[Kind, Callable[[Any], str]] = {
    Kind.TEXT: str,
    Kind.METRIC: wording.metric_value,
    Kind.DIFFERENCE: wording.difference,
    Kind.COUNT: partial(wording.spelled, form=",.0f"),
    Kind.MEASURED: wording.measured,
    Kind.P_VALUE: wording.shown_p_value,
    Kind.PRECISE_P_VALUE: wording.precise_p_value,
    Kind.PERCENT: lambda fraction: wording.percent(round(fraction, 3)),
    Kind.SECONDS: partial(wording.spelled, form=",.1f"),
    Kind.MICROSECONDS: partial(wording.spelled, form=".2g"),
    Kind.EFFECT: partial(wording.spelled, form="+.2f"),
    Kind.CORRELATION: partial(wording.spelled, form=".2f"),
    Kind.THOUSANDTHS: lambda value: wording.spelled(1000 * value, "+z.0f"),
    Kind.NUMBER: wording.plain_number,
}


class Interval(NamedTuple):
    """A value and the limits of its confidence interval."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Return value and limits as JSON values."""
        return {"value": self.value, "interval": [self.low, self.high]}


@dataclass(frozen=True)
class Column:
    """The heading of a column and the kind of its values; `bar` draws a bar beside each value on a page."""

    title: str
    kind: Kind = Kind.METRIC
    bar: bool = False


@dataclass(frozen=True)
class Cell:
    """A value with more than its column says.

    Parameters
    ----------
    value
        The value: a number, a text, an `Interval`, or None for an empty cell.
    note
        A remark: below the value in small type on a page, in brackets in text.
    shade
        A tint on a page, from -1 (orange) over 0 (none) to 1 (blue).
    limits
        Computes the limits of the value's confidence interval, where that takes long: on pages and in data frames,
        but not in text.
    """

    value: Any
    note: str = ""
    shade: float = 0.0
    limits: Callable[[], tuple[float, float]] | None = None

    def with_limits(self) -> Any:
        """Return the value, or its interval if it has one."""
        return self.value if self.limits is None else Interval(self.value, *self.limits())


@dataclass(frozen=True)
class Table:
    """A table: columns, rows of values or `Cell`s, and a caption.

    The first cell of each row is its heading. A page shows a table with a text `folded` as this text until it is
    opened; text and notebooks leave it out, unless `unfolded` is set. They leave out `tiles` too, narrow shaded
    cells.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    folded: str = ""
    tiles: bool = False
    unfolded: bool = False

    @property
    def in_text(self) -> bool:
        """Whether text and notebooks show the table."""
        return not self.tiles and (self.unfolded or not self.folded)

    def without_empty_columns(self) -> Table:
        """Return the table without the columns that have no value in any row."""
        kept = [
            number
            for number, column in enumerate(self.columns)
            if any(spelled_cell(column, row[number])[0] not in ("", wording.UNKNOWN) for row in self.rows)
        ]
        rows = [[row[number] for number in kept] for row in self.rows]
        return replace(self, columns=[self.columns[number] for number in kept], rows=rows)


@dataclass(frozen=True)
class Figure:
    """A chart with a caption; the chart is made when it is drawn.

    `compares` names two systems whose queries the chart shows: a click on a mark that has a query opens that query
    in the query browser, with these systems side by side.
    """

    chart: Callable[[], Chart]
    caption: str = ""
    compares: tuple[str, str] | None = None


@dataclass(frozen=True)
class Figures:
    """Charts with a caption for all of them: small ones side by side, or one at a time if `choices` names them."""

    figures: Sequence[Figure]
    caption: str = ""
    choices: Sequence[str] = ()


@dataclass(frozen=True)
class Facts:
    """Names and values, side by side; or one below the other, for long values."""

    facts: Mapping[str, Any]
    below: bool = False


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Note:
    """A paragraph in small type that explains what is above it."""

    text: str


@dataclass(frozen=True)
class Code:
    """Commands or code, line by line as they are; on pages only."""

    text: str


Block: TypeAlias = "Table | Figure | Figures | Facts | Text | Note | Code | QueryBrowser"
ShownBlock: TypeAlias = "Table | Facts | Text | Note"


@dataclass(frozen=True)
class Section:
    """Blocks below a heading, which is an entry of a page's contents."""

    title: str
    blocks: Sequence[Block]


class Rendered(Protocol):
    """What the renderers ask of a result."""

    @property
    def summary(self) -> str:
        """The main finding, in one sentence."""

    @property
    def sections(self) -> list[Section]:
        """The blocks by section."""

    @property
    def figures(self) -> list[Figure]:
        """All charts with their captions."""


def text_of(result: Rendered) -> str:
    """Return a result as text; an empty line separates its tables and paragraphs, which are wrapped."""
    lines = [result.summary]
    blocks = [block for section in result.sections for block in shown_blocks(section)]
    for block in blocks:
        if isinstance(block, Table):
            lines += ["", *wrapped(*captions(block, blocks)), *table_lines(block)]
        elif isinstance(block, Facts):
            lines += ["", *fact_lines(block.facts)]
        elif isinstance(block, Text):
            lines += ["", *wrapped(block.text)]
        else:
            lines += wrapped(block.text)
    return "\n".join(lines)


def wrapped(*paragraphs: str) -> list[str]:
    """Return paragraphs as lines that fit into the terminal; each is one line if the output goes elsewhere."""
    if sys.stdout is None or not sys.stdout.isatty():
        return list(paragraphs)
    width = get_terminal_size().columns
    how: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    return [line for text in paragraphs for line in wrap(text, width, **how)]


def shown_blocks(section: Section) -> list[ShownBlock]:
    """Return the blocks that text and notebooks can show; not the notes of a section that has only charts."""
    shown = [
        block
        for block in section.blocks
        if isinstance(block, Facts | Text | Note) or (isinstance(block, Table) and block.in_text)
    ]
    return [] if all(isinstance(block, Note) for block in shown) else shown


def captions(table: Table, blocks: Sequence[ShownBlock]) -> list[str]:
    """Return the caption of a table if there are several tables to tell apart."""
    several = sum(isinstance(block, Table) for block in blocks) > 1
    return [table.caption] if several and table.caption else []


def table_lines(table: Table) -> list[str]:
    """Return a table as lines, the heading first; columns of text are aligned left, the others right."""
    rows = [spelled_row(table.columns, row) for row in table.rows[:MAX_ROWS]]
    titles = [column.title for column in table.columns]
    lines = aligned([titles, *rows], [column.kind is Kind.TEXT for column in table.columns])
    if len(table.rows) > MAX_ROWS:
        lines.append(f"... and {wording.counted(len(table.rows) - MAX_ROWS, 'more row')}")
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
        lines.append(f"{name:<{width}}  {first}".rstrip())
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
