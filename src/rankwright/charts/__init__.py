"""Charts: plain numbers and names become Vega-Lite specifications, made by Altair and drawn by vl-convert.

Nothing here knows a result; results have a method `chart` that calls one of these functions.
"""

from rankwright.charts.bars import bar_chart, difference_chart, grouped_bar_chart
from rankwright.charts.chart import Chart, require_drawing
from rankwright.charts.lines import line_chart
from rankwright.charts.notebook import bundle, card_html, table_html
from rankwright.charts.points import Point, scatter_chart
from rankwright.charts.rows import interval_chart, tile_chart
from rankwright.charts.theme import config

__all__ = [
    "Chart",
    "Point",
    "bar_chart",
    "bundle",
    "card_html",
    "config",
    "difference_chart",
    "grouped_bar_chart",
    "interval_chart",
    "line_chart",
    "require_drawing",
    "scatter_chart",
    "table_html",
    "tile_chart",
]
