"""`rankwright auto`."""

from __future__ import annotations

import time as clock
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankwright as rw
from rankwright.base.wording import counted, seconds
from rankwright.cli.options.clusters import CLUSTER, fits_sent
from rankwright.cli.options.config import configurable
from rankwright.cli.options.data_files import ReadOptions, files_of, read_all_queries
from rankwright.cli.options.option_groups import MORE, option
from rankwright.cli.options.shared_options import (
    ALL_QUERIES,
    JOBS,
    JSON,
    MODEL_TO_WRITE,
    REPORT,
    check_report,
    checked_output,
    this_command,
)
from rankwright.cli.options.signatures import Given, options_of
from rankwright.cli.output.console import describe, note, show
from rankwright.cli.output.fit_progress import exit_if_interrupted, exit_interrupted
from rankwright.cli.output.live_tables import LiveStandings, NewMembers, shown

if TYPE_CHECKING:
    from rankwright import AutoRanker
    from rankwright.data.dataset import RankingData

OPTIONS = options_of("AutoRanker")
SHOWN_SECTIONS = 2  # of the result: the estimate and the standings; the page has all
TEXTS = ("time_limit", "max_microseconds", "companions", "models", "portfolio")  # as the ranker spells them


@configurable
def auto(
    *,
    data: Path = ALL_QUERIES,
    model: Path = MODEL_TO_WRITE,
    reading: ReadOptions,
    how: Given = OPTIONS,
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
    inputs = [*files_of(data), *map(Path, ranker.models)]
    checked_output(model, inputs=inputs)
    check_report(report, inputs=inputs, model=model)
    judged = read_all_queries(
        data, reading.ordered_by(ranker.baseline_column).ordered_by(ranker.time_column), jobs
    )
    started = clock.perf_counter()
    with fits_sent(cluster):
        _fit_and_save(ranker, judged, model)
    duration = clock.perf_counter() - started
    if report is not None:
        ranker.report(report, reproduce=this_command())
    interrupted = ranker.history_.interrupted
    if json:
        facts = {"ranker": ranker.name, **ranker.run_.to_dict(), "interrupted": interrupted, "seconds": duration}
        show(facts, json=True, model=model, bytes=model.stat().st_size, report=report)
    else:
        show(ranker.run_, json=False, sections=SHOWN_SECTIONS)
        files = f"{model} ({counted(model.stat().st_size, 'byte')}){'' if report is None else f' and {report}'}"
        again = _again(ranker) if interrupted else ""
        note(f"{describe(judged)}, {seconds(duration)}; wrote {files}{again}")
    exit_if_interrupted(ranker)


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
