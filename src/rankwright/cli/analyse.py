"""`rankwright analyse KIND`: the analyses that the papers make, for any systems."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

import rankwright as rw
from rankwright.cli.analyse_fits import bound, features, metrics, queries, steps
from rankwright.cli.analysis import (
    MetricOption,
    PlotOption,
    RoundsOption,
    checked_plot,
    show_analysis,
)
from rankwright.cli.groups import Group
from rankwright.cli.inputs import (
    ConventionOption,
    JobsOption,
    JsonFlag,
    JudgedOption,
    QueriesOption,
    RunConventionOption,
    SystemFiles,
    numbers,
    require_distinct,
)
from rankwright.cli.reading import FORMATS, ReadOptions, read_data, reads_data
from rankwright.errors import InputError

ModelsArgument = Annotated[list[Path], typer.Argument(metavar="MODEL...", help="One or more model files.")]
DataOption = Annotated[Path, typer.Option("--data", metavar="FILE", help=f"Judged documents ({FORMATS}).")]


@reads_data
def errors(
    files: SystemFiles,
    data: JudgedOption,
    reading: ReadOptions,
    queries: QueriesOption = None,
    plot: PlotOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Count misordered pairs of documents, by their labels.

    Example:

        rankwright analyse errors old.rw new.rw --data test.txt
    """
    from rankwright.cli.systems import opened

    checked_plot(plot, inputs=(data, *files))
    with opened(files, data, reading, jobs) as (systems, judged):
        found = rw.analyses.pair_errors(systems, judged, queries=queries, n_jobs=jobs)
    show_analysis(found, plot, json)


@reads_data
def pairs(
    files: SystemFiles,
    data: JudgedOption,
    reading: ReadOptions,
    metric: MetricOption = "ndcg@10",
    convention: RunConventionOption = None,
    queries: QueriesOption = None,
    groups: Annotated[
        str,
        typer.Option(
            "--groups",
            metavar="N or LIST",
            help="Number of groups of about as many queries; or where groups begin, such as 1,1000,2000.",
        ),
    ] = "5",
    plot: PlotOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Measure queries with few and with many pairs of documents.

    Example:

        rankwright analyse pairs old.rw new.rw --data test.txt --metric map
    """
    starts = numbers("--groups", groups)
    from rankwright.cli.systems import opened

    checked_plot(plot, inputs=(data, *files))
    how: dict[str, Any] = {"metric": metric, "convention": convention, "queries": queries, "n_jobs": jobs}
    into = starts if "," in groups else starts[0]
    with opened(files, data, reading, jobs) as (systems, judged):
        found = rw.analyses.by_pairs(systems, judged, groups=into, **how)
    show_analysis(found, plot, json)


@reads_data
def rounds(
    models: ModelsArgument,
    train: Annotated[
        Path,
        typer.Option(
            "--train", metavar="FILE", help=f"Judged documents that the models learned from ({FORMATS})."
        ),
    ],
    test: Annotated[Path, typer.Option("--test", metavar="FILE", help="Other judged documents.")],
    reading: ReadOptions,
    metric: MetricOption = "ndcg@10",
    convention: ConventionOption = "standard",
    rounds: RoundsOption = None,
    plot: PlotOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Measure boosted models by round, on training and test queries.

    Example:

        rankwright analyse rounds model.rw --train train.txt --test test.txt
    """
    cut = None if rounds is None else numbers("--rounds", rounds)
    checked_plot(plot, inputs=(train, test, *models))
    systems = _models(models)
    parts = [read_data(path, reading, list(systems.values()), n_jobs=jobs) for path in (train, test)]
    how: dict[str, Any] = {"metric": metric, "convention": convention, "n_jobs": jobs}
    show_analysis(rw.analyses.overfitting(systems, *parts, rounds=cut, **how), plot, json)


@reads_data
def speed(
    models: ModelsArgument,
    data: DataOption,
    reading: ReadOptions,
    metric: MetricOption = "ndcg@10",
    convention: ConventionOption = "standard",
    rounds: RoundsOption = None,
    cost: Annotated[
        str, typer.Option("--cost", metavar="WHAT", help="microseconds per document, or the number of trees.")
    ] = "microseconds",
    plot: PlotOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Measure models, cut to fewer rounds, against their speed.

    Example:

        rankwright analyse speed small.rw large.rw --data test.txt
    """
    cut = None if rounds is None else numbers("--rounds", rounds)
    checked_plot(plot, inputs=(data, *models))
    systems = _models(models)
    scorers = [one for one in systems.values() if isinstance(one, rw.Scorer)]
    judged = read_data(data, reading, scorers, n_jobs=jobs)
    how: dict[str, Any] = {"metric": metric, "convention": convention, "n_jobs": jobs}
    show_analysis(rw.analyses.speed_accuracy(systems, judged, rounds=cut, cost=cost, **how), plot, json)


def _models(files: Iterable[Path]) -> dict[str, Any]:
    """Return models by the names of their files; refuse scores, which have neither rounds nor speed."""
    from rankwright.cli.foreign import ForeignModel
    from rankwright.cli.systems import open_system

    require_distinct(list(files))
    systems = {str(path): open_system(path) for path in files}
    for name, one in systems.items():
        if not isinstance(one, rw.Scorer | ForeignModel):
            raise InputError(f"{name} holds scores; this analysis needs model files.")
    return systems


analyse = typer.Typer(
    cls=Group,
    help="Look into systems: which labels they confuse, where they overfit, what would help.\n\n"
    "Example:\n\n    rankwright analyse errors old.rw new.rw --data test.txt",
    subcommand_metavar="KIND ...",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
PANELS = {
    "Systems": (errors, pairs, rounds, speed, steps),
    "Fits of a ranker": (bound, metrics, queries, features),
}
for panel, kinds in PANELS.items():
    for kind in kinds:
        analyse.command(rich_help_panel=panel)(kind)
