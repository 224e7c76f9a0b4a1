"""`rankwright evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankwright.cli.inputs import (
    ConventionOption,
    JobsOption,
    JsonFlag,
    MetricsOption,
    checked_output,
    require_distinct,
)
from rankwright.cli.output import note, show_json, show_table
from rankwright.cli.reading import FORMATS, ReadOptions, read_data, reads_data
from rankwright.data.files import write_whole
from rankwright.errors import InputError
from rankwright.evaluation import evaluate as measure
from rankwright.evaluation import evaluate_rounds
from rankwright.metrics import parse_metrics
from rankwright.models import load

if TYPE_CHECKING:
    from rankwright.evaluation import Report, RoundsReport


@reads_data
def evaluate(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL...", help="One or more model files.")],
    data: Annotated[Path, typer.Option("--data", metavar="FILE", help=f"Judged documents ({FORMATS}).")],
    reading: ReadOptions,
    metrics: MetricsOption = "ndcg@10,map",
    convention: ConventionOption = "standard",
    rounds: Annotated[
        str | None,
        typer.Option(
            "--rounds", metavar="LIST", help="Evaluate the models cut to their first rounds, such as 50,100,200."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="With --rounds: SVG file to write, with a curve of the first metric."
        ),
    ] = None,
    per_query: Annotated[
        bool, typer.Option("--per-query", help="With --json: print the value of every query too.")
    ] = False,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Evaluate models on judged documents.

    Example:

        rankwright evaluate model.rw --data test.txt --metrics ndcg@10,map,mrr
    """
    if plot is not None:
        if rounds is None:
            raise InputError("--plot needs --rounds, such as --rounds 50,100,200.")
        checked_output(plot, inputs=(data, *models))
    if rounds is not None and per_query:
        raise InputError("--per-query cannot be used with --rounds.")
    if per_query and not json:
        raise InputError("--per-query needs --json.")
    require_distinct(models)
    systems = {str(path): load(path) for path in models}
    judged = read_data(data, reading, list(systems.values()), n_jobs=jobs)
    asked = parse_metrics(metrics)
    if rounds is not None:
        cuts = _numbers(rounds)
        found = evaluate_rounds(systems, judged, cuts, metrics=asked, convention=convention, n_jobs=jobs)
        _show_rounds(found, plot, json)
        return
    report = measure(systems, judged, metrics=asked, convention=convention, n_jobs=jobs)
    if json:
        show_json(report.to_dict() | ({"per_query": _per_query(report)} if per_query else {}))
        return
    rows = [
        (system, *(f"{report.mean(system, metric):.4f}" for metric in report.metrics)) for system in report.systems
    ]
    show_table(("model", *report.metrics), rows)
    note(report.footnote())


def _numbers(rounds: str) -> list[int]:
    try:
        return [int(number) for number in rounds.split(",")]
    except ValueError:
        raise InputError(
            f"--rounds takes integers separated by commas, such as 50,100,200, not {rounds!r}."
        ) from None


def _show_rounds(found: RoundsReport, plot: Path | None, as_json: bool) -> None:
    metrics = found.report.metrics
    if plot is not None:
        with write_whole(plot) as file:
            file.write(found.plot(metrics[0]).encode())
    if as_json:
        show_json(found.to_dict())
        return
    rows = [
        (system, f"{number:,}", *(f"{found.mean(system, number, metric):.4f}" for metric in metrics))
        for system in found.systems
        for number in found.rounds
    ]
    show_table(("model", "rounds", *metrics), rows)
    note(found.report.footnote() + ("" if plot is None else f"; wrote {plot}"))


def _per_query(report: Report) -> dict[str, dict[str, dict[str, float]]]:
    return {
        system: {
            metric: {
                str(query): float(value)
                for query, value in zip(report.queries, report.per_query(system, metric), strict=True)
                if value == value
            }
            for metric in report.metrics
        }
        for system in report.systems
    }
