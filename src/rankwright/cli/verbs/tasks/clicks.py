"""`rankwright clicks TASK`: logs of clicks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.click_logs import LOG, LogOptions
from rankwright.cli.options.data_files import FORMATS, LETOR, ReadOptions, read_data, read_documents_with_labels
from rankwright.cli.options.faces import Face, names
from rankwright.cli.options.option_groups import REQUIRED, argument, option
from rankwright.cli.options.rankers import SETTINGS, make_ranker
from rankwright.cli.options.result_options import ResultOptions
from rankwright.cli.options.shared_options import (
    JSON,
    MODEL_TO_WRITE,
    REPORT,
    check_report,
    checked_output,
    named_files,
)
from rankwright.cli.options.signatures import Given, options_of
from rankwright.cli.output.console import describe, note, show, show_json, write_text
from rankwright.cli.verb_groups import VerbGroup
from rankwright.cli.verbs.tasks.click_verdicts import ab, evaluate, interleaving, plan

SIMULATION = {
    "behaviour": Face("NAME", words="How users click: position, cascade, browsing, dependent, trust or none."),
    "sessions": Face("N"),
    "power": Face("NUMBER"),
    "depth": Face("N", more={"min": 1}),
    "eta": Face("NUMBER", words="How fast examination falls with the position; by default 1."),
    "noise": Face("FRACTION"),
    "trust": Face("FRACTION", words="Trust of the behaviour trust; by default 0.5.", rare=True),
    "shuffled": Face("FRACTION"),
    "random_state": Face("N", "--seed", more={"min": 0}),
}


def simulate(
    *,
    systems: list[str] | None = argument(
        "What orders the documents: model files, score files, runs. NAME=FILE names one. Every session uses one "
        "of several at random.",
        "SYSTEM...",
    ),
    data: Path = option(f"Judged documents ({FORMATS}).", "FILE", default=REQUIRED),
    out: Path = option("Log to write: .csv, .tsv or .parquet, one row per impression.", "FILE", default=REQUIRED),
    by: str | None = option(
        "Column of the data, or number of a LETOR feature, that orders the documents in place of a system: "
        "ascending, or descending with - before it, such as -sales or -25.",
        "COLUMN",
    ),
    reading: ReadOptions,
    how: Given = options_of("clicks.simulate", faces=SIMULATION),
    json: bool = JSON,
) -> None:
    """Simulate users who click on the results of a ranker, whose relevance is known.

    Example:

        rankwright clicks simulate old.rw --data train.txt --out log.csv
    """
    from rankwright.cli.options.system_files import opened
    from rankwright.data.writers import is_table_name, write_table

    files = named_files(systems or [])
    if not files and by is None:
        raise InputError("Name a system that orders the documents, or a column with --by.")
    if not is_table_name(out):
        raise InputError(f"The name of a log ends with .csv, .tsv, .parquet, .csv.gz or .tsv.gz, not {out.name}.")
    checked_output(out, inputs=(data, *files.values()))
    in_table = by if reading.format_of(data) != LETOR else None  # a feature of a LETOR file is known by its number
    with opened(files, data, reading, how["n_jobs"], in_table) as (rankers, judged):
        order = {} if by is None else {by: by}
        log = rw.clicks.simulate(judged, order | rankers, **how)
    write_table(log.columns(), out)
    note(f"wrote {out}: {_size(log)}")
    if json:
        facts = {"impressions": len(log), "lists": log.n_lists, "clicks": log.n_clicks}
        show_json({"out": str(out), **facts})


def _size(log: Any) -> str:
    return repr(log).removeprefix("ClickLog(").removesuffix(")")


def check(*, log: Path = LOG, how: LogOptions, output: ResultOptions) -> None:
    """Describe a click log, and say what would mislead whoever learns from it.

    Example:

        rankwright clicks check log.csv
    """
    _show_result(log, rw.clicks.check, how, {}, output)


def models(
    *,
    log: Path = LOG,
    how: LogOptions,
    options: Given = options_of(
        "clicks.compare_click_models",
        faces={
            "models": Face("LIST", read=names, type=str),
            "fraction": Face("FRACTION"),
            "random_state": Face("N", "--seed", more={"min": 0}),
        },
    ),
    output: ResultOptions,
) -> None:
    """Fit click models to a part of a log, and compare them by the clicks of the other sessions.

    Example:

        rankwright clicks models log.csv --models position,browsing
    """
    _show_result(log, rw.clicks.compare_click_models, how, options, output)


def propensities(
    *,
    log: Path = LOG,
    how: LogOptions,
    options: Given = options_of(
        "clicks.propensities",
        without=("data",),
        faces={
            "method": Face("NAME"),
            "policy": Face("NAME", type=str),
            "random_state": Face("N", "--seed", rare=True, more={"min": 0}),
        },
    ),
    data: Path | None = option(
        f"Documents with features, for the methods features and trust ({FORMATS}).", "FILE"
    ),
    reading: ReadOptions,
    output: ResultOptions,
) -> None:
    """Estimate how likely users examine each position, relative to the first.

    Example:

        rankwright clicks propensities log.csv --plot propensities.svg
    """
    documents = {} if data is None else {"data": read_documents_with_labels(data, reading)}
    _show_result(log, rw.clicks.propensities, how, options | documents, output)


def _show_result(log: Path, analyse: Any, how: LogOptions, options: Given, output: ResultOptions) -> None:
    """Analyse a log, and show the result."""
    output.check(log)
    output.show(analyse(how.read(log), **options))


def judge(
    *,
    log: Path = LOG,
    how: LogOptions,
    data: Path = option(f"Documents of the log ({FORMATS}).", "FILE", default=REQUIRED),
    out: Path = option("Documents with labels to write: .csv, .tsv, .parquet or LETOR.", "FILE", default=REQUIRED),
    weights: Path | None = option("File for the weights of the written documents, one per line.", "FILE"),
    model: str = option("Click model that estimates attraction.", "NAME", default="position"),
    reading: ReadOptions,
    json: bool = JSON,
) -> None:
    """Write documents with labels from clicks: the attraction that a click model estimates.

    Example:

        rankwright clicks judge log.csv --data docs.txt --out judged.txt
    """
    from rankwright.data.writers import write_documents

    for path in (out, weights):
        if path is not None:
            checked_output(path, inputs=(log, data))
    judged = rw.clicks.click_judgements(how.read(log), read_documents_with_labels(data, reading), model)
    write_documents(judged.data, out)
    note(f"wrote {out}: {describe(judged.data)}")
    if weights is not None:
        write_text("".join(f"{weight:.6g}\n" for weight in judged.weights.tolist()), weights)
        note(f"wrote {weights}")
    show(judged, json=json)


def train(
    *,
    log: Path = LOG,
    how: LogOptions,
    data: Path = option(f"Documents of the log with features ({FORMATS}).", "FILE", default=REQUIRED),
    model: Path = MODEL_TO_WRITE,
    ranker: str = option("Ranking method that learns.", "RANKER", default="lambdamart"),
    settings: list[str] | None = SETTINGS,
    judged: Path | None = option("Documents with human labels, which decide where there are enough.", "FILE"),
    options: Given = options_of(
        "clicks.learn",
        without=("ranker", "judged"),
        faces={
            "by": Face("WAY", words="How clicks are corrected: judgements, weights or unbiased."),
            "models": Face("LIST", read=names, type=str),
            "random_state": Face("N", "--seed", more={"min": 0}),
        },
    ),
    reading: ReadOptions,
    report: Path | None = REPORT,
    json: bool = JSON,
) -> None:
    """Learn a ranker from clicks, corrected for position bias where the log supports that, and save it.

    Example:

        rankwright clicks train log.csv --data docs.txt --model model.rw
    """
    checked_output(model, inputs=(log, data, judged))
    check_report(report, inputs=(log, data, judged), model=model)
    chosen = make_ranker(ranker, settings or [], options["n_jobs"])
    documents = read_documents_with_labels(data, reading)
    human = None if judged is None else read_data(judged, reading, [documents])
    learned = rw.clicks.learn(how.read(log), documents, chosen, judged=human, **options)
    rw.save(learned.ranker, model)
    note(f"wrote {model}")
    if report is not None:
        learned.write_page(report)
        note(f"wrote {report}")
    show(learned, json=json)


TASKS = {
    "simulate": simulate,
    "check": check,
    "models": models,
    "propensities": propensities,
    "judge": judge,
    "evaluate": evaluate,
    "train": train,
    "interleaving": interleaving,
    "ab": ab,
    "plan": plan,
}


class Tasks(VerbGroup):
    """What can be done with clicks."""

    panels: ClassVar[Mapping[str, Sequence[str]]] = {
        "Logs": ("simulate", "check"),
        "Models": ("models", "propensities", "judge", "train"),
        "Verdicts": ("evaluate", "interleaving", "ab", "plan"),
    }

    def load(self, name: str) -> Any:
        """Return the verb of a task."""
        return TASKS[name]


clicks = typer.Typer(cls=Tasks, add_completion=False, subcommand_metavar="TASK ...", no_args_is_help=True)


@clicks.callback()
def _options() -> None:
    """Work with logs of clicks: simulate and check them, fit click models, learn rankers.

    Example:

        rankwright clicks simulate old.rw --data train.txt --out log.csv
    """
