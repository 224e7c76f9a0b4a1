"""The kinds of `rankwright analyse` that fit rankers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.analysis_options import MetricOption, PlotOption, checked_plot, show_analysis
from rankwright.cli.options.data_files import FORMATS, ReadOptions, read_data, reads_data
from rankwright.cli.options.judged_collection import files_of, read_collection
from rankwright.cli.options.shared_options import (
    ConventionOption,
    JobsOption,
    JsonFlag,
    MetricsOption,
    RankerArgument,
    SetOption,
    make_ranker,
)
from rankwright.cli.options.tuning_options import several_fits
from rankwright.cli.verbs.crossval import (
    DataOption,
    FoldsOption,
    RandomStateOption,
    RepeatsOption,
    ValidationOption,
)
from rankwright.cli.verbs.train import exit_if_interrupted, fit_with_progress

TrainOption = Annotated[
    Path, typer.Option("--train", metavar="FILE", help=f"Judged documents to learn from ({FORMATS}).")
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", min=1, metavar="N", help="Number of parallel fits; by default one per thread."),
]


@reads_data
def bound(
    ranker: RankerArgument,
    train: TrainOption,
    reading: ReadOptions,
    settings: SetOption = None,
    plot: PlotOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Train AdaRank, RankBoost or MPBoost, and show the bound that its theorem gives by round.

    Example:

        rankwright analyse bound adarank --train train.txt
    """
    checked_plot(plot, inputs=(train,))
    chosen = make_ranker(ranker, settings or [], jobs)
    fit_with_progress(chosen, read_data(train, reading, n_jobs=jobs), None)
    show_analysis(rw.analyses.bound_curve(chosen), plot, json)
    exit_if_interrupted(chosen)


@reads_data
def steps(
    systems: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...", help="Model files of trees; with --train, rankers to train, such as adarank."
        ),
    ],
    reading: ReadOptions,
    train: Annotated[
        Path | None,
        typer.Option(
            "--train", metavar="FILE", help="Judged documents to train rankers on, for the weights of rounds."
        ),
    ] = None,
    settings: SetOption = None,
    plot: PlotOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Show how far every round of boosted models goes.

    Example:

        rankwright analyse steps adarank rankboost --train train.txt
    """
    checked_plot(plot, inputs=(train, *map(Path, systems)))
    if train is None:
        if settings:
            raise InputError("--set is for rankers to train; add --train or leave it out.")
        show_analysis(rw.analyses.steps({one: rw.load(one) for one in systems}), plot, json)
        return
    rankers = {one: make_ranker(one, settings or [], jobs) for one in systems}
    judged = read_data(train, reading, n_jobs=jobs)
    for one in rankers.values():
        fit_with_progress(one, judged, None)
        exit_if_interrupted(one)
    show_analysis(rw.analyses.steps(rankers), plot, json)


@reads_data
def metrics(
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
    workers: WorkersOption = None,
    plot: PlotOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Train a ranker with each of several metrics, and measure all of them.

    Example:

        rankwright analyse metrics adarank --data judged.txt --metrics map,ndcg@5
    """
    from rankwright.crossval.folds import count_folds
    from rankwright.crossval.splits import SplitOptions

    checked_plot(plot, inputs=files_of(data))
    asked, chosen = rw.metrics.parse_metrics(metrics), make_ranker(ranker, settings or [], jobs)
    collection = read_collection(data, reading, jobs)
    how: dict[str, Any] = {"folds": folds, "repeats": repeats, "validation": validation}
    n_fits = len(asked) * count_folds(collection, SplitOptions(**how, random_state=random_state))
    how |= {"random_state": random_state, "metrics": asked, "convention": convention, "workers": workers}
    with several_fits(f"training {ranker}", n_fits) as on_fit:
        found = rw.analyses.metric_transfer(chosen, collection, **how, on_fit=on_fit)
    show_analysis(found, plot, json)


