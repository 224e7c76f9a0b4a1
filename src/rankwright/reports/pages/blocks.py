"""The old blocks of pages, which hold texts instead of values; they go when every page is made of Results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from rankwright.reports import blocks
from rankwright.reports.blocks import Code as Code
from rankwright.reports.blocks import Facts as Facts
from rankwright.reports.blocks import Figures as Figures
from rankwright.reports.blocks import Note as Note
from rankwright.reports.blocks import Text as Text

if TYPE_CHECKING:
    from rankwright.reports.charts.chart import Chart

Block: TypeAlias = Any


@dataclass(frozen=True)
class Section(blocks.Section):
    """Old and new blocks below a heading."""

    blocks: Sequence[Any]


class Figure(blocks.Figure):
    """A chart that is drawn already."""

    def __init__(self, chart: Chart, caption: str, compares: tuple[str, str] | None = None) -> None:
        super().__init__(lambda: chart, caption, compares)


@dataclass(frozen=True)
class Column:
    """The heading of a column."""

    title: str
    is_text: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell of a table: what it says, in small type too, the number to sort by, its tint and its bar."""

    text: str
    small: str = ""
    value: float | None = None
    shade: float = 0.0
    bar: float | None = None


Row: TypeAlias = Sequence[Cell]


@dataclass(frozen=True)
class Table:
    """A table of texts."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    caption: str
    tiles: bool = False
    folded: str = ""
