"""`rankwright crossval`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rankwright as rw
from rankwright.cli.collection import files_of, read_collection, read_test_parts
from rankwright.cli.config import configurable
from rankwright.cli.inputs import (
    ConventionOption,
    JobsOption,
    JsonFlag,
    MetricsOption,
    RankerArgument,
    SetOption,
    checked_output,
    make_ranker,
)
from rankwright.cli.output import describe, note, show_json, show_table
from rankwright.cli.pages import ReportOption, check_report, this_command
from rankwright.cli.reading import FORMATS, ReadOptions, reads_data
from rankwright.cli.train import RefitFlag, exit_if_interrupted, fit_with_progress
from rankwright.cli.tuning import (
    ChooseOption,
    GridOption,
    WorkersOption,
    read_grid,
    require_tune,
    setting_text,
    several_fits,
)
from rankwright.data.counted import counted
from rankwright.errors import InputError

if TYPE_CHECKING:
    from rankwright.data import RankingData
    from rankwright.evaluation import CrossValidation, Report
    from rankwright.evaluation.protocol import FoldResult

TUNED = {
    "validation": "parameters tuned on validation; ",
    "out-of-fold": "parameters tuned out of fold; ",
}

DataOption = Annotated[
    Path,
    typer.Option(
        "--data",
        metavar="PATH",
        help=f"Judged documents ({FORMATS}), divided into folds by query; or a folder with Fold1, Fold2, ..., "
        "each with train.txt, vali.txt and test.txt, as in LETOR.",
    ),
]
FoldsOption = Annotated[
    int, typer.Option("--folds", min=2, metavar="N", help="Number of folds that a file is divided into.")
]
RepeatsOption = Annotated[
    int, typer.Option("--repeats", min=1, metavar="N", help="How many times a file is divided into folds.")
]
ValidationOption = Annotated[
    float,
    typer.Option(
        "--validation",
        metavar="FRACTION",
        help="Fraction of a file's queries outside the test part of a fold that choose the number of rounds; "
        "with 0 the ranker learns for all its rounds.",
    ),
]
RandomStateOption = Annotated[
    int, typer.Option("--random-state", min=0, metavar="N", help="Seed of the division of a file into folds.")
]
ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--model",
        metavar="FILE",
        help="Model file to write: the ranker fitted on all queries, with the setting that is best on average "
        "over folds and the median number of rounds.",
    ),
]


@configurable
@reads_data
def crossval(
    ranker: RankerArgument,
    data: DataOption,
    reading: ReadOptions,
    metrics: MetricsOption = "ndcg@10,map",
    convention: ConventionOption = "standard",
    settings: SetOption = None,
    folds: FoldsOption = 5,
    repeats: RepeatsOption = 1,
    validation: ValidationOption = 0.0,
    random_state: RandomStateOption = 0,
    refit: RefitFlag = False,
    tune: Annotated[bool, typer.Option("--tune", help="Tune the ranker on each fold.")] = False,
    choose: ChooseOption = None,
    grid: GridOption = None,
    workers: WorkersOption = None,
    model: ModelOption = None,
    report: ReportOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Train and test a ranker on every fold of a file or of a folder of folds.

    Example:

        rankwright crossval lambdamart --data judged.parquet --repeats 2 --tune
    """
    from rankwright.evaluation.folds import Division, count_folds
    from rankwright.evaluation.protocol import count_fits

    require_tune(tune, {"--choose": choose, "--grid": grid, "--workers": workers})
    chosen, asked = make_ranker(ranker, settings or [], jobs), rw.metrics.parse_metrics(metrics)
    check_report(report, inputs=files_of(data), model=model)
    collection = read_collection(data, reading, jobs)
    everything = None if model is None else _all_queries(collection, checked_output(model, inputs=(data,)))
    protocol = _protocol(data, validation, choose) if tune else None
    tuning: dict[str, Any] = {"tune": protocol, "grid": read_grid(chosen, grid)}
    division = Division(folds, repeats, validation, random_state)
    n_fits = count_folds(collection, division) * count_fits(chosen, **tuning)
    with several_fits(f"cross-validating {ranker}", n_fits) as on_fit:
        options: dict[str, Any] = {"convention": convention, "workers": workers, "on_fit": on_fit, "refit": refit}
        result = rw.cross_validate(chosen, collection, metrics=asked, **asdict(division), **tuning, **options)
    if not json:
        _show(result)
    if model is not None and everything is not None:
        _fit_and_save(result, everything, model)
    if report is not None:
        _write_page(result, collection, report)
    if json:
        written = {"model": model, "report": report}
        show_json(result.to_dict() | {name: path and str(path) for name, path in written.items()})
    if model is not None:
        exit_if_interrupted(result.best)


