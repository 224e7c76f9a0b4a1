"""A chart as an HTML page of its own, which needs no other file and no network."""

from __future__ import annotations

import json
from functools import cache
from html import escape
from string import Template
from typing import Any

from rankwright.reports.charts.packages import vl_convert
from rankwright.reports.charts.theme import config

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


def standalone_page(spec: dict[str, Any], title: str) -> str:
    """Return a page that draws a specification in light or dark and answers the pointer."""
    light, dark = config(), config(dark=True)
    return PAGE.substitute(
        title=escape(title),
        dark_page=dark["background"],
        library=_library(),
        chart=script_value({"spec": spec, "light": light, "dark": dark}),
    )


@cache
def _library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script; putting it together takes a second."""
    text: str = vl_convert().javascript_bundle()
    return text


def script_value(value: Any) -> str:
    """Return a value as JavaScript that cannot end the script around it."""
    return json.dumps(value).replace("<", "\\u003c")
