"""`rankwright auto`."""

from __future__ import annotations

import time as clock
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.wording import counted, seconds
from rankwright.cli.options.clusters import CLUSTER, fits_sent
from rankwright.cli.options.config import configurable
from rankwright.cli.options.data_files import FORMATS, LETOR, ReadOptions, files_of, read_all_queries, read_data
from rankwright.cli.options.option_groups import MORE, option
from rankwright.cli.options.shared_options import (
    ALL_QUERIES,
    JOBS,
    JSON,
    MODEL_TO_WRITE,
    REPORT,
    check_report,
    checked_output,
    named_files,
    this_command,
)
from rankwright.cli.options.signatures import Given, options_of
from rankwright.cli.output.console import describe, note, say, show
from rankwright.cli.output.fit_progress import exit_if_interrupted, exit_interrupted
from rankwright.cli.output.live_tables import LiveStandings, NewMembers, shown

if TYPE_CHECKING:
    from rankwright import AutoRanker
    from rankwright.auto.leaderboard import Leaderboard
    from rankwright.data.dataset import RankingData

OPTIONS = options_of("AutoRanker")
SHOWN_SECTIONS = 2  # of the result: the estimate and the standings; the page has all
TEXTS = ("time_limit", "max_microseconds", "companions", "models", "portfolio")  # as the ranker spells them
LEADERBOARD = option(
    f"Judged documents ({FORMATS}) of queries that are not in --data: the model is compared on them with its "
    "members, the best feature, --baseline-column and --system.",
    "FILE",
)
SYSTEM = option(
    "System for the leaderboard, as compare takes it: a model file of rankwright or another tool, scores, or a "
    "run. NAME=FILE names it. May be repeated.",
    "SYSTEM",
    panel=MORE,
)


@configurable
def auto(
    *,
    data: Path = ALL_QUERIES,
    model: Path = MODEL_TO_WRITE,
    reading: ReadOptions,
    how: Given = OPTIONS,
    leaderboard: Path | None = LEADERBOARD,
    system: list[str] | None = SYSTEM,
    report: Path | None = REPORT,
    random_state: int = option("Seed of the division of queries into folds.", "N", min=0, default=0, panel=MORE),
    cluster: str | None = CLUSTER,
    jobs: int | None = JOBS,
    json: bool = JSON,
) -> None:
    """Mix the rankers that judged queries favour, and estimate the mixture's value on new queries.

    Every ranker of a portfolio is fitted on parts of the queries and judged by the others; these choose its number
    of rounds and its weight. Nothing has to be held out: the estimate comes from all queries.

    Ctrl-C saves the best mixture so far and exits with code 130; pressed again, it ends the command at once.

    Example:

        rankwright auto --data judged.txt --model model.rw --time 10m
    """
    ranker = rw.AutoRanker(**_parsed(how), random_state=random_state, n_jobs=jobs)
    ranker.check_parameters()
    if system and leaderboard is None:
        raise InputError("--system is for a leaderboard: name its judged documents with --leaderboard.")
    others = [] if leaderboard is None else [leaderboard, *named_files(system or []).values()]
    inputs = [*files_of(data), *map(Path, ranker.models), *others]
    checked_output(model, inputs=inputs)
    check_report(report, inputs=inputs, model=model)
    judged = read_all_queries(
        data, reading.ordered_by(ranker.baseline_column).ordered_by(ranker.time_column), jobs
    )
    entrants = None if leaderboard is None else _entrants(leaderboard, system or [], ranker, judged, reading)
    started = clock.perf_counter()
    with fits_sent(cluster):
        _fit_and_save(ranker, judged, model)
    duration = clock.perf_counter() - started
    board = None if entrants is None else _board(ranker, *entrants)
    if report is not None:
        ranker.report(report, reproduce=this_command(), leaderboard=board)
    interrupted = ranker.history_.interrupted
    if json:
        facts = {"ranker": ranker.name, **ranker.run_.to_dict(), "interrupted": interrupted, "seconds": duration}
        facts |= {} if board is None else {"leaderboard": board.to_dict()}
        show(facts, json=True, model=model, bytes=model.stat().st_size, report=report)
    else:
        show(ranker.run_, json=False, sections=SHOWN_SECTIONS)
        if board is not None:
            say("")
            show(board, json=False, sections=1)
        files = f"{model} ({counted(model.stat().st_size, 'byte')}){'' if report is None else f' and {report}'}"
        again = _again(ranker) if interrupted else ""
        note(f"{describe(judged)}, {seconds(duration)}; wrote {files}{again}")
    exit_if_interrupted(ranker)


def _entrants(
    path: Path, systems: list[str], ranker: AutoRanker, judged: RankingData, reading: ReadOptions
) -> tuple[RankingData, dict[str, Any]]:
    """Return the judged documents of a leaderboard and the systems given; refuse what cannot take part."""
    from rankwright.cli.options.system_files import open_system, system_of
    from rankwright.models.scorer import Scorer

    jobs, column = ranker.n_jobs, ranker.baseline_column
    files = {name: open_system(file) for name, file in named_files(systems).items()}
    scorers = [file for file in files.values() if isinstance(file, Scorer)]
    if reading.format_of(path) == LETOR:
        reading = replace(reading, n_features=judged.n_features)
    data = read_data(path, reading.ordered_by(column, [judged]), [judged, *scorers], n_jobs=jobs)
    given = {name: system_of(name, file, data, path, jobs) for name, file in files.items()}
    if column is not None:
        data.scores_by(column)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the leaderboard says it
        if given:
            rw.evaluate(given, data, metrics=[ranker.metric], n_jobs=jobs)
    return data, given


def _board(ranker: AutoRanker, data: RankingData, given: dict[str, Any]) -> Leaderboard:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The model does not use")  # what another system uses
        return ranker.leaderboard(data, given)


def _parsed(how: Given) -> dict[str, Any]:
    """Return the parameters of AutoRanker; those that were given as text as the ranker's declarations read it."""
    declared, spelling = rw.AutoRanker.declared, OPTIONS.spelling()
    read = {name: declared[name].check.parse(spelling[name], how[name]) for name in TEXTS if how[name] is not None}
    others = {name: value for name, value in how.items() if name not in TEXTS}
    return others | read | {"metric": rw.metrics.parse(how["metric"])}


def _fit_and_save(ranker: AutoRanker, judged: RankingData, model: Path) -> None:
    """Fit, with standings as they go; Ctrl-C without a mixture ends the command, and nothing is written."""
    metric, kind = str(ranker.metric), "best" if ranker.interpretable else "mixture"
    try:
        from rankwright.auto.fitting import SkippedMemberWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkippedMemberWarning)  # the result says so
            with shown(LiveStandings(metric, kind), NewMembers(metric, kind)) as watch:
                ranker.fit(judged, on_progress=watch)
        rw.save(ranker, model)
    except KeyboardInterrupt:
        exit_interrupted(f"Interrupted: no model was written{_again(ranker)}.")


def _again(ranker: AutoRanker) -> str:
    return "" if ranker.work is None else f"; the same command resumes with the fits in {ranker.work}"
