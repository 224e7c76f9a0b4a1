"""What the kinds of `rankwright analyse` share: options, and how results are shown."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankwright.cli.options.completion import complete_metric
from rankwright.cli.options.shared_options import PICTURES, checked_picture
from rankwright.cli.output.console import note, show_json, show_table
from rankwright.reports.text import spelled_row

if TYPE_CHECKING:
    from rankwright.reports.result import Result

MetricOption = Annotated[
    str,
    typer.Option(
        "--metric", metavar="NAME", help="Metric, such as ndcg@10, map or mrr.", autocompletion=complete_metric
    ),
]
PlotOption = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help=f"Chart to write ({PICTURES}).")]
RoundsOption = Annotated[
    str | None,
    typer.Option(
        "--rounds", metavar="LIST", help="Numbers of rounds, such as 50,100,200; by default about twenty."
    ),
]


def checked_plot(plot: Path | None, *, inputs: Iterable[Path | None]) -> None:
    """Refuse, before any long work, a chart that cannot be written."""
    if plot is not None:
        checked_picture(plot, inputs=inputs)


def show_analysis(result: Result, plot: Path | None, as_json: bool) -> None:
    """Write the chart if there is to be one, and print the result as a table or as JSON."""
    if plot is not None:
        result.charts[0].save(plot)
    if as_json:
        show_json(result.to_dict())
        return
    for table in result.tables:
        show_table(
            [column.title for column in table.columns], [spelled_row(table.columns, row) for row in table.rows]
        )
    note(result.summary.removesuffix(".") + ("" if plot is None else f"; wrote {plot}"))
