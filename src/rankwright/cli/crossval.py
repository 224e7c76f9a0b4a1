"""`rankwright crossval`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright.cli.config import configurable
from rankwright.cli.inputs import (
    ConventionOption,
    JobsOption,
    JsonFlag,
    MetricsOption,
    RankerArgument,
    SetOption,
    make_ranker,
)
from rankwright.cli.output import note, progress, show_json, show_table, spelled
from rankwright.data import find_folds
from rankwright.data.counted import counted
from rankwright.errors import InputError
from rankwright.evaluation import count_fits, cross_validate
from rankwright.metrics import parse_metrics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.evaluation import CrossValidation, Report

TUNED = {
    "validation": "parameters tuned on validation; ",
    "out-of-fold": "parameters tuned out of fold; ",
}


@configurable
def crossval(
    ranker: RankerArgument,
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            metavar="FOLDER",
            help="Folder with Fold1, Fold2, ..., each with train.txt, vali.txt and test.txt, as in LETOR.",
        ),
    ],
    metrics: MetricsOption = "ndcg@10,map",
    convention: ConventionOption = "standard",
    settings: SetOption = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Tune the ranker on each fold over its built-in grid of parameters.")
    ] = False,
    choose: Annotated[
        str | None,
        typer.Option(
            "--choose",
            metavar="HOW",
            help="How --tune compares settings. validation (the default): on the fold's validation part. "
            "out-of-fold: by cross-validation over its training and validation queries; the final fit uses both.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, metavar="N", help="Number of parallel fits for --tune; by default one per thread."
        ),
    ] = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Train and test a ranker on every fold; the validation part of a fold chooses the number of rounds.

    Example:

        rankwright crossval lambdamart --data OHSUMED --convention letor3 --tune
    """
    if choose is not None and not tune:
        raise InputError("--choose has no effect without --tune; add --tune or leave it out.")
    protocol = (choose or "validation") if tune else None
    chosen = make_ranker(ranker, settings or [], jobs)
    fits = len(find_folds(data)) * count_fits(chosen, tune=protocol)
    with progress(f"cross-validating {ranker}", fits) as step:
        result = cross_validate(
            chosen,
            data,
            metrics=parse_metrics(metrics),
            convention=convention,
            tune=protocol,
            workers=workers,
            on_fit=lambda: step(""),
        )
    if json:
        show_json(result.to_dict())
    else:
        _show(result)


def _show(result: CrossValidation) -> None:
    rows = [
        (fold.fold, *_means(result, fold.report), str(fold.best_round), _setting(fold.chosen))
        for fold in result.folds
    ]
    rows.append(("mean", *(f"{result.mean(metric):.4f}" for metric in result.metrics), "", ""))
    averaged = [f"{result.mean(metric, averaged_ties=True):.4f}" for metric in result.metrics]
    if averaged != list(rows[-1][1:-2]):  # the convention averages ties already
        rows.append(("mean, ties averaged", *averaged, "", ""))
    show_table(
        ("fold", *result.metrics, "rounds", "chosen" if any(fold.chosen for fold in result.folds) else ""), rows
    )
    queries = sum(len(fold.report.queries) for fold in result.folds)
    empty = sum(max(fold.report.empty.values()) for fold in result.folds)
    note(
        f"{counted(queries, 'test query')}, {empty:,} of them empty; "
        f"convention {result.convention}; {TUNED.get(result.protocol, '')}{result.seconds:.2f} s"
    )


def _setting(chosen: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={spelled(value)}" for name, value in chosen.items())


def _means(result: CrossValidation, report: Report) -> list[str]:
    return [f"{report.mean(result.ranker, metric):.4f}" for metric in result.metrics]
