"""`rankwright evaluate`."""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.wording import shown_p_value
from rankwright.cli.options.data_files import ReadOptions, reads_data
from rankwright.cli.options.shared_options import (
    PICTURES,
    DropOneLabelFlag,
    JobsOption,
    JsonFlag,
    JudgedOption,
    MetricsOption,
    MinRelevantOption,
    QueriesOption,
    RunConventionOption,
    SystemFiles,
    checked_picture,
    numbers,
)
from rankwright.cli.output.console import note, note_coverage, show_json, show_table

if TYPE_CHECKING:
    from rankwright.evaluation.rounds import RoundsReport


@reads_data
def evaluate(
    files: SystemFiles,
    data: JudgedOption,
    reading: ReadOptions,
    metrics: MetricsOption = "ndcg@10,map",
    convention: RunConventionOption = None,
    queries: QueriesOption = None,
    min_relevant: MinRelevantOption = 0,
    drop_one_label: DropOneLabelFlag = False,
    rounds: Annotated[
        str | None,
        typer.Option(
            "--rounds", metavar="LIST", help="Evaluate the models cut to their first rounds, such as 50,100,200."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help=f"With --rounds: chart of the first metric to write ({PICTURES})."
        ),
    ] = None,
    per_query: Annotated[
        bool, typer.Option("--per-query", help="With --json: print the value of every query too.")
    ] = False,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Evaluate systems on judged documents, and compare them with the first.

    Example:

        rankwright evaluate old.rw new.rw --data test.txt --metrics ndcg@10,map
    """
    from rankwright.cli.options.system_files import opened

    _check(rounds, plot, per_query, json)
    if rounds is not None and queries is not None:
        raise InputError("--queries cannot be used with --rounds.")
    if plot is not None:
        checked_picture(plot, inputs=(data, *files))
    asked: dict[str, Any] = {"metrics": rw.metrics.parse_metrics(metrics), "convention": convention}
    asked |= {"min_relevant": min_relevant, "drop_one_label": drop_one_label}
    with opened(files, data, reading, jobs) as (systems, judged):
        if rounds is not None:
            _show_rounds(
                rw.evaluate_rounds(systems, judged, numbers("--rounds", rounds), n_jobs=jobs, **asked), plot, json
            )
            return
        report = rw.evaluate(systems, judged, queries=queries, n_jobs=jobs, **asked)
    note_coverage(report)
    if json:
        compared = {"comparisons": _comparisons(report)} if len(files) > 1 else {}
        show_json(report.to_dict() | compared | ({"per_query": _per_query(report)} if per_query else {}))
    else:
        _show(report)


def _check(rounds: str | None, plot: Path | None, per_query: bool, json: bool) -> None:
    """Refuse options that do not go together."""
    if plot is not None and rounds is None:
        raise InputError("--plot needs --rounds, such as --rounds 50,100,200.")
    if rounds is not None and per_query:
        raise InputError("--per-query cannot be used with --rounds.")
    if per_query and not json:
        raise InputError("--per-query needs --json.")


def _show(report: rw.Report) -> None:
    rows = [
        (system, *(f"{report.mean(system, metric):.4f}" for metric in report.metrics)) for system in report.systems
    ]
    show_table(("system", *report.metrics), rows)
    compared = [
        (
            one["system"],
            one["metric"],
            f"{one['difference']:+.4f}",
            "-" if isnan(one["interval"][0]) else "[{:+.4f}, {:+.4f}]".format(*one["interval"]),
            shown_p_value(one["p_value"]),
            f"{one['better']:,}",
            f"{one['worse']:,}",
        )
        for one in _comparisons(report)
    ]
    if compared:
        head = (f"against {report.systems[0]}", "metric", "difference", "95 % interval", "p", "better", "worse")
        show_table(head, compared)
    note(report.footnote())


def _comparisons(report: rw.Report) -> list[dict[str, Any]]:
    """Return the comparisons of each system with the first, for each metric that has values."""
    first, *others = report.systems
    return [
        {"system": other, "baseline": first, "metric": metric, **asdict(report.compare(other, first, metric))}
        for other in others
        for metric in report.metrics
        if not isnan(report.mean(first, metric))
    ]


def _show_rounds(found: RoundsReport, plot: Path | None, as_json: bool) -> None:
    metrics = found.report.metrics
    if plot is not None:
        found.chart(metrics[0]).save(plot)
    if as_json:
        show_json(found.to_dict())
        return
    rows = [
        (system, f"{number:,}", *(f"{found.mean(system, number, metric):.4f}" for metric in metrics))
        for system in found.systems
        for number in found.rounds
    ]
    show_table(("system", "rounds", *metrics), rows)
    note(found.report.footnote() + ("" if plot is None else f"; wrote {plot}"))


def _per_query(report: rw.Report) -> dict[str, dict[str, dict[str, float]]]:
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
