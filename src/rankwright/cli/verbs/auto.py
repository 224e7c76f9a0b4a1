"""`rankwright auto`."""

from __future__ import annotations

import time as clock
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.wording import counted, shown_p_value
from rankwright.cli.options.completion import complete_companions, complete_metric, complete_rankers
from rankwright.cli.options.config import configurable
from rankwright.cli.options.data_files import FORMATS, ReadOptions, reads_data
from rankwright.cli.options.judged_collection import files_of, read_all_queries
from rankwright.cli.options.page_option import ReportOption, check_report, this_command
from rankwright.cli.options.shared_options import JobsOption, JsonFlag, checked_output
from rankwright.cli.options.tuning_options import INTERRUPTED
from rankwright.cli.output.console import describe, note, problem, say, show_json, show_table
from rankwright.cli.output.member_table import standings_shown
from rankwright.cli.verbs.train import ModelOption, exit_if_interrupted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright import AutoRanker
    from rankwright.auto.standings import MemberStanding
    from rankwright.data.dataset import RankingData
    from rankwright.statistics.intervals import Rival

# What messages of AutoRanker call its parameters, and what the command line calls them.
OPTIONS = {"time_limit=": "--time ", "max_microseconds=": "--max-us ", "interpretable=True": "--interpretable"}

DataOption = Annotated[
    Path,
    typer.Option(
        "--data",
        metavar="PATH",
        help=f"Judged documents ({FORMATS}); or a folder with Fold1, Fold2, ..., as in LETOR, whose test parts "
        "together are all queries; or one such fold, whose train.txt and vali.txt are used and test.txt is not.",
    ),
]
TimeOption = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="TIME",
        help="Time for all fits, such as 90s, 10m or 1h: a ranker that would take longer than the time left is "
        "skipped. By default there is no limit.",
    ),
]
MaxUsOption = Annotated[
    str | None,
    typer.Option(
        "--max-us",
        metavar="N",
        help="Longest time to score one document on one thread of this machine, in microseconds: members are left "
        "out or cut to fewer rounds until the model is as fast. By default there is no limit.",
    ),
]
MetricOption = Annotated[
    str,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="Metric that judges members and mixtures.",
        autocompletion=complete_metric,
    ),
]
InterpretableFlag = Annotated[
    bool,
    typer.Option("--interpretable", help="Choose one simple model: a weighted sum of features, or of thresholds."),
]
CompanionsOption = Annotated[
    str | None,
    typer.Option(
        "--companions",
        metavar="LIST",
        help="Other libraries, separated by commas, whose rankers join: lightgbm, xgboost, catboost. They must be "
        "installed.",
        autocompletion=complete_companions,
    ),
]
ModelsOption = Annotated[
    str | None,
    typer.Option(
        "--models",
        metavar="FILES",
        help="Model files, separated by commas, that join as they are: of rankwright, LightGBM, XGBoost, CatBoost "
        "or RankLib. They must not have learned from these queries.",
    ),
]
PortfolioOption = Annotated[
    str | None,
    typer.Option(
        "--portfolio",
        metavar="LIST",
        help="The rankers to mix, in place of the built-in portfolio: names separated by commas, or JSON such as "
        '["ranksvm", {"ranker": "mart", "rounds": 50}].',
        autocompletion=complete_rankers,
    ),
]
WorkOption = Annotated[
    Path | None,
    typer.Option(
        "--work",
        metavar="DIR",
        help="Folder that keeps every finished fit: the same command goes on where a run was ended or killed.",
    ),
]
RandomStateOption = Annotated[
    int, typer.Option("--random-state", min=0, metavar="N", help="Seed of the division of queries into folds.")
]


