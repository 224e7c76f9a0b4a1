"""`rankwright evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankwright.cli.inputs import (
    ConventionOption,
    FeaturesOption,
    JsonFlag,
    MetricsOption,
    ThreadsOption,
    read_data_for,
)
from rankwright.cli.output import note, show_json, show_table
from rankwright.errors import InputError
from rankwright.evaluation import evaluate as measure
from rankwright.metrics import parse_metrics
from rankwright.models import load

if TYPE_CHECKING:
    from rankwright.evaluation import Report


def evaluate(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL...", help="Model files.")],
    data: Annotated[
        Path, typer.Option("--data", metavar="FILE", help="Judged documents (LETOR, .csv, .parquet).")
    ],
    metrics: MetricsOption = "ndcg@10,map",
    convention: ConventionOption = "standard",
    per_query: Annotated[bool, typer.Option("--per-query", help="With --json: every query's value too.")] = False,
    features: FeaturesOption = None,
    threads: ThreadsOption = None,
    json: JsonFlag = False,
) -> None:
    """Measure models on judged documents.

    Example:

        rankwright evaluate model.rw --data test.txt --metrics ndcg@10,map,mrr
    """
    systems = {str(path): load(path) for path in models}
    if len(systems) < len(models):
        raise InputError(f"The model {_repeated(models)} is named twice.")
    judged = read_data_for(systems.values(), data, n_features=features, n_threads=threads)
    report = measure(systems, judged, metrics=parse_metrics(metrics), convention=convention, n_threads=threads)
    if json:
        show_json(report.to_dict() | ({"per_query": _per_query(report)} if per_query else {}))
        return
    rows = [
        (system, *(f"{report.mean(system, metric):.4f}" for metric in report.metrics)) for system in report.systems
    ]
    show_table(("model", *report.metrics), rows)
    note(report.footnote())


def _repeated(models: list[Path]) -> Path:
    return next(path for place, path in enumerate(models) if path in models[:place])


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
