"""`rankwright auto`."""

from __future__ import annotations

import time as clock
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import rankwright as rw
from rankwright.base.wording import counted, seconds, shown_p_value
from rankwright.cli.options.config import configurable
from rankwright.cli.options.data_files import ReadOptions, files_of, read_all_queries
from rankwright.cli.options.declaring import option
from rankwright.cli.options.shared_options import (
    JobsOption,
    JsonFlag,
    ModelOption,
    QueriesPath,
    ReportOption,
    check_report,
    checked_output,
    this_command,
)
from rankwright.cli.options.signatures import Given, Signature
from rankwright.cli.output.console import describe, note, say, show, show_table
from rankwright.cli.output.fits import exit_if_interrupted, exit_interrupted
from rankwright.cli.output.live_tables import LiveStandings, NewMembers, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright import AutoRanker
    from rankwright.auto.standings import MemberStanding
    from rankwright.data.dataset import RankingData
    from rankwright.statistics.intervals import Rival

OPTIONS = Signature("AutoRanker")
TEXTS = ("time_limit", "max_microseconds", "companions", "models", "portfolio")  # as the ranker spells them


@configurable
def auto(
    data: QueriesPath,
    model: ModelOption,
    reading: ReadOptions,
    how: Annotated[Given, OPTIONS],
    report: ReportOption = None,
    random_state: Annotated[int, option("Seed of the division of queries into folds.", "N", min=0)] = 0,
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
    ranker = rw.AutoRanker(**_parsed(how), random_state=random_state, n_jobs=jobs)
    ranker.check_parameters()
    inputs = [*files_of(data), *map(Path, ranker.models)]
    checked_output(model, inputs=inputs)
    check_report(report, inputs=inputs, model=model)
    judged = read_all_queries(data, reading, jobs)
    started = clock.perf_counter()
    _fit_and_save(ranker, judged, model)
    facts = _facts(ranker, judged, clock.perf_counter() - started, model)
    if report is not None:
        from rankwright.auto.page import write_auto_page

        write_auto_page(ranker, report, reproduce=this_command())
        facts["report"] = str(report)
    if json:
        show(facts, json=True)
    else:
        _show(ranker, facts)
        again = _again(ranker) if facts["interrupted"] else ""
        note(f"{describe(judged)}, {seconds(facts['seconds'])}; wrote {' and '.join(_written(facts))}{again}")
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
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* is passed over: ")  # the result says so
            with shown(LiveStandings(metric, kind), NewMembers(metric, kind)) as watch:
                ranker.fit(judged, on_progress=watch)
        rw.save(ranker, model)
    except KeyboardInterrupt:
        exit_interrupted(f"Interrupted: no model was written{_again(ranker)}.")


def _again(ranker: AutoRanker) -> str:
    return "" if ranker.work is None else f"; the same command resumes with the fits in {ranker.work}"


def _facts(ranker: AutoRanker, judged: RankingData, duration: float, model: Path) -> dict[str, Any]:
    run = ranker.run_
    return {
        "ranker": ranker.name,
        "metric": str(ranker.metric),
        "documents": len(judged),
        "queries": len(judged.groups),
        "features": judged.n_features,
        "judged": str(run.plan),
        "standings": [member._asdict() for member in ranker.standings_],
        "estimate": ranker.estimate_.to_dict(),
        "value": run.kept.value,
        "microseconds": run.kept.microseconds,
        "max_microseconds": ranker.max_microseconds,
        "without_budget": {"value": run.whole.value, "microseconds": run.whole.microseconds},
        "failures": run.failures,
        "passed_over": run.passed_over,
        "interrupted": ranker.history_.interrupted,
        "seconds": duration,
        "model": str(model),
        "bytes": model.stat().st_size,
        "report": None,
    }


def _show(ranker: AutoRanker, facts: dict[str, Any]) -> None:
    metric, found = facts["metric"], ranker.estimate_
    show_table(("member", metric, "weight", "rounds", "µs/document", "seconds"), map(_row, ranker.standings_))
    say(f"Estimate: {found}; {facts['judged']}.")
    rivals = {"best single member": found.best_member, "best single feature": found.best_feature}
    rows = [_beside(name, one) for name, one in rivals.items() if one is not None]
    model = "model" if ranker.interpretable else "mixture"
    show_table((f"in place of the {model}", metric, f"{model} ahead by", "p"), rows)
    say(_cost(facts))
    for what in ("failures", "passed_over"):
        for name, reason in facts[what].items():
            say(f"{'left out' if what == 'failures' else 'passed over'}: {name}: {reason.rstrip('.')}")


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
