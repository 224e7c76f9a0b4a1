"""The look of all charts, in light and in dark: a Vega-Lite configuration.

Charts name no colour. They take the colours of series in order, and named styles for all else, so that the same
specification can be drawn with either configuration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT = 640, 280
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"
FONT_SIZE = 12
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
    """Return the configuration with which a chart is drawn on a light or on a dark page."""
    colours = DARK if dark else LIGHT
    return {
        "background": colours.page,
        "font": FONT,
        "padding": 8,
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
