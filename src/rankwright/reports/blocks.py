"""The blocks that a result consists of: tables, figures, facts and paragraphs, as plain values.

Tables hold values, not texts: a column says what its values are, and the renderers spell them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from rankwright.base import wording

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankwright.reports.charts.chart import Chart
    from rankwright.reports.query_browser import QueryBrowser


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
    Kind.PERCENT: wording.percent,
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
    """Small charts side by side, with a caption for all of them."""

    figures: Sequence[Figure]
    caption: str = ""


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
