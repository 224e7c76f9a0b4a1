"""Draws the charts of the examples for sphinx-gallery, without a browser."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

from rankwright.reports.charts.chart import Chart


def charts(_block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the charts that a block has assigned to names as pictures with their alternative texts."""
    variables = block_vars["example_globals"]
    drawn = variables.setdefault("_drawn", [])
    pictures = []
    for chart in [value for value in variables.values() if isinstance(value, Chart) and value not in drawn]:
        path = next(block_vars["image_path_iterator"])
        chart.save(path)
        drawn.append(chart)
        pictures.append(figure_rst([path], gallery_conf["src_dir"], chart.description))
    return "\n".join(pictures)


def name_the_file(gallery_conf: dict[str, Any], name: str) -> None:
    """Let an example find its data by `__file__`, which sphinx-gallery leaves undefined."""
    builtins.__file__ = str(Path(gallery_conf["src_dir"]) / "examples" / Path(name).name)  # type: ignore[attr-defined]
