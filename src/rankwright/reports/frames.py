"""Tables of results as data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.base.errors import MissingPackageError
from rankwright.reports.blocks import Cell, Interval

if TYPE_CHECKING:
    from rankwright.reports.blocks import Table


def frame_of(table: Table) -> Any:
    """Return a table as a pandas data frame; an interval becomes three columns."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingPackageError("A data frame needs pandas; run pip install 'rankwright[pandas]'.") from None
    columns: dict[str, list[Any]] = {}
    for number, column in enumerate(table.columns):
        cells = [row[number] for row in table.rows]
        values = [cell.with_limits() if isinstance(cell, Cell) else cell for cell in cells]
        if any(isinstance(value, Interval) for value in values):
            unknown = Interval(float("nan"), float("nan"), float("nan"))
            limits = [value if isinstance(value, Interval) else unknown for value in values]
            columns[f"{column.title} low"] = [value.low for value in limits]
            columns[f"{column.title} high"] = [value.high for value in limits]
            values = [value.value if isinstance(value, Interval) else value for value in values]
        columns[column.title] = values
    return pd.DataFrame(columns)
