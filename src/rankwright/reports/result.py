"""Result: what every evaluation, comparison, fit, search and analysis returns, and the blocks it consists of.

A result says what it is in one sentence and which tables, figures, facts and paragraphs it consists of, all plain
values. Tables hold values, not texts: a column says what its values are. Text, JSON, notebook output, data frames
and pages are rendered from that; a new result writes no formatting.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from rankwright.base import wording
from rankwright.base.errors import MissingPackageError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

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


class Result:
    """The base class of all results: frozen dataclasses that define `summary` and `blocks`.

    Both have defaults, so that a dataclass without any method is a result too: its fields are the facts it shows.
    """

    @property
    def title(self) -> str:
        """The heading of the result on a page."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(self).__name__).capitalize()

    @property
    def summary(self) -> str:
        """The main finding, in one sentence."""
        from rankwright.reports.text import spelled_fact

        facts = [f"{name} {spelled_fact(value)}" for name, value in _facts(self).items()]
        return f"{self.title}: {', '.join(facts)}."

    def blocks(self) -> Iterable[Block | Section]:
        """Return what the result consists of, in the order of reading."""
        return [Facts(_facts(self))]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values; None for what is unknown."""
        values: dict[str, Any] = plain(_facts(self))
        return values

    @property
    def sections(self) -> list[Section]:
        """The blocks by section; those outside of any section are in one of the result's own title."""
        sections: list[Section] = []
        loose: list[Block] = []
        for block in self.blocks():
            if isinstance(block, Section):
                sections.append(block)
            else:
                loose.append(block)
        own = [Section(self.title, loose)] if loose else []
        return own + [section for section in sections if section.blocks]

    @property
    def tables(self) -> list[Table]:
        """All tables."""
        return [block for section in self.sections for block in section.blocks if isinstance(block, Table)]

    @property
    def figures(self) -> list[Figure]:
        """All charts with their captions, not drawn yet."""
        blocks = [block for section in self.sections for block in section.blocks]
        groups = [block.figures if isinstance(block, Figures) else [block] for block in blocks]
        return [block for group in groups for block in group if isinstance(block, Figure)]

    @property
    def charts(self) -> list[Chart]:
        """All charts; they need `rankwright[report]`."""
        return [figure.chart() for figure in self.figures]

    def frame(self, table: int = 0) -> Any:
        """Return a table as a pandas data frame, by default the first; an interval becomes three columns."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingPackageError("A data frame needs pandas; run pip install 'rankwright[pandas]'.") from None
        chosen = self.tables[table]
        cells = [[row[number] for row in chosen.rows] for number in range(len(chosen.columns))]
        columns: dict[str, list[Any]] = {}
        for column, values in zip(chosen.columns, cells, strict=True):
            columns |= _frame_columns(column.title, values)
        return pd.DataFrame(columns)

    def write_page(self, path: str | os.PathLike[str], *, reproduce: str = "") -> None:
        """Write the result as one HTML page that needs no network, completely or not at all.

        `reproduce` is the command or code that makes the result again.
        """
        from rankwright.reports.page import write_page

        write_page([self], path, title=self.title, reproduce=reproduce)

    def __str__(self) -> str:
        from rankwright.reports.text import text_of

        return text_of(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from rankwright.reports.notebook import bundle_of

        return bundle_of(self)


def _frame_columns(title: str, cells: Sequence[Any]) -> dict[str, list[Any]]:
    values = [cell.with_limits() if isinstance(cell, Cell) else cell for cell in cells]
    limits = [value if isinstance(value, Interval) else None for value in values]
    plain = {title: [limit.value if limit else value for limit, value in zip(limits, values, strict=True)]}
    if not any(limits):
        return plain
    low = [limit.low if limit else math.nan for limit in limits]
    return {**plain, f"{title} low": low, f"{title} high": [limit.high if limit else math.nan for limit in limits]}


def _facts(result: Result) -> dict[str, Any]:
    return {field.name: getattr(result, field.name) for field in fields(result)}  # type: ignore[arg-type]


def plain(value: Any) -> Any:
    """Return a value as JSON values: None for NaN and infinite numbers, texts for what JSON does not have."""
    if isinstance(value, str | bool | int | None):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return plain(value.value) if isinstance(value, Enum) else str(value)
