"""The old tables of texts, until cross-validation shows its comparison as blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankwright.base.wording import percent as in_percent
from rankwright.evaluation.comparison_blocks import pair_blocks
from rankwright.evaluation.comparison_blocks import tests_table as tests_of
from rankwright.reports.text import spelled_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.evaluation.system_comparison import SystemComparison
    from rankwright.reports.blocks import Table

__all__ = ["TextTable", "in_percent", "pairs_table", "tests_table"]


@dataclass(frozen=True)
class TextTable:
    """A table whose cells are text; all columns but the first hold numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def pairs_table(comparison: SystemComparison, metric: str) -> TextTable:
    """Return differences, their intervals and sizes."""
    table, *_ = pair_blocks(comparison.by(metric))
    return _spelled(table)  # type: ignore[arg-type]


def tests_table(comparison: SystemComparison, metric: str) -> TextTable:
    """Return the corrected p-values of all tests."""
    return _spelled(tests_of(comparison.by(metric).listed_pairs()))


def _spelled(table: Table) -> TextTable:
    return TextTable(
        [column.title for column in table.columns], [spelled_row(table.columns, row) for row in table.rows]
    )