def _protocol(data: Path, validation: float, choose: str | None) -> str:
    from rankwright.evaluation.choosing import default_protocol

    return choose or default_protocol(has_validation=data.is_dir() or validation > 0)


def _all_queries(collection: RankingData | Path, model: Path) -> RankingData:
    """Return all queries to fit the final model on; those of a folder are the test parts of its folds."""
    if not isinstance(collection, Path):
        return collection
    try:
        return read_test_parts(collection)
    except InputError as error:
        raise InputError(
            f"{model} cannot be fitted on all queries, which are the test parts of all folds together: {error}"
        ) from None


def _write_page(result: CrossValidation, collection: RankingData | Path, report: Path) -> None:
    from rankwright.evaluation.crossval_page import write_crossval_page

    data, reason = None, ""
    try:
        data = read_test_parts(collection) if isinstance(collection, Path) else collection
    except InputError as error:
        reason = f"The test parts of all folds cannot be shown together: {error}"
    write_crossval_page(result, report, data=data, without_data=reason, reproduce=this_command())
    note(f"wrote {report}")


def _fit_and_save(result: CrossValidation, everything: RankingData, model: Path) -> None:
    fit_with_progress(result.best, everything, None)
    rw.save(result.best, model)
    setting = f" with {setting_text(result.chosen)}" if result.chosen else ""
    note(f"fitted on {describe(everything)}{setting}; wrote {model}")


def _show(result: CrossValidation) -> None:
    rows = [
        (_name(result, fold), *_means(result, fold.report), str(fold.best_round), setting_text(fold.chosen))
        for fold in result.folds
    ]
    rows.append(("mean", *(f"{result.mean(metric):.4f}" for metric in result.metrics), "", ""))
    averaged = [f"{result.mean(metric, averaged_ties=True):.4f}" for metric in result.metrics]
    if averaged != list(rows[-1][1:-2]):  # the convention averages ties already
        rows.append(("mean, ties averaged", *averaged, "", ""))
    errors = [result.standard_error(metric) for metric in result.metrics]
    rows.append(("standard error", *(f"{error:.4f}" for error in errors), "", ""))
    show_table(
        ("fold", *result.metrics, "rounds", "chosen" if any(fold.chosen for fold in result.folds) else ""), rows
    )
    tested = [fold.report for fold in result.folds if fold.repeat == 1]  # every repeat tests the same queries
    queries = sum(len(report.queries) for report in tested)
    empty = sum(max(report.empty.values()) for report in tested)
    note(
        f"{counted(queries, 'test query')}, {empty:,} of them empty; "
        f"convention {result.convention}; {TUNED.get(result.protocol, '')}{result.seconds:.2f} s"
    )


def _name(result: CrossValidation, fold: FoldResult) -> str:
    return fold.fold if result.repeats == 1 else f"{fold.fold}, repeat {fold.repeat}"


def _means(result: CrossValidation, report: Report) -> list[str]:
    return [f"{report.mean(result.ranker, metric):.4f}" for metric in result.metrics]