@configurable
@reads_data
def auto(
    data: DataOption,
    model: ModelOption,
    reading: ReadOptions,
    time: TimeOption = None,
    max_us: MaxUsOption = None,
    metric: MetricOption = "ndcg@10",
    interpretable: InterpretableFlag = False,
    companions: CompanionsOption = None,
    models: ModelsOption = None,
    portfolio: PortfolioOption = None,
    report: ReportOption = None,
    work: WorkOption = None,
    random_state: RandomStateOption = 0,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Mix the rankers that judged queries favour, and estimate the mixture's value on new queries.

    Every ranker of a portfolio is fitted on parts of the queries and judged by the others; these choose its number
    of rounds and its weight. Nothing has to be held out: the estimate comes from all queries.

    Ctrl-C saves the best mixture so far and exits with code 130; pressed again, it ends the command at once.

    Example:

        rankwright auto --data judged.txt --model model.rw --time 10m
    """
    with _option_names():
        texts = {"time_limit": time, "max_microseconds": max_us}
        texts |= {"companions": companions, "models": models, "portfolio": portfolio}
        asked: dict[str, Any] = {"metric": rw.metrics.parse(metric), "interpretable": interpretable, "work": work}
        ranker = rw.AutoRanker(**asked, **_parsed(texts), random_state=random_state, n_jobs=jobs)
        ranker.check_parameters()
        inputs = [*files_of(data), *map(Path, ranker.models)]
        checked_output(model, inputs=inputs)
        check_report(report, inputs=inputs, model=model)
        judged = read_all_queries(data, reading, jobs)
        started = clock.perf_counter()
        _fit_and_save(ranker, judged, model)
    facts = _facts(ranker, clock.perf_counter() - started, model)
    if report is not None:
        from rankwright.auto.page import write_auto_page

        write_auto_page(ranker, report, reproduce=this_command())
        facts["report"] = str(report)
    if json:
        show_json(facts)
    else:
        _show(ranker, facts)
        again = _again(ranker) if facts["interrupted"] else ""
        note(f"{describe(judged)}, {facts['seconds']:.2f} s; wrote {' and '.join(_written(facts))}{again}")
    exit_if_interrupted(ranker)


def _parsed(texts: dict[str, str | None]) -> dict[str, Any]:
    """Return the parameters that were given, as their text on the command line spells them."""
    option = {"time_limit": "--time", "max_microseconds": "--max-us"}
    declared = rw.AutoRanker.declared
    return {
        name: declared[name].check.parse(option.get(name, f"--{name}"), text)
        for name, text in texts.items()
        if text is not None
    }


@contextmanager
def _option_names() -> Iterator[None]:
    """Let messages name options of the command line in place of parameters."""
    try:
        yield
    except InputError as error:
        sentence = str(error)
        for parameter, option in OPTIONS.items():
            sentence = sentence.replace(parameter, option)
        raise InputError(sentence) from None


def _fit_and_save(ranker: AutoRanker, judged: RankingData, model: Path) -> None:
    """Fit, with standings as they go; Ctrl-C without a mixture ends the command, and nothing is written."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* is skipped: ")  # the result says so
            with standings_shown(str(ranker.metric), "best" if ranker.interpretable else "mixture") as watch:
                ranker.fit(judged, on_progress=watch)
        rw.save(ranker, model)
    except KeyboardInterrupt:
        problem(f"Interrupted: no model was written{_again(ranker)}.")
        raise typer.Exit(INTERRUPTED) from None


def _again(ranker: AutoRanker) -> str:
    return "" if ranker.work is None else f"; the same command goes on with the fits in {ranker.work}"


def _facts(ranker: AutoRanker, seconds: float, model: Path) -> dict[str, Any]:
    return {
        "ranker": ranker.name,
        **ranker.run_.to_dict(),
        "interrupted": ranker.history_.interrupted,
        "seconds": seconds,
        "model": str(model),
        "bytes": model.stat().st_size,
        "report": None,
    }


def _show(ranker: AutoRanker, facts: dict[str, Any]) -> None:
    metric, found = facts["metric"], ranker.estimate_
    show_table(("member", metric, "weight", "rounds", "µs/document", "seconds"), map(_row, ranker.standings_))
    say(f"Estimate: {found.summary} It is {facts['judged']}.")
    rivals = {"best single member": found.best_member, "best single feature": found.best_feature}
    rows = [_beside(name, one) for name, one in rivals.items() if one is not None]
    model = "model" if ranker.interpretable else "mixture"
    show_table((f"in place of the {model}", metric, f"{model} ahead by", "p"), rows)
    say(_cost(facts))
    for what in ("failures", "passed_over"):
        for name, reason in facts[what].items():
            say(f"{'left out' if what == 'failures' else 'skipped'}: {name}: {reason.rstrip('.')}")


def _row(one: MemberStanding) -> tuple[str, ...]:
    rounds = f"{one.rounds:,}" if one.rounds else ""
    cost = "" if one.microseconds is None else f"{one.microseconds:.2f}"
    return one.name, f"{one.value:.4f}", f"{one.weight:.3f}", rounds, cost, f"{one.seconds:,.1f}"


def _beside(what: str, rival: Rival) -> tuple[str, ...]:
    return f"{what}, {rival.name}", f"{rival.value:.4f}", f"{rival.ahead:+z.4f}", shown_p_value(rival.p_value)


def _cost(facts: dict[str, Any]) -> str:
    cost = f"{facts['microseconds']:.2f} µs per document on one thread"
    if facts["max_microseconds"] is None:
        return cost
    whole = facts["without_budget"]
    return (
        f"{cost}, within {facts['max_microseconds']:g}; out of fold {facts['metric']} is {facts['value']:.4f}, "
        f"and {whole['value']:.4f} without that limit, at {whole['microseconds']:.2f} µs"
    )


def _written(facts: dict[str, Any]) -> Iterator[str]:
    yield f"{facts['model']} ({counted(facts['bytes'], 'byte')})"
    if facts["report"] is not None:
        yield facts["report"]
