"""The old way to show things in notebooks; it goes when everything that uses it is a `Result`."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankwright.reports.charts.chart import Chart


def bundle(text: str, *, html: str | None = None, chart: Callable[[], Chart] | None = None) -> dict[str, Any]:
    """Return what a notebook may show, by MIME type: a text, and HTML with a picture below or a live chart."""
    try:
        drawn = {} if chart is None else chart()._repr_mimebundle_()
    except (InputError, MissingPackageError):
        drawn = {}
    if html is None:
        return {**drawn, "text/plain": text}
    picture = drawn.get("image/svg+xml")
    return {"text/plain": text, "text/html": f"{html}<div>{picture}</div>" if picture else html}


def card_html(title: str, facts: Mapping[str, str]) -> str:
    """Return plain texts as an HTML card: a title and named facts."""
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts.items())
    return f"<table><caption><b>{escape(title)}</b></caption><tbody>{rows}</tbody></table>"
