"""A chart as a Vega-Lite specification, saved without a browser and shown live in notebooks, and its look.

Charts name no colour. They take the colours of series in order, and named styles for all else, so that the same
specification can be drawn in light and in dark.
"""

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
from rankwright.base.wording import plain

if TYPE_CHECKING:
    import os
    from collections.abc import Callable


WIDTH, HEIGHT = 640, 280
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"
FONT_SIZE = 12
PADDING = 8  # around a chart
MAX_WIDER = 36  # pixels, one per letter: how much wider a name may be in another font
DASHES = [5, 4]


@dataclass(frozen=True)
class Palette:
    """Colours of a page: its ground, texts and lines; of series, in order; of tiles, from low to high."""

    page: str
    text: str
    muted: str
    line: str
    series: tuple[str, ...]
    ramp: tuple[str, str]
    diverging: tuple[str, str, str]


# The hues of Okabe and Ito (2008), which can be told apart with any kind of colour vision. Lightness is adjusted:
# names in the colours of series, and text on tiles, have a contrast of at least 4.5. The first two series are also
# better and worse.
LIGHT = Palette(
    page="#ffffff",
    text="#1d2530",
    muted="#566270",
    line="#e3e7ec",
    series=("#0072b2", "#c25400", "#00805a", "#a94a83", "#8f6400", "#6a51a3", "#007a8a", "#5f6b76"),
    ramp=("#f1f5fa", "#6fa3d6"),
    diverging=("#f0a46a", "#f4f5f7", "#7ab2dd"),
)
DARK = Palette(
    page="#14181d",
    text="#e4e8ed",
    muted="#a3aebb",
    line="#2f3740",
    series=("#56b4e9", "#f28e3c", "#2ec294", "#e295c2", "#e6b800", "#b5a1e6", "#5fd0de", "#9aa6b2"),
    ramp=("#1c2733", "#2a6698"),
    diverging=("#97501c", "#262d35", "#2a6698"),
)


def config(*, dark: bool = False) -> dict[str, Any]:
    """Return the configuration with which a chart is drawn on a light or on a dark page.

    Examples
    --------
    >>> chart = rw.charts.bar_chart({"old": 0.41, "new": 0.44}, "ndcg@10", description="new is ahead.")
    >>> dark = {**chart.spec, "config": rw.charts.config(dark=True)}  # for Vega-Embed on a dark page
    >>> dark["config"]["background"]
    '#14181d'
    """
    colours = DARK if dark else LIGHT
    return {
        "background": colours.page,
        "font": FONT,
        "padding": PADDING,
        "view": {"stroke": None, "continuousWidth": WIDTH, "continuousHeight": HEIGHT},
        "range": _ranges(colours),
        "axis": _axis(colours),
        "axisX": {"labelFlush": False, "labelSeparation": 8},
        "legend": _legend(colours),
        "title": _title(colours),
        "mark": {"color": colours.series[0]},
        "line": {"strokeWidth": 2, "strokeCap": "round", "strokeJoin": "round"},
        "point": {"filled": True, "size": 60, "opacity": 1},
        "bar": {"cornerRadiusEnd": 2},
        "text": {"fontSize": FONT_SIZE, "color": colours.text},
        "style": _styles(colours),
    }


def _ranges(colours: Palette) -> dict[str, Any]:
    return {
        "category": list(colours.series),
        "ramp": list(colours.ramp),
        "heatmap": list(colours.ramp),
        "diverging": list(colours.diverging),
    }


def _title(colours: Palette) -> dict[str, Any]:
    """Return the look of a chart's title, which is the label of y: upright text is read more easily."""
    return {
        "color": colours.muted,
        "fontSize": FONT_SIZE,
        "fontWeight": "normal",
        "anchor": "start",
        "frame": "bounds",
        "offset": 10,
    }


def _axis(colours: Palette) -> dict[str, Any]:
    return {
        "domain": False,
        "ticks": False,
        "gridColor": colours.line,
        "labelColor": colours.muted,
        "titleColor": colours.muted,
        "labelFontSize": FONT_SIZE,
        "titleFontSize": FONT_SIZE,
        "titleFontWeight": "normal",
        "labelPadding": 6,
        "titlePadding": 10,
        "labelLimit": 220,
    }


def _legend(colours: Palette) -> dict[str, Any]:
    return {
        "orient": "top",
        "title": None,
        "labelColor": colours.text,
        "titleColor": colours.muted,
        "labelFontSize": FONT_SIZE,
        "labelLimit": 220,
        "symbolStrokeWidth": 2,
        "columnPadding": 16,
        "offset": 8,
    }


def _styles(colours: Palette) -> dict[str, Any]:
    """Return the styles that charts name: what stands behind, and what stands out."""
    return {
        "faint": {"color": colours.muted, "opacity": 0.35, "strokeWidth": 1},
        "marked": {"size": 110},
        "zero": {"color": colours.muted, "strokeWidth": 1},
        "interval": {"color": colours.series[0], "opacity": 0.4, "strokeWidth": 3},
        "over-bar": {"color": colours.text, "opacity": 0.75, "strokeWidth": 1.5},
        "note": {"color": colours.muted, "fontSize": FONT_SIZE},
    }


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

    Examples
    --------
    >>> chart = rw.charts.bar_chart({"old": 0.41, "new": 0.44}, "ndcg@10", description="new is ahead.")
    >>> chart
    Chart('new is ahead.')
    >>> chart.save("means.svg")
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
        drawn: str = vl_convert().vegalite_to_svg(self._still(wider=True))
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

    def _still(self, *, wider: bool = False) -> dict[str, Any]:
        """Return the specification of a picture: in light, without what only answers the pointer.

        The description of the whole serves readers better than labels on each mark, which also make files large.
        With `wider`, long names at the sides have room for another font than the one that they are measured in.
        """
        layers = [layer for layer in self.spec["layer"] if layer.get("name") != HOVER]
        selections = [param for param in self.spec.get("params", []) if HOVER not in param.get("views", [])]
        changed = {"aria": False} | ({"padding": self._padding()} if wider else {})
        return {**self.spec, "layer": layers, "params": selections, "config": config() | changed}

    def _padding(self) -> dict[str, int]:
        encodings = [layer.get("encoding", {}) for layer in self.spec["layer"]]
        rows = [str(name) for encoding in encodings for name in encoding.get("y", {}).get("sort") or ()]
        series = [name for each in encodings for name in each.get("color", {}).get("scale", {}).get("domain", ())]
        left, right = (min(MAX_WIDER, max(map(len, names), default=0)) for names in (rows, map(str, series)))
        return {"top": PADDING, "bottom": PADDING, "left": PADDING + left, "right": PADDING + right}

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
    """Refuse, before any long work, an unknown file ending or the lack of a package that draws.

    Examples
    --------
    >>> rw.charts.require_drawing("chart.svg")
    >>> rw.charts.require_drawing("chart.jpg")
    Traceback (most recent call last):
    ...
    rankwright...InputError: A chart is saved as .svg, .png, .html or .json, not as 'chart.jpg'.
    """
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
