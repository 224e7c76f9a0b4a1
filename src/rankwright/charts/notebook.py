"""What notebooks show of results: a live chart where the packages for it are installed, else text or HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.charts.theme import config
from rankwright.errors import InputError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankwright.charts.chart import Chart

# Notebooks know this version; nothing in the specifications is newer.
MIME_TYPE = "application/vnd.vegalite.v5+json"
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


def bundle(text: str, *, html: str | None = None, chart: Callable[[], Chart] | None = None) -> dict[str, Any]:
    """Return what a notebook may show, by MIME type.

    With `html` (a table, a card) the chart is a picture below it, since a notebook shows one type only. Where
    there is nothing to draw, or a package is missing, the chart is left out.
    """
    shown: dict[str, Any] = {"text/plain": text}
    drawn, picture = _drawn(chart)
    if html is not None:
        shown["text/html"] = f"{html}<div>{picture}</div>" if picture else html
    elif drawn is not None:
        shown[MIME_TYPE] = {**drawn.spec, "$schema": SCHEMA, "config": config()}
        if picture:
            shown["image/svg+xml"] = picture
    return shown


def _drawn(chart: Callable[[], Chart] | None) -> tuple[Chart | None, str | None]:
    """Return the chart and its picture, each None where it cannot be made."""
    drawn = None
    try:
        drawn = None if chart is None else chart()
        return drawn, None if drawn is None else drawn.svg()
    except (InputError, MissingPackageError):
        return drawn, None
