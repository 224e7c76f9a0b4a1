"""What a section of a page is made of; all texts are plain, and the templates escape them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from rankwright.reports.pages.browser import QueryBrowser

if TYPE_CHECKING:
    from rankwright.reports.charts.chart import Chart


@dataclass(frozen=True)
class Section:
    """A part of a page with its heading, which is an entry of the contents."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True)
class Note:
    """A paragraph in small type that explains what is above it."""

    kind: ClassVar[str] = "note"
    text: str


@dataclass(frozen=True)
class Code:
    """Commands or code, line by line as they are."""

    kind: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True)
class Facts:
    """Names and values, side by side; or one below the other, for long values."""

    kind: ClassVar[str] = "facts"
    facts: Mapping[str, str]
    below: bool = False


@dataclass(frozen=True)
class Column:
    """The heading of a column; columns of numbers are aligned right, and sorted from the highest."""

    title: str
    is_text: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Parameters
    ----------
    text
        What it says.
    small
        A second line in small type.
    value
        The number to sort by, None if it is unknown; for a column of texts the text is sorted.
    shade
        A tint of the cell from -1 (orange) over 0 (none) to 1 (blue).
    bar
        The length of a bar beside the text, from 0 to 1; None for no bar.
    """

    text: str
    small: str = ""
    value: float | None = None
    shade: float = 0.0
    bar: float | None = None


Row: TypeAlias = Sequence[Cell]


@dataclass(frozen=True)
class Table:
    """A table that can be sorted by any column; the first cell of each row is its heading.

    A table with a text `folded` is shown as this text, until it is opened.
    """

    kind: ClassVar[str] = "table"
    columns: Sequence[Column]
    rows: Sequence[Row]
    caption: str
    tiles: bool = False  # narrow cells without rules between rows, for shaded tables
    folded: str = ""


@dataclass(frozen=True)
class Figure:
    """A chart with a caption.

    `compares` names two systems whose queries the chart shows: a click on a mark that has a query opens that query
    in the query browser, with these systems side by side.
    """

    kind: ClassVar[str] = "figure"
    chart: Chart
    caption: str
    compares: tuple[str, str] | None = None


@dataclass(frozen=True)
class Figures:
    """Small charts side by side."""

    kind: ClassVar[str] = "figures"
    figures: Sequence[Figure]


Block: TypeAlias = Text | Note | Code | Facts | Table | Figure | Figures | QueryBrowser
