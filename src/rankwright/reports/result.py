"""Result: what every evaluation, comparison, fit, search and analysis returns.

A result says what it is in one sentence and which blocks it consists of. Text, JSON, notebook output, data frames
and pages are rendered from that; a new result writes no formatting.
"""

from __future__ import annotations

import math
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.wording import plain
from rankwright.reports.blocks import (
    Block,
    Cell,
    Column,
    Facts,
    Figure,
    Figures,
    Interval,
    Section,
    Table,
    spelled_fact,
    text_of,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from rankwright.reports.charts.chart import Chart


class Result:
    """The base class of all results: frozen dataclasses that define `summary` and `blocks`.

    Both have defaults, so that a dataclass without any method is a result too: its fields are the facts it shows.

    Examples
    --------
    >>> result = rw.cross_validate("AdaRank", rw.synthetic.gaussian_queries(6), folds=3, metrics="map")
    >>> isinstance(result, rw.Result)
    True
    >>> result.summary
    'AdaRank has a mean map of 1.0000 (standard error 0.0000) on the 6 test queries of 3 folds.'
    >>> result.frame()["fold"].tolist()  # of the first table; to_dict() has everything
    ['Fold1', 'Fold2', 'Fold3']
    """

    @property
    def title(self) -> str:
        """The heading of the result on a page."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(self).__name__).capitalize()

    @property
    def summary(self) -> str:
        """The main finding, in one sentence."""
        facts = [f"{name} {spelled_fact(value)}" for name, value in _facts(self).items()]
        return f"{self.title}: {', '.join(facts)}."

    def blocks(self) -> Iterable[Block | Section]:
        """Return what the result consists of, in the order of reading."""
        return [Facts({name.replace("_", " "): value for name, value in _facts(self).items()})]

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
        """Return a table as a pandas data frame, by default the first; an interval becomes three columns.

        Of a result without tables, it is a frame of one row, with a column per fact.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingPackageError("A data frame needs pandas; run pip install 'rankwright[pandas]'.") from None
        tables = self.tables or self._facts_tables()
        if not -len(tables) <= table < len(tables):
            numbers = f"tables 0 to {len(tables) - 1}" if len(tables) > 1 else f"{'one' if tables else 'no'} table"
            raise InputError(f"This result has {numbers}, not a table {table}.")
        chosen = tables[table]
        cells = [[row[number] for row in chosen.rows] for number in range(len(chosen.columns))]
        columns: dict[str, list[Any]] = {}
        for column, values in zip(chosen.columns, cells, strict=True):
            columns |= _frame_columns(column.title, values)
        return pd.DataFrame(columns)

    def _facts_tables(self) -> list[Table]:
        """Return every block of facts as a table of one row."""
        blocks = [block for section in self.sections for block in section.blocks if isinstance(block, Facts)]
        return [Table([Column(name) for name in block.facts], [tuple(block.facts.values())]) for block in blocks]

    def write_page(self, path: str | os.PathLike[str], *, reproduce: str = "") -> None:
        """Write the result as one HTML page that needs no network, completely or not at all.

        `reproduce` is the command or code that makes the result again.
        """
        from rankwright.reports.page import write_page

        write_page([self], path, title=self.title, reproduce=reproduce)

    def __str__(self) -> str:
        return text_of(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary.removeprefix(f'{self.title}: ')}>"

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
