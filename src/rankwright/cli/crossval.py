"""`rankwright crossval`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankwright.cli.inputs import (
    ConventionOption,
    JsonFlag,
    MetricsOption,
    RankerArgument,
    SetOption,
    ThreadsOption,
    make_ranker,
)
from rankwright.cli.output import note, progress, show_json, show_table
from rankwright.data import find_folds
from rankwright.evaluation import cross_validate
from rankwright.metrics import parse_metrics

if TYPE_CHECKING:
    from rankwright.evaluation import CrossValidation, Report


def crossval(
    ranker: RankerArgument,
    data: Annotated[
        Path, typer.Option("--data", metavar="FOLDER", help="A folder with Fold1, Fold2, ... as LETOR has them.")
    ],
    metrics: MetricsOption = "ndcg@10,map",
    convention: ConventionOption = "standard",
    settings: SetOption = None,
    threads: ThreadsOption = None,
    json: JsonFlag = False,
) -> None:
    """Train and test a ranker on every fold; each fold's validation part chooses the round.

    Example:

        rankwright crossval adarank --data OHSUMED --convention letor3
    """
    chosen = make_ranker(ranker, settings or [], threads)
    folds = find_folds(data)
    with progress(f"cross-validating {ranker}", len(folds)) as step:
        result = cross_validate(
            chosen,
            data,
            metrics=parse_metrics(metrics),
            convention=convention,
            on_fold=lambda fold: step(f"{fold.fold} done"),
        )
    if json:
        show_json(result.to_dict())
    else:
        _show(result)


def _show(result: CrossValidation) -> None:
    rows = [(fold.fold, *_means(result, fold.report), str(fold.best_round)) for fold in result.folds]
    rows.append(("mean", *(f"{result.mean(metric):.4f}" for metric in result.metrics), ""))
    averaged = [f"{result.mean(metric, averaged_ties=True):.4f}" for metric in result.metrics]
    if averaged != list(rows[-1][1:-1]):  # the standard convention averages them already
        rows.append(("mean, ties averaged", *averaged, ""))
    show_table(("fold", *result.metrics, "rounds"), rows)
    queries = sum(len(fold.report.queries) for fold in result.folds)
    empty = sum(max(fold.report.empty.values()) for fold in result.folds)
    note(
        f"{queries:,} test queries, {empty:,} of them empty; "
        f"convention {result.convention}; {result.seconds:.2f} s"
    )


def _means(result: CrossValidation, report: Report) -> list[str]:
    return [f"{report.mean(result.ranker, metric):.4f}" for metric in result.metrics]
