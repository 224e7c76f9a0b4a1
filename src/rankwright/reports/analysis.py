"""What all analyses have in common: a table, a footnote, plain JSON and a chart."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwright.reports.charts.notebook import bundle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.reports.charts.chart import Chart


class Table(NamedTuple):
    """A table of texts: its head and its rows."""

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        return "\n".join(_line(row, widths) for row in (self.head, *self.rows))


class Analysis(ABC):
    """The result of an analysis; printing it shows its table."""

    @abstractmethod
    def table(self) -> Table:
        """Return the result as a table of texts."""

    @abstractmethod
    def footnote(self) -> str:
        """Return a sentence on what was analysed."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values; NaN where there is no value."""

    @abstractmethod
    def chart(self) -> Chart:
        """Return the result as a chart; needs `rankwright[report]`."""

    def __str__(self) -> str:
        return f"{self.table()}\n{self.footnote()}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.footnote()})"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return the chart for a notebook, and the table where it cannot be drawn."""
        return bundle(str(self), chart=self.chart)


class Estimate(NamedTuple):
    """A value and its 95 % confidence interval."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Return value and interval as JSON values."""
        return {"value": self.value, "interval": [self.low, self.high]}

    def spelled(self, *, signed: bool = False) -> str:
        """Return the value with its interval, such as `0.5012 [0.4805, 0.5219]`."""
        sign = "+" if signed else ""
        return f"{self.value:{sign}.4f} [{self.low:{sign}.4f}, {self.high:{sign}.4f}]"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """Return a row as a line, the first column aligned left, the others right."""
    first, *others = zip(row, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]).rstrip()
