"""A chart as a Vega-Lite specification: saved without a browser, and shown live in notebooks."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.reports.charts.packages import altair, vl_convert
from rankwright.reports.charts.standalone import standalone_page
from rankwright.reports.charts.theme import config

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

HOVER = "hover"  # name of layers that only answer the pointer; pictures go without them
PIXELS = 2.0  # per unit of length, in PNG files


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
        """Return the chart as a page that answers the pointer and needs no network."""
        return standalone_page(self.spec, self.description)

    def json(self) -> str:
        """Return the specification, with the light configuration, as JSON."""
        return json.dumps({**self.spec, "config": config()}, ensure_ascii=False, indent=1) + "\n"

    def _still(self) -> dict[str, Any]:
        """Return the specification of a picture: in light, without what only answers the pointer.

        The description of the whole serves readers better than labels on each mark, which also make files large.
        """
        layers = [one for one in self.spec["layer"] if one.get("name") != HOVER]
        selections = [one for one in self.spec.get("params", []) if HOVER not in one.get("views", [])]
        return {**self.spec, "layer": layers, "params": selections, "config": config() | {"aria": False}}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return the chart for a notebook."""
        from rankwright.reports.charts.notebook import bundle

        return bundle(self.description, chart=lambda: self)


WRITERS: dict[str, Callable[[Chart], bytes]] = {
    ".svg": lambda chart: chart.svg().encode(),
    ".png": Chart.png,
    ".html": lambda chart: chart.html().encode(),
    ".json": lambda chart: chart.json().encode(),
}


def require_drawing(path: str | os.PathLike[str]) -> None:
    """Refuse, before any long work, an ending that is not known or the lack of a package for it."""
    if _writer(path) is not WRITERS[".json"]:
        vl_convert()
    altair()


def _writer(path: str | os.PathLike[str]) -> Callable[[Chart], bytes]:
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise InputError(f"A chart is saved as .svg, .png, .html or .json, not as {Path(path).name!r}.")
    return WRITERS[ending]
