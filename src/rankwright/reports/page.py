"""Results as one HTML page that needs no network: templates, style, script and data are all in it."""

from __future__ import annotations

import math
import platform
import re
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base import wording
from rankwright.base.errors import MissingPackageError
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
    spelled_cell,
    spelled_fact,
)
from rankwright.reports.charts.chart import config, library, script_json
from rankwright.reports.query_browser import QueryBrowser

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from jinja2 import Environment

    from rankwright.reports.blocks import Block, Column, Rendered

DASH, MINUS, NO_BREAK = "\N{EN DASH}", "\N{MINUS SIGN}", "\N{NO-BREAK SPACE}"
PACKAGES = {"altair": "altair", "vl_convert": "vl-convert-python", "jinja2": "jinja2"}


def write_page(
    results: Sequence[Rendered | Section], path: str | os.PathLike[str], *, title: str, reproduce: str = ""
) -> None:
    """Write results as one page, completely or not at all.

    Parameters
    ----------
    results
        The results and further sections, in the order of reading; the summary of the first stands at the top.
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


def page_html(results: Sequence[Rendered | Section], *, title: str, reproduce: str = "") -> str:
    """Return results as the text of an HTML page."""
    parts = [[result] if isinstance(result, Section) else result.sections for result in results]
    sections = [section for part in parts for section in part if section.blocks]
    if reproduce:
        sections.append(Section("How to reproduce", [Code(reproduce), Facts(_versions())]))
    first = results[0]
    summary = first.title if isinstance(first, Section) else first.summary
    return sections_html(sections, title=title, summary=summary)


def sections_html(sections: Sequence[Section], *, title: str, summary: str) -> str:
    """Return sections below a title and a summary as the text of an HTML page."""
    require_packages()
    page = _Page(has_browser=any(isinstance(block, QueryBrowser) for part in sections for block in part.blocks))
    shown = [{"title": section.title, "blocks": list(map(page.shown, section.blocks))} for section in sections]
    has_contents = sum(section.title != title for section in sections) > 1
    return (
        _templates()
        .get_template("page.html")
        .render(
            page={"title": title, "summary": _unbroken(summary), "sections": shown, "has_contents": has_contents},
            anchors=_anchors([section.title for section in sections]),
            data=page.script_data(),
            library=library() if page.charts else "",
            style=_source("page.css"),
            script=_source("page.js"),
            version=__version__,
        )
    )


def _unbroken(sentence: str) -> str:
    """Return a text whose lines do not end within "95 %", "p = 0.012" or "0.4480 to 0.4567"."""
    return re.sub(r" (?=%|[=<] )|(?<= [=<]) |(?<=\d) (?=to [+-]?\d)|(?<=\d to) ", NO_BREAK, sentence)


def _versions() -> dict[str, str]:
    """Return the versions that made the results."""
    return {
        "rankwright": __version__,
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "system": f"{platform.system()} {platform.machine()}",
    }


def require_packages() -> None:
    """Refuse to make a page, before any long work, where a package that it needs is not installed."""
    for module, package in PACKAGES.items():
        if find_spec(module) is None:
            raise MissingPackageError(f"A page needs {package}; run pip install 'rankwright[report]'.")


class _Page:
    """Turns blocks into what the templates show, and collects charts and the query browser for the script."""

    def __init__(self, *, has_browser: bool) -> None:
        self.has_browser = has_browser
        self.charts: list[dict[str, Any]] = []
        self.browser: QueryBrowser | None = None

    def script_data(self) -> str:
        themes = {"light": config(dark=False), "dark": config(dark=True)}
        browser = None if self.browser is None else self.browser.plain()
        return script_json({"charts": self.charts, "themes": themes, "browser": browser})

    def shown(self, block: Block) -> dict[str, Any]:
        kind = {"kind": type(block).__name__.lower()}
        match block:
            case Table():
                return kind | _shown_table(block)
            case Figure():
                return kind | self._figure(block)
            case Figures():
                return kind | vars(block) | {"figures": list(map(self._figure, block.figures))}
            case Text() | Note():
                return kind | {"text": _unbroken(block.text)}
            case Facts():
                facts = {name: spelled_fact(value) for name, value in block.facts.items()}
                return kind | {"facts": facts, "below": block.below}
            case QueryBrowser():
                self.browser = block
                return kind
        return kind | vars(block)

    def _figure(self, figure: Figure) -> dict[str, Any]:
        chart = figure.chart()
        self.charts.append({"spec": chart.spec, "compares": figure.compares})
        opens = ["Click a bar to open its query."] if figure.compares and self.has_browser else []
        return {
            "number": len(self.charts) - 1,
            "description": chart.description,
            "caption": _unbroken(" ".join([figure.caption, *chart.notes, *opens])),
            "compares": figure.compares,
        }


def _shown_table(table: Table) -> dict[str, Any]:
    largest = [_largest(column, number, table) for number, column in enumerate(table.columns)]
    return {
        "columns": [{"title": column.title, "is_text": column.kind is Kind.TEXT} for column in table.columns],
        "rows": [list(map(_shown_cell, table.columns, row, largest)) for row in table.rows],
        "caption": _unbroken(table.caption),
        "tiles": table.tiles,
        "folded": table.folded,
    }


def _shown_cell(column: Column, value: Any, largest: float) -> dict[str, Any]:
    text, note = spelled_cell(column, value, limits=True)
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


def _anchors(titles: Sequence[str]) -> list[str]:
    """Return one identifier per title, each different from the others."""
    anchors: list[str] = []
    for title in titles:
        words = re.sub(r"[^a-z0-9]+", "-", title.lower())[:40].strip("-") or "section"
        repeated = sum(re.sub(r"-\d+$", "", anchor) == words or anchor == words for anchor in anchors)
        anchors.append(f"{words}-{repeated + 1}" if repeated else words)
    return anchors


def _source(name: str) -> str:
    """Return a file of the templates as it is."""
    return (files("rankwright.reports") / "templates" / name).read_text(encoding="utf-8")


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("rankwright.reports", "templates")
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