@reads_data
def queries(
    ranker: RankerArgument,
    data: DataOption,
    reading: ReadOptions,
    metric: MetricOption = "ndcg@10",
    convention: ConventionOption = "standard",
    settings: SetOption = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            metavar="LIST",
            help="Numbers of training queries, such as 50,100,200, or fractions; by default up to five, each "
            "twice the one before.",
        ),
    ] = None,
    draws: Annotated[
        int, typer.Option("--draws", min=2, metavar="N", help="How many subsets of each size a fold draws.")
    ] = 3,
    folds: FoldsOption = 5,
    validation: ValidationOption = 0.0,
    random_state: RandomStateOption = 0,
    workers: WorkersOption = None,
    plot: PlotOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Learn from more and more queries, and estimate what twice as many would give.

    Example:

        rankwright analyse queries lambdamart --data judged.txt
    """
    from rankwright.analyses.learning_curve import count_learning_fits
    from rankwright.crossval.splits import SplitOptions

    checked_plot(plot, inputs=files_of(data))
    wanted, chosen = None if sizes is None else _sizes(sizes), make_ranker(ranker, settings or [], jobs)
    collection = read_collection(data, reading, jobs)
    how: dict[str, Any] = {"folds": folds, "validation": validation, "random_state": random_state}
    n_fits = count_learning_fits(collection, SplitOptions(repeats=1, **how), wanted, draws)
    how |= {"metric": metric, "convention": convention, "workers": workers, "sizes": wanted, "draws": draws}
    with several_fits(f"training {ranker}", n_fits) as on_fit:
        found = rw.analyses.learning_curve(chosen, collection, on_fit=on_fit, **how)
    show_analysis(found, plot, json)


@reads_data
def features(
    ranker: RankerArgument,
    data: DataOption,
    reading: ReadOptions,
    metric: MetricOption = "ndcg@10",
    convention: ConventionOption = "standard",
    settings: SetOption = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            metavar="NAME=A,B,...",
            help="A group of features, by name, pattern (bm25_*) or, without names, LETOR's number; may be "
            "repeated. By default every feature alone.",
        ),
    ] = None,
    only: Annotated[
        bool, typer.Option("--only", help="Keep each feature or group alone, instead of taking it away.")
    ] = False,
    folds: FoldsOption = 5,
    repeats: RepeatsOption = 1,
    validation: ValidationOption = 0.0,
    random_state: RandomStateOption = 0,
    workers: WorkersOption = None,
    plot: PlotOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Fit a ranker without each feature or group, and test what is lost.

    Example:

        rankwright analyse features lambdamart --data judged.txt --group text=1,2,3
    """
    from rankwright.analyses.ablation import count_ablation_fits
    from rankwright.crossval.splits import SplitOptions

    checked_plot(plot, inputs=files_of(data))
    groups, chosen = _groups(group), make_ranker(ranker, settings or [], jobs)
    collection = read_collection(data, reading, jobs)
    how: dict[str, Any] = {"folds": folds, "repeats": repeats, "validation": validation}
    n_fits = count_ablation_fits(collection, SplitOptions(**how, random_state=random_state), groups)
    how |= {"random_state": random_state, "metric": metric, "convention": convention, "workers": workers}
    how |= {"features": groups, "how": "only" if only else "drop"}
    with several_fits(f"training {ranker}", n_fits) as on_fit:
        found = rw.analyses.ablation(chosen, collection, **how, on_fit=on_fit)
    show_analysis(found, plot, json)


def _sizes(text: str) -> list[float]:
    try:
        return [float(one) if "." in one else int(one) for one in text.split(",")]
    except ValueError:
        raise InputError(f"--sizes takes numbers separated by commas, such as 50,100,200, not {text!r}.") from None


def _groups(texts: list[str] | None) -> dict[str, list[str]] | None:
    found: dict[str, list[str]] = {}
    for text in texts or ():
        name, equals, members = (part.strip() for part in text.partition("="))
        if not name or not equals or not members:
            raise InputError(f"--group takes NAME=A,B,..., not {text!r}.")
        if name in found:
            raise InputError(f"--group gives {name} twice.")
        found[name] = [one.strip() for one in members.split(",")]
    return found or None
