"""Writes a page as one HTML file that needs no network: templates, style, script and data are all in it."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import MissingPackageError
from rankwright.base.files import write_whole
from rankwright.base.version import __version__
from rankwright.reports.pages.blocks import Figure, Figures
from rankwright.reports.pages.browser import QueryBrowser

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from jinja2 import Environment

    from rankwright.reports.pages.blocks import Block, Section

LIBRARY = "window.vegaEmbed = vegaEmbed;"  # what the page's script calls
PACKAGES = {"altair": "altair", "vl_convert": "vl-convert-python", "jinja2": "jinja2"}


def require_packages() -> None:
    """Refuse to make a page, before any long work, where a package that it needs is not installed."""
    for module, package in PACKAGES.items():
        if find_spec(module) is None:
            raise MissingPackageError(f"A page needs {package}; run pip install 'rankwright[report]'.")


@dataclass(frozen=True)
class Page:
    """A page: its title, a sentence that says what was found, and sections."""

    title: str
    summary: str
    sections: Sequence[Section]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page, completely or not at all."""
        content = self.html().encode("utf-8", "replace")  # a name may have characters that UTF-8 cannot hold
        with write_whole(path) as file:
            file.write(content)

    def html(self) -> str:
        """Return the page as text."""
        require_packages()
        blocks = [block for section in self.sections for block in _flat(section.blocks)]
        figures = [block for block in blocks if isinstance(block, Figure)]
        browser = next((block for block in blocks if isinstance(block, QueryBrowser)), None)
        return (
            templates()
            .get_template("page.html")
            .render(
                page=self,
                anchors=anchors([section.title for section in self.sections]),
                figure_number=lambda figure: next(n for n, one in enumerate(figures) if one is figure),
                browser=browser,
                data=_script_data(figures, browser),
                library=library() if figures else "",
                style=source("page.css"),
                script=source("page.js"),
                version=__version__,
            )
        )


@cache
def library() -> str:
    """Return Vega as a script, which takes a second or two to bundle."""
    import vl_convert

    bundled: str = vl_convert.javascript_bundle(LIBRARY)
    return bundled


def _flat(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Figures):
            yield from block.figures
        else:
            yield block


def _script_data(figures: Sequence[Figure], browser: QueryBrowser | None) -> str:
    from rankwright.reports.charts.theme import config

    data = {
        "charts": [{"spec": one.chart.spec, "compares": one.compares} for one in figures],
        "themes": {"light": config(dark=False), "dark": config(dark=True)},
        "browser": None if browser is None else browser.plain(),
    }
    return script_json(data)


def script_json(data: Any) -> str:
    """Return JSON that can stand inside a script element: no text in it can end the element."""
    text = json.dumps(_finite(data), separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def anchors(titles: Sequence[str]) -> list[str]:
    """Return one identifier per title, each different from the others."""
    found: list[str] = []
    for title in titles:
        words = re.sub(r"[^a-z0-9]+", "-", title.lower())[:40].strip("-") or "section"
        repeated = sum(re.sub(r"-\d+$", "", one) == words or one == words for one in found)
        found.append(f"{words}-{repeated + 1}" if repeated else words)
    return found


def source(name: str) -> str:
    """Return a file of this package as it is."""
    return (files("rankwright.reports.pages") / "templates" / name).read_text(encoding="utf-8")


@cache
def templates() -> Environment:
    """Return the templates of pages."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("rankwright.reports.pages", "templates")
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
