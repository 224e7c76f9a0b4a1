"""A chart as a Vega-Lite specification: saved without a browser, and shown live in notebooks."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib import import_module
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.files import write_whole
from rankwright.reports.charts.theme import config
from rankwright.reports.plain import plain

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

HOVER = "hover"  # name of layers that only answer the pointer; pictures go without them
PIXELS = 2.0  # per unit of length, in PNG files
# Notebooks know this version; nothing in the specifications is newer.
MIME_TYPE = "application/vnd.vegalite.v5+json"
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
CALLED = "window.vegaEmbed = vegaEmbed;"  # the part of the library that pages call
PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>$title</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>:root { color-scheme: light dark; } @media (prefers-color-scheme: dark) { body { background: $dark_page; } }
</style></head><body><div id="chart"></div>
<script>$library</script>
<script>
const chart = $chart;
const dark = matchMedia("(prefers-color-scheme: dark)");
const actions = { export: true, source: false, compiled: false, editor: false };
const draw = () =>
  vegaEmbed("#chart", chart.spec, { config: dark.matches ? chart.dark : chart.light, renderer: "svg", actions });
dark.addEventListener("change", draw);
draw();
</script></body></html>
""")


@dataclass(frozen=True, eq=False, repr=False)
class Chart:
    """A Vega-Lite specification with its data, without colours: `config` of the theme gives them.

    Parameters
    ----------
    spec
        The complete specification; it refers to no other file.
    description
        The alternative text: what the chart shows, for those who cannot see it.
    notes
        What is not drawn, in sentences; they are in the description too.
    """

    spec: dict[str, Any] = field(compare=False)
    description: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Chart({self.description!r})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the chart as its file's ending says (.svg, .png, .html or .json), completely or not at all."""
        content = _writer(path)(self)
        with write_whole(path) as file:
            file.write(content)

    def svg(self) -> str:
        """Return the chart as the text of an SVG file, on white."""
        drawn: str = vl_convert().vegalite_to_svg(self._still())
        return drawn.replace("<svg ", f'<svg role="img" aria-label={quoteattr(self.description)} ', 1)

    def png(self) -> bytes:
        """Return the chart as the content of a PNG file, on white."""
        content: bytes = vl_convert().vegalite_to_png(self._still(), scale=PIXELS)
        return content

    def html(self) -> str:
        """Return the chart as a page that answers the pointer, follows light or dark, and needs no network."""
        light, dark = config(), config(dark=True)
        return PAGE.substitute(
            title=escape(self.description),
            dark_page=dark["background"],
            library=library(),
            chart=script_json({"spec": self.spec, "light": light, "dark": dark}),
        )

    def json(self) -> str:
        """Return the specification, with the light configuration, as JSON."""
        return json.dumps({**self.spec, "config": config()}, ensure_ascii=False, indent=1) + "\n"

    def _still(self) -> dict[str, Any]:
        """Return the specification of a picture: in light, without what only answers the pointer.

        The description of the whole serves readers better than labels on each mark, which also make files large.
        """
        layers = [layer for layer in self.spec["layer"] if layer.get("name") != HOVER]
        selections = [param for param in self.spec.get("params", []) if HOVER not in param.get("views", [])]
        return {**self.spec, "layer": layers, "params": selections, "config": config() | {"aria": False}}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return the chart for a notebook: live, and as a picture where the notebook cannot draw it."""
        live = {**self.spec, "$schema": SCHEMA, "config": config()}
        bundle = {"text/plain": self.description, MIME_TYPE: live}
        try:
            return {**bundle, "image/svg+xml": self.svg()}
        except MissingPackageError:
            return bundle


WRITERS: dict[str, Callable[[Chart], bytes]] = {
    ".svg": lambda chart: chart.svg().encode(),
    ".png": Chart.png,
    ".html": lambda chart: chart.html().encode(),
    ".json": lambda chart: chart.json().encode(),
}


def require_drawing(path: str | os.PathLike[str]) -> None:
    """Refuse, before any long work, an unknown file ending or the lack of a package that draws."""
    if _writer(path) is not WRITERS[".json"]:
        vl_convert()
    altair()


def _writer(path: str | os.PathLike[str]) -> Callable[[Chart], bytes]:
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise InputError(f"A chart is saved as .svg, .png, .html or .json, not as {Path(path).name!r}.")
    return WRITERS[ending]


def altair() -> Any:
    """Return the optional package altair, which makes specifications."""
    return _imported("altair", "A chart needs altair")


def vl_convert() -> Any:
    """Return the optional package vl_convert, which draws specifications without a browser."""
    return _imported("vl_convert", "A picture of a chart needs vl-convert-python")


def _imported(name: str, reason: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingPackageError(f"{reason}; run pip install 'rankwright[report]'.") from None


@cache
def library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, which takes a second or two to bundle."""
    bundled: str = vl_convert().javascript_bundle(CALLED)
    return bundled


def script_json(data: Any) -> str:
    """Return JSON that can stand inside a script element: no text in it can end the element."""
    text = json.dumps(plain(data), separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
