"""`rankwright crossval`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.config import configurable
from rankwright.cli.options.data_files import FORMATS, ReadOptions, reads_data
from rankwright.cli.options.judged_collection import files_of, read_collection, read_test_parts
from rankwright.cli.options.option_groups import takes_options
from rankwright.cli.options.page_option import ReportOption, check_report
from rankwright.cli.options.ranker_list import RankersArgument, grids_of, rankers_of
from rankwright.cli.options.shared_options import (
    AsPrintedFlag,
    ConventionOption,
    DropOneLabelFlag,
    JobsOption,
    JsonFlag,
    MetricsOption,
    MinRelevantOption,
    SetOption,
    checked_output,
)
from rankwright.cli.options.tuning_options import (
    ChooseOption,
    GridOption,
    WorkersOption,
    require_tune,
    setting_text,
    several_fits,
)
from rankwright.cli.output.console import describe, note, show_json
from rankwright.cli.output.crossval_output import facts_of, show, write_page
from rankwright.cli.verbs.train import RefitFlag, exit_if_interrupted, fit_with_progress

if TYPE_CHECKING:
    from rankwright.crossval.cross_validation import CrossValidation
    from rankwright.crossval.splits import SplitOptions
    from rankwright.data.dataset import RankingData
    from rankwright.rankers.ranker import Ranker

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


def read_validation(text: str) -> float | str:
    """Return a fraction as a number; anything else is left to the checks of `SplitOptions`."""
    try:
        return float(text)
    except ValueError:
        return text


ValidationOption = Annotated[
    Any,
    typer.Option(
        "--validation",
        metavar="FRACTION or fold",
        parser=read_validation,
        help="Fraction of a file's queries outside the test part of a fold that choose the number of rounds; "
        "with 0 the ranker learns for all its rounds. With fold, the fold before the test part chooses: five "
        "folds are divided 3 + 1 + 1, as in LETOR.",
    ),
]
StratifyFlag = Annotated[
    bool,
    typer.Option(
        "--stratify",
        help="Give all folds about as many queries with few and with many relevant documents.",
    ),
]
RandomStateOption = Annotated[
    int, typer.Option("--random-state", min=0, metavar="N", help="Seed of the division of a file into folds.")
]
BaselineOption = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="RANKER",
        help="With several rankers: the one that all others are compared with; by default all pairs are compared.",
    ),
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


@dataclass(frozen=True)
class DivisionOptions:
    """How a file is divided into folds."""

    folds: FoldsOption = 5
    repeats: RepeatsOption = 1
    validation: ValidationOption = 0.0
    stratify: StratifyFlag = False
    random_state: RandomStateOption = 0


@dataclass(frozen=True)
class DropOptions:
    """Which queries are left out."""

    min_relevant: MinRelevantOption = 0
    drop_one_label: DropOneLabelFlag = False


@configurable
@reads_data
@takes_options(DropOptions, "dropping")
@takes_options(DivisionOptions, "dividing")
def crossval(
    ranker: RankersArgument,
    data: DataOption,
    reading: ReadOptions,
    dividing: DivisionOptions,
    dropping: DropOptions,
    metrics: MetricsOption = "ndcg@10,map",
    convention: ConventionOption = "standard",
    settings: SetOption = None,
    as_printed: AsPrintedFlag = False,
    refit: RefitFlag = False,
    tune: Annotated[bool, typer.Option("--tune", help="Tune the ranker on each fold.")] = False,
    choose: ChooseOption = None,
    grid: GridOption = None,
    workers: WorkersOption = None,
    baseline: BaselineOption = None,
    model: ModelOption = None,
    report: ReportOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Train and test one or more rankers on every fold of a file or of a folder of folds.

    Several rankers get the same folds, and are compared by significance tests on all test queries.

    Example:

        rankwright crossval lambdamart adarank --data judged.txt --validation fold
    """
    from rankwright.crossval.splits import SplitOptions

    require_tune(tune, {"--choose": choose, "--grid": grid, "--workers": workers})
    asked = rw.metrics.parse_metrics(metrics)
    chosen = rankers_of(ranker, settings or [], jobs, as_printed=as_printed)
    _require_one_or_several(chosen, model, baseline)
    if model is not None:
        checked_output(model, inputs=(data,))
    check_report(report, inputs=files_of(data), model=model)
    collection = read_collection(data, reading, jobs)
    everything = None if model is None else _all_queries(collection, model, dropping)
    division = SplitOptions(**asdict(dividing))
    protocol = _protocol(data, division, choose) if tune else None
    tuning: dict[str, Any] = {"tune": protocol, "grid": grids_of(chosen, grid)}
    n_fits = _count(chosen, collection, division, tuning)
    with several_fits(f"cross-validating {', '.join(chosen)}", n_fits) as on_fit:
        options: dict[str, Any] = {"convention": convention, "workers": workers, "on_fit": on_fit, "refit": refit}
        options |= asdict(dividing) | asdict(dropping) | tuning
        found = rw.cross_validate(chosen, collection, metrics=asked, **options)
    result = found[next(iter(chosen))]
    if not json:
        show(found, baseline)
    if model is not None and everything is not None:
        _fit_and_save(result, everything, model)
    if report is not None:
        write_page(found, baseline, collection, report)
    if json:
        show_json(facts_of(found, baseline) | {"model": model and str(model), "report": report and str(report)})
    if model is not None:
        exit_if_interrupted(result.best)


def _require_one_or_several(chosen: dict[str, Ranker], model: Path | None, baseline: str | None) -> None:
    """Refuse, before any long work, options that are for one ranker or for several."""
    if len(chosen) > 1 and model is not None:
        raise InputError(
            "--model fits one ranker on all queries; cross-validate the best ranker alone to write it."
        )
    if baseline is not None and len(chosen) == 1:
        raise InputError("--baseline needs several rankers to compare.")
    if baseline is not None and baseline not in chosen:
        from rankwright.base.wording import nearest

        raise InputError(f"There is no ranker {baseline!r} to be the baseline{nearest(baseline, chosen)}")


def _protocol(data: Path, division: SplitOptions, choose: str | None) -> str:
    from rankwright.tuning.judging_queries import default_protocol

    return choose or default_protocol(has_validation=data.is_dir() or division.has_validation)


def _count(
    chosen: dict[str, Ranker], collection: RankingData | Path, division: SplitOptions, tuning: dict[str, Any]
) -> int:
    """Return the number of fits."""
    from rankwright.crossval.cross_validate import count_fits
    from rankwright.crossval.folds import count_folds

    grids = tuning["grid"] or {}
    per_fold = sum(count_fits(one, tune=tuning["tune"], grid=grids.get(name)) for name, one in chosen.items())
    return count_folds(collection, division) * per_fold


def _all_queries(collection: RankingData | Path, model: Path, dropping: DropOptions) -> RankingData:
    """Return all queries to fit the final model on; those of a folder are the test parts of its folds."""
    try:
        judged = read_test_parts(collection) if isinstance(collection, Path) else collection
        return rw.drop_queries(judged, min_relevant=dropping.min_relevant)
    except InputError as error:
        raise InputError(
            f"{model} cannot be fitted on all queries, which are the test parts of all folds together: {error}"
        ) from None


def _fit_and_save(result: CrossValidation, everything: RankingData, model: Path) -> None:
    fit_with_progress(result.best, everything, None)
    rw.save(result.best, model)
    setting = f" with {setting_text(result.chosen)}" if result.chosen else ""
    note(f"fitted on {describe(everything)}{setting}; wrote {model}")
