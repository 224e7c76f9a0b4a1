"""Results as one HTML page that needs no network: templates, style, script and data are all in it."""

from __future__ import annotations

import math
import platform
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base import wording
from rankwright.base.files import write_whole
from rankwright.base.version import __version__
from rankwright.reports.blocks import (
    Cell,
    Code,
    Facts,
    Figure,
    Figures,
    Interval,
    Kind,
    Note,
    Section,
    Table,
    Text,
)
from rankwright.reports.pages.browser import QueryBrowser
from rankwright.reports.pages.page import anchors, library, require_packages, script_json, source, templates
from rankwright.reports.text import spelled_cell, spelled_fact

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from rankwright.reports.blocks import Block, Column
    from rankwright.reports.result import Result

DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"


def write_page(
    results: Sequence[Result], path: str | os.PathLike[str], *, title: str, reproduce: str = ""
) -> None:
    """Write results as one page, completely or not at all.

    Parameters
    ----------
    results
        The results, in the order of reading; the summary of the first one stands at the top.
    path
        The file to write.
    title
        The title of the page.
    reproduce
        The command or code that makes the same again.
    """
    content = page_html(results, title=title, reproduce=reproduce)
    with write_whole(path) as file:
        file.write(content.encode("utf-8", "replace"))  # a name may have characters that UTF-8 cannot hold


def page_html(results: Sequence[Result], *, title: str, reproduce: str = "") -> str:
    """Return results as the text of an HTML page."""
    require_packages()
    page = _Page()
    sections = [section for result in results for section in result.sections]
    if reproduce:
        sections.append(Section("How to reproduce", [Code(reproduce), Facts(_versions())]))
    shown = [{"title": section.title, "blocks": page.blocks(section.blocks)} for section in sections]
    return (
        templates()
        .get_template("page.html")
        .render(
            page={"title": title, "summary": results[0].summary, "sections": shown},
            anchors=anchors([section.title for section in sections]),
            figure_number=lambda figure: figure["number"],
            browser=page.browser,
            data=page.script_data(),
            library=library() if page.charts else "",
            style=source("page.css"),
            script=source("page.js"),
            version=__version__,
        )
    )


def _versions() -> dict[str, str]:
    """Return the versions that made the results."""
    return {
        "rankwright": __version__,
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "system": f"{platform.system()} {platform.machine()}",
    }


class _Page:
    """Turns blocks into what the templates show, and collects charts and the query browser for the script."""

    def __init__(self) -> None:
        self.charts: list[dict[str, Any]] = []
        self.browser: QueryBrowser | None = None

    def blocks(self, blocks: Iterable[Block]) -> list[Any]:
        return [self._shown(block) for block in blocks]

    def script_data(self) -> str:
        from rankwright.reports.charts.theme import config

        themes = {"light": config(dark=False), "dark": config(dark=True)}
        browser = None if self.browser is None else self.browser.plain()
        return script_json({"charts": self.charts, "themes": themes, "browser": browser})

    def _shown(self, block: Block) -> Any:
        match block:
            case Table():
                return _shown_table(block)
            case Figure():
                return self._figure(block)
            case Figures():
                return {"kind": "figures", "figures": [self._figure(figure) for figure in block.figures]}
            case Facts():
                facts = {name: spelled_fact(value) for name, value in block.facts.items()}
                return {"kind": "facts", "facts": facts, "below": block.below}
            case QueryBrowser():
                self.browser = block
                return block
            case Text() | Note() | Code():
                return {"kind": type(block).__name__.lower(), "text": block.text}

    def _figure(self, figure: Figure) -> dict[str, Any]:
        chart = figure.chart()
        self.charts.append({"spec": chart.spec, "compares": figure.compares})
        number = len(self.charts) - 1
        return {
            "kind": "figure",
            "chart": chart,
            "caption": figure.caption,
            "compares": figure.compares,
            "number": number,
        }


def _shown_table(table: Table) -> dict[str, Any]:
    largest = [_largest(column, number, table) for number, column in enumerate(table.columns)]
    return {
        "kind": "table",
        "columns": [{"title": column.title, "is_text": column.kind is Kind.TEXT} for column in table.columns],
        "rows": [list(map(_shown_cell, table.columns, row, largest)) for row in table.rows],
        "caption": table.caption,
        "tiles": table.tiles,
        "folded": table.folded,
    }


def _shown_cell(column: Column, value: Any, largest: float) -> dict[str, Any]:
    text, note = spelled_cell(column, value)
    number = _number(column, value)
    if column.kind is not Kind.TEXT:
        text = DASH if text == wording.UNKNOWN else text.replace("-", MINUS)
        note = note.replace("-", MINUS)
    return {
        "text": text,
        "small": note,
        "value": number,
        "shade": value.shade if isinstance(value, Cell) else 0.0,
        "bar": number / largest if column.bar and number is not None and largest else None,
    }


def _number(column: Column, value: Any) -> float | None:
    """Return the number that a column is sorted by; None for texts and unknown values."""
    if isinstance(value, Cell):
        value = value.value
    if isinstance(value, Interval):
        value = value.value
    if column.kind is Kind.TEXT or value is None or not math.isfinite(value):
        return None
    return float(value)


def _largest(column: Column, number: int, table: Table) -> float:
    values = [_number(column, row[number]) for row in table.rows] if column.bar else []
    return max((value for value in values if value is not None), default=0.0)
