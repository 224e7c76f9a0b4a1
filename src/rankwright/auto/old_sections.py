"""Sections of the old kind as a Result, until the cards are Results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwright.reports import blocks as new
from rankwright.reports.pages import blocks as old
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, repr=False)
class OldSections(Result):
    """Sections of the old kind."""

    old: Sequence[old.Section]

    def blocks(self) -> Iterator[new.Section]:
        """Yield them as sections of the new kind."""
        for section in self.old:
            yield new.Section(section.title, [_new(block) for block in section.blocks])


def _new(block: Any) -> Any:
    match block:
        case old.Figure():
            return new.Figure(lambda: block.chart, block.caption, block.compares)
        case old.Figures():
            return new.Figures([_new(figure) for figure in block.figures])
        case old.Table():
            rows = [[new.Cell(cell.text, cell.small, cell.shade) for cell in row] for row in block.rows]
            columns = [new.Column(column.title, new.Kind.TEXT) for column in block.columns]
            return new.Table(columns, rows, block.caption, block.folded, block.tiles)
        case old.Facts():
            return new.Facts(block.facts, block.below)
        case old.Text() | old.Note() | old.Code():
            return getattr(new, type(block).__name__)(block.text)
    return block
