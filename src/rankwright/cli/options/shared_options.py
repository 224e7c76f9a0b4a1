"""Inputs of the command line that several verbs share: options, outputs to check, rankers and their parameters."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.completion import (
    complete_convention,
    complete_metric,
    complete_ranker,
    complete_setting,
)
from rankwright.cli.options.config import merged_settings
from rankwright.cli.options.data_files import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankwright.rankers.ranker import Ranker

# Written out, since help must not wait for numpy; a test compares them with the metrics and conventions.
METRICS = ("ndcg", "dcg", "mean_ndcg", "map", "mrr", "err", "p", "recall", "wta", "pair_accuracy", "kendall_tau")
PICTURES = ".svg, .png, .html or .json"
CONVENTIONS = ("standard", "letor3", "letor4", "trec", "lightgbm", "sklearn")

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
PlainJsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, metavar="N", help="Number of threads; by default all that this process may use."
    ),
]
MetricsOption = Annotated[
    str,
    typer.Option(
        "--metrics",
        metavar="LIST",
        help="Metrics separated by commas, such as ndcg@10 for the first 10 ranks, or ndcg@1-10 for each of them: "
        f"{', '.join(METRICS)}.",
        autocompletion=complete_metric,
    ),
]
ConventionOption = Annotated[
    str,
    typer.Option(
        "--convention",
        metavar="NAME",
        help=f"The tool whose definitions of metrics to use: {', '.join(CONVENTIONS)}.",
        autocompletion=complete_convention,
    ),
]
RunConventionOption = Annotated[
    str | None,
    typer.Option(
        "--convention",
        metavar="NAME",
        help=f"The tool whose definitions of metrics to use: {', '.join(CONVENTIONS)}. By default trec for runs "
        "and TREC judgements, otherwise standard.",
        autocompletion=complete_convention,
    ),
]
QueriesOption = Annotated[
    str | None,
    typer.Option(
        "--queries",
        metavar="WHICH",
        help="If a run has no document for some judged queries: shared measures the queries that all systems "
        "have, judged measures all, and such a query counts as 0. By default it is an error.",
    ),
]
MinRelevantOption = Annotated[
    int,
    typer.Option(
        "--min-relevant",
        min=0,
        metavar="N",
        help="Drop queries with fewer than N relevant documents (label >= 1); how many is printed.",
    ),
]
DropOneLabelFlag = Annotated[
    bool,
    typer.Option(
        "--drop-one-label",
        help="Leave out queries whose documents all have the same label: all rankings of them are equally good.",
    ),
]
SystemFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Systems: model files (of rankwright, LightGBM, XGBoost, CatBoost or RankLib), files with one score "
        "per line, tables written by predict, TREC runs.",
    ),
]
JudgedOption = Annotated[
    Path,
    typer.Option(
        "--data", metavar="FILE", help=f"Judged documents ({FORMATS}); for runs also TREC judgements (qrels)."
    ),
]
RankerArgument = Annotated[
    str,
    typer.Argument(
        metavar="RANKER",
        help="Ranking method, such as lambdamart; `rankwright rankers` lists all.",
        autocompletion=complete_ranker,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Set a parameter of the ranker; may be repeated. `rankwright rankers RANKER` lists all parameters.",
        callback=merged_settings,
        autocompletion=complete_setting,
    ),
]

AsPrintedFlag = Annotated[
    bool,
    typer.Option(
        "--as-printed",
        help="Use the parameters of the ranker's paper in place of the defaults; --set changes them. `rankwright "
        "rankers RANKER` lists them.",
    ),
]


def checked_output(path: Path, *, inputs: Iterable[Path | None] = ()) -> Path:
    """Refuse, before any long work, a path that cannot be written or that the command reads."""
    if str(path) == "-":
        raise InputError("- is standard output, where only scores and rankings can go; name a file.")
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file to write.")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}.")
    if not os.access(folder := path.resolve().parent, os.W_OK):  # where a symbolic link leads
        raise InputError(f"{path} cannot be written: nothing can be written to the folder {folder}.")
    if any(one is not None and one.exists() and path.exists() and one.samefile(path) for one in inputs):
        raise InputError(f"{path} is an input of this command; write to another file.")
    return path


def checked_picture(path: Path, *, inputs: Iterable[Path | None] = ()) -> Path:
    """Refuse, before any long work, a file that a chart cannot be written to."""
    rw.charts.require_drawing(path)
    return checked_output(path, inputs=inputs)


def numbers(option: str, text: str) -> list[int]:
    """Return integers that are separated by commas."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise InputError(
            f"{option} takes integers separated by commas, such as 50,100,200, not {text!r}."
        ) from None


def require_distinct(models: Sequence[Path]) -> None:
    """Refuse a file that is given twice."""
    for place, path in enumerate(models):
        if path in models[:place]:
            raise InputError(f"{path} is given twice.")


def make_ranker(name: str, settings: Sequence[str], n_jobs: int | None, *, as_printed: bool = False) -> Ranker:
    """Return the ranker of that name with its parameters set, each as `name=value`."""
    from rankwright.rankers import catalogue

    given = ({"as_printed": "true"} if as_printed else {}) | dict(map(_setting, settings))
    if n_jobs is not None and "n_jobs" in given:
        raise InputError("Give --jobs or --set n_jobs, not both.")
    ranker = catalogue.make_ranker(name, **given)
    return ranker if n_jobs is None else ranker.set_params(n_jobs=n_jobs)


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise InputError(f"--set takes name=value, not {text!r}.")
    return name, value
