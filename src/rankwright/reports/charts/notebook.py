"""What notebooks show of results: a live chart where the packages for it are installed, else text or HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.reports.charts.theme import config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rankwright.reports.charts.chart import Chart

# Notebooks know this version; nothing in the specifications is newer.
MIME_TYPE = "application/vnd.vegalite.v5+json"
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


def bundle(text: str, *, html: str | None = None, chart: Callable[[], Chart] | None = None) -> dict[str, Any]:
    """Return what a notebook may show, by MIME type: the result of `_repr_mimebundle_`.

    A chart alone is live, and a picture where the notebook cannot draw it. Below `html` (a table, a card) it is a
    picture, since a notebook shows one type only. Where there is nothing to draw, or a package is missing,
    there is no chart.
    """
    found: dict[str, Any] = {"text/plain": text}
    drawn, picture = _drawn(chart)
    if html is not None:
        found["text/html"] = f"{html}<div>{picture}</div>" if picture else html
    elif drawn is not None:
        found[MIME_TYPE] = {**drawn.spec, "$schema": SCHEMA, "config": config()}
        if picture is not None:
            found["image/svg+xml"] = picture
    return found


def _drawn(chart: Callable[[], Chart] | None) -> tuple[Chart | None, str | None]:
    """Return the chart and its picture, each None where it cannot be made."""
    drawn = None
    try:
        drawn = None if chart is None else chart()
        return drawn, None if drawn is None else drawn.svg()
    except (InputError, MissingPackageError):
        return drawn, None


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return plain texts as an HTML table."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    below = f"<p>{escape(caption)}</p>" if caption else ""
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{below}"


def card_html(title: str, facts: Mapping[str, str]) -> str:
    """Return plain texts as an HTML card: a title and named facts."""
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts.items())
    return f"<table><caption><b>{escape(title)}</b></caption><tbody>{rows}</tbody></table>"
