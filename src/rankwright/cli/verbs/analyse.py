"""`rankwright analyse KIND`: the analyses that the papers make, for any systems."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.analysis_options import (
    MetricOption,
    PlotOption,
    RoundsOption,
    checked_plot,
    show_analysis,
)
from rankwright.cli.options.data_files import FORMATS, ReadOptions, read_data, reads_data
from rankwright.cli.options.shared_options import (
    ConventionOption,
    DropOneLabelFlag,
    JobsOption,
    JsonFlag,
    JudgedOption,
    MinRelevantOption,
    QueriesOption,
    RunConventionOption,
    SystemFiles,
    numbers,
    require_distinct,
)
from rankwright.cli.options.verb_groups import Group
from rankwright.cli.verbs.analyse_fits import bound, features, metrics, queries, steps

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
    from rankwright.cli.options.system_files import opened

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
    from rankwright.cli.options.system_files import opened

    checked_plot(plot, inputs=(data, *files))
    how: dict[str, Any] = {"metric": metric, "convention": convention, "queries": queries, "n_jobs": jobs}
    into = starts if "," in groups else starts[0]
    with opened(files, data, reading, jobs) as (systems, judged):
        found = rw.analyses.by_pairs(systems, judged, groups=into, **how)
    show_analysis(found, plot, json)


@reads_data
def cutoffs(
    files: SystemFiles,
    data: JudgedOption,
    reading: ReadOptions,
    metric: Annotated[
        str,
        typer.Option("--metric", metavar="NAME", help="Metric without its cut-off: ndcg, p, err, recall or dcg."),
    ] = "ndcg",
    cutoffs: Annotated[
        str, typer.Option("--cutoffs", metavar="LIST", help="Cut-offs, such as 1-10 or 1,3,5,10.")
    ] = "1-10",
    convention: RunConventionOption = None,
    queries: QueriesOption = None,
    min_relevant: MinRelevantOption = 0,
    drop_one_label: DropOneLabelFlag = False,
    plot: PlotOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Measure systems at several cut-offs: NDCG@1 to NDCG@10.

    Example:

        rankwright analyse cutoffs old.rw new.rw --data test.txt --plot curves.svg
    """
    from rankwright.cli.options.system_files import opened

    checked_plot(plot, inputs=(data, *files))
    how: dict[str, Any] = {"convention": convention, "queries": queries, "n_jobs": jobs}
    how |= {"min_relevant": min_relevant, "drop_one_label": drop_one_label}
    with opened(files, data, reading, jobs) as (systems, judged):
        found = rw.analyses.cutoff_curves(systems, judged, metric=metric, cutoffs=cutoffs, **how)
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
    trees: Annotated[
        str | None,
        typer.Option(
            "--trees",
            metavar="LIST",
            help="In place of --rounds: numbers of trees, such as 100,500. A round of mcrank may have one tree "
            "per class.",
        ),
    ] = None,
    cost: Annotated[
        str, typer.Option("--cost", metavar="WHAT", help="microseconds per document, or the number of trees.")
    ] = "microseconds",
    plot: PlotOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Measure models, cut to fewer rounds, against their speed.

    Example:

        rankwright analyse speed lambdamart.rw mcrank.rw --data test.txt --cost trees --trees 100,500,1000
    """
    cut: dict[str, Any] = {
        "rounds": None if rounds is None else numbers("--rounds", rounds),
        "trees": None if trees is None else numbers("--trees", trees),
    }
    checked_plot(plot, inputs=(data, *models))
    systems = _models(models)
    scorers = [one for one in systems.values() if isinstance(one, rw.Scorer)]
    judged = read_data(data, reading, scorers, n_jobs=jobs)
    how: dict[str, Any] = {"metric": metric, "convention": convention, "n_jobs": jobs}
    show_analysis(rw.analyses.speed_accuracy(systems, judged, **cut, cost=cost, **how), plot, json)


def _models(files: Iterable[Path]) -> dict[str, Any]:
    """Return models by the names of their files; refuse scores, which have neither rounds nor speed."""
    from rankwright.cli.options.foreign_models import ForeignModel
    from rankwright.cli.options.system_files import open_system

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
    "Systems": (errors, pairs, cutoffs, rounds, speed, steps),
    "Fits of a ranker": (bound, metrics, queries, features),
}
for panel, kinds in PANELS.items():
    for kind in kinds:
        analyse.command(rich_help_panel=panel)(kind)
