"""`rankwright analyse KIND`: the functions of `rankwright.analyses`, for systems, models or rankers to fit."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.data_files import FORMATS, ReadOptions, files_of, read_collection, read_data
from rankwright.cli.options.faces import Face, integers
from rankwright.cli.options.option_groups import REQUIRED, argument, option, with_signature
from rankwright.cli.options.rankers import RANKER, SETTINGS, by_name, make_ranker, make_rankers
from rankwright.cli.options.shared_options import (
    FOLDS,
    JOBS,
    JSON,
    JUDGED_DATA,
    PLOT,
    SYSTEM_FILES,
    TRAINING_DATA,
    check_plot,
    named_files,
)
from rankwright.cli.options.signatures import Given, options_of, summary
from rankwright.cli.output.console import note, show
from rankwright.cli.output.fit_progress import exit_if_interrupted, fit_with_progress, several_fits
from rankwright.cli.verb_groups import VerbGroup
from rankwright.reports.result import Result

MODELS = argument("One or more model files; NAME=FILE names one.", "MODEL...", default=REQUIRED)


@dataclass(frozen=True)
class AnalysisKind:
    """A kind of analysis.

    Parameters
    ----------
    function
        Its function in `rankwright.analyses`.
    body
        What such functions analyse and how it is read: a verb that takes the kind first, and `how` to analyse.
    example
        The words of an example after the name of the kind.
    summary
        The first sentence of its help, by default that of the function.
    without, faces
        As for `Signature`.
    """

    function: str
    body: Callable[..., None]
    example: str
    summary: str = ""
    without: tuple[str, ...] = ()
    faces: Mapping[str, Face] = field(default_factory=dict)

    def run(self, *arguments: Any, **how: Any) -> Result:
        """Call the function."""
        result: Result = getattr(rw.analyses, self.function)(*arguments, **how)
        return result


def _of_systems(
    kind: AnalysisKind,
    *,
    systems: list[str] = SYSTEM_FILES,
    data: Path = JUDGED_DATA,
    reading: ReadOptions,
    how: Given,
    plot: Path | None = PLOT,
    json: bool = JSON,
) -> None:
    from rankwright.cli.options.system_files import opened

    files = named_files(systems)
    check_plot(plot, inputs=(data, *files.values()))
    with opened(files, data, reading, how["n_jobs"]) as (analysed, judged):
        result = kind.run(analysed, judged, **how)
    _show(result, plot, json)


def _of_models_by_round(
    kind: AnalysisKind,
    *,
    models: list[str] = MODELS,
    train: Path = option(f"Judged documents that the models learned from ({FORMATS}).", "FILE", default=REQUIRED),
    test: Path = option("Other judged documents.", "FILE", default=REQUIRED),
    reading: ReadOptions,
    how: Given,
    plot: Path | None = PLOT,
    json: bool = JSON,
) -> None:
    files = named_files(models)
    check_plot(plot, inputs=(train, test, *files.values()))
    systems = _models(files)
    parts = [read_data(path, reading, list(systems.values()), n_jobs=how["n_jobs"]) for path in (train, test)]
    _show(kind.run(systems, *parts, **how), plot, json)


def _of_models(
    kind: AnalysisKind,
    *,
    models: list[str] = MODELS,
    data: Path = option(f"Judged documents ({FORMATS}).", "FILE", default=REQUIRED),
    reading: ReadOptions,
    how: Given,
    plot: Path | None = PLOT,
    json: bool = JSON,
) -> None:
    files = named_files(models)
    check_plot(plot, inputs=(data, *files.values()))
    systems = _models(files)
    scorers = [system for system in systems.values() if isinstance(system, rw.Scorer)]
    judged = read_data(data, reading, scorers, n_jobs=how["n_jobs"])
    _show(kind.run(systems, judged, **how), plot, json)


def _of_steps(
    kind: AnalysisKind,
    *,
    systems: list[str] = argument(
        "Model files of trees, also as NAME=FILE; with --train, rankers to train, such as adarank, also as "
        "NAME=RANKER.",
        "MODEL...",
        default=REQUIRED,
    ),
    reading: ReadOptions,
    train: Path | None = option("Judged documents to train rankers on, for the weights of rounds.", "FILE"),
    settings: list[str] | None = SETTINGS,
    plot: Path | None = PLOT,
    jobs: int | None = JOBS,
    json: bool = JSON,
) -> None:
    if train is None:
        files = named_files(systems)
        check_plot(plot, inputs=files.values())
        if settings:
            raise InputError("--set is for rankers to train; add --train or leave it out.")
        _show(kind.run({name: rw.load(path) for name, path in files.items()}), plot, json)
        return
    check_plot(plot, inputs=(train,))
    rankers = make_rankers(systems, settings or [], jobs)
    judged = read_data(train, reading, n_jobs=jobs)
    for ranker in rankers.values():
        fit_with_progress(ranker, judged)
        exit_if_interrupted(ranker)
    _show(kind.run(rankers), plot, json)


def _of_fit(
    kind: AnalysisKind,
    *,
    ranker: str = RANKER,
    train: Path = TRAINING_DATA,
    reading: ReadOptions,
    settings: list[str] | None = SETTINGS,
    plot: Path | None = PLOT,
    jobs: int | None = JOBS,
    json: bool = JSON,
) -> None:
    check_plot(plot, inputs=(train,))
    chosen = make_ranker(ranker, settings or [], jobs)
    fit_with_progress(chosen, read_data(train, reading, n_jobs=jobs))
    _show(kind.run(chosen), plot, json)
    exit_if_interrupted(chosen)


def _of_fits(
    kind: AnalysisKind,
    *,
    ranker: str = RANKER,
    data: Path = FOLDS,
    reading: ReadOptions,
    how: Given,
    settings: list[str] | None = SETTINGS,
    plot: Path | None = PLOT,
    jobs: int | None = JOBS,
    json: bool = JSON,
) -> None:
    check_plot(plot, inputs=files_of(data))
    chosen = make_ranker(ranker, settings or [], jobs)
    collection = read_collection(data, reading, jobs)
    with several_fits(f"training {ranker}", _count_fits(kind.function, collection, how)) as on_fit:
        result = kind.run(chosen, collection, **how, on_fit=on_fit)
    _show(result, plot, json)


def _count_fits(function: str, collection: Any, how: Given) -> int:
    """Return the number of fits of an analysis."""
    from rankwright.analyses.ablation import count_ablation_fits
    from rankwright.analyses.learning_curve import count_learning_fits
    from rankwright.crossval.folds import count_folds
    from rankwright.crossval.splits import SplitOptions

    splits = SplitOptions(
        **{name: how[name] for name in ("folds", "repeats", "validation", "random_state") if name in how}
    )
    if function == "ablation":
        return count_ablation_fits(collection, splits, how["features"])
    if function == "learning_curve":
        return count_learning_fits(collection, splits, how["sizes"], how["draws"])
    return len(rw.metrics.parse_metrics(how["metrics"])) * count_folds(collection, splits)


def _models(files: Mapping[str, Path]) -> dict[str, Any]:
    """Return models by name; refuse scores, which have neither rounds nor speed."""
    from rankwright.cli.options.foreign_models import ForeignModel
    from rankwright.cli.options.system_files import open_system

    systems = {name: open_system(path) for name, path in files.items()}
    for name, system in systems.items():
        if not isinstance(system, rw.Scorer | ForeignModel):
            raise InputError(f"{name} holds scores; this analysis needs model files.")
    return systems


def _show(result: Result, plot: Path | None, json: bool) -> None:
    if plot is not None:
        result.charts[0].save(plot)
        note(f"wrote {plot}")
    show(result, json=json)


def _groups(option: str, texts: Sequence[str]) -> dict[str, list[str]] | None:
    groups = by_name(option, "NAME=A,B,...", texts)
    return {name: [feature.strip() for feature in text.split(",")] for name, text in groups.items()} or None


ABLATION = {
    "features": Face(
        "NAME=A,B,...",
        "--group",
        words="A group of features, by name, pattern (bm25_*) or, without names, LETOR's number; may be repeated. "
        "By default every feature alone.",
        read=_groups,
        type=list[str] | None,
    ),
    "how": Face(
        option="--only",
        words="Keep each feature or group alone, instead of taking it away.",
        read=lambda _, only: "only" if only else "drop",
        type=bool,
    ),
}
CUTOFFS = {"metric": Face("NAME", words="Metric without its cut-off: ndcg, p, err, recall or dcg.")}
RERANKING = {
    "milliseconds": Face("N", words="The time that the second system takes for a document.", type=float),
    "depths": Face("LIST", read=integers, type=str),
}
BOUND = "Train AdaRank, RankBoost or MPBoost, and show the bound that its theorem gives by round."
STEPS = "Show how far every round of boosted models goes."

KINDS = {
    "errors": AnalysisKind("pair_errors", _of_systems, "old.rw new.rw --data test.txt", without=("names",)),
    "pairs": AnalysisKind("by_pairs", _of_systems, "old.rw new.rw --data test.txt --metric map"),
    "cutoffs": AnalysisKind(
        "cutoff_curves", _of_systems, "old.rw new.rw --data test.txt --plot curves.svg", faces=CUTOFFS
    ),
    "rounds": AnalysisKind("overfitting", _of_models_by_round, "model.rw --train train.txt --test test.txt"),
    "speed": AnalysisKind("speed_accuracy", _of_models, "a.rw --data test.txt --cost trees --trees 100,500"),
    "reranking": AnalysisKind(
        "reranking", _of_systems, "old.rw new.rw --data test.csv --milliseconds 12", faces=RERANKING
    ),
    "steps": AnalysisKind("steps", _of_steps, "adarank rankboost --train train.txt", STEPS),
    "bound": AnalysisKind("bound_curve", _of_fit, "adarank --train train.txt", BOUND),
    "metrics": AnalysisKind("metric_transfer", _of_fits, "adarank --data judged.txt --metrics map,ndcg@5"),
    "queries": AnalysisKind("learning_curve", _of_fits, "lambdamart --data judged.txt"),
    "features": AnalysisKind(
        "ablation", _of_fits, "lambdamart --data judged.txt --group text=1,2,3", faces=ABLATION
    ),
}


class Kinds(VerbGroup):
    """The kinds of analysis."""

    panels: ClassVar[Mapping[str, Sequence[str]]] = {
        "Systems": ("errors", "pairs", "cutoffs", "rounds", "speed", "reranking", "steps"),
        "Fits of a ranker": ("bound", "metrics", "queries", "features"),
    }

    def load(self, name: str) -> Callable[..., None]:
        """Return the verb of a kind."""
        kind = KINDS[name]
        options = options_of(f"analyses.{kind.function}", without=kind.without, faces=kind.faces)
        parameters = [
            each.replace(default=options) if each.name == "how" else each
            for each in inspect.signature(kind.body, eval_str=True).parameters.values()
            if each.name != "kind"
        ]

        def verb(**given: Any) -> None:
            kind.body(kind, **given)

        words = kind.summary or summary(f"analyses.{kind.function}")
        verb.__doc__ = f"{words}\n\nExample:\n\n    rankwright analyse {name} {kind.example}\n"
        return with_signature(verb, parameters)


analyse = typer.Typer(
    cls=Kinds,
    add_completion=False,
    subcommand_metavar="KIND ...",
    no_args_is_help=True,
)


@analyse.callback()
def _options() -> None:
    """Look into systems: which labels they confuse, where they overfit, what would help.

    Example:

        rankwright analyse errors old.rw new.rw --data test.txt
    """
