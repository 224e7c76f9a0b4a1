"""`rankwright train`."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.wording import counted, metric_value, seconds
from rankwright.cli.options.clusters import (
    CHECKPOINT,
    CLUSTER,
    MAX_MEMORY,
    check_source,
    checked_checkpoint,
    opened_engine,
)
from rankwright.cli.options.config import configurable
from rankwright.cli.options.data_files import FORMATS, ReadOptions, read_training_set, read_validation
from rankwright.cli.options.option_groups import REQUIRED, option
from rankwright.cli.options.rankers import (
    AS_PRINTED,
    CHOOSE,
    GRID,
    RANKER,
    REFIT,
    SETTINGS,
    TUNE_WORKERS,
    make_ranker,
    read_grid,
    require_tune,
)
from rankwright.cli.options.shared_options import (
    JOBS,
    JSON,
    MODEL_TO_WRITE,
    REPORT,
    check_report,
    checked_output,
    this_command,
)
from rankwright.cli.output.console import describe, note, say, show
from rankwright.cli.output.fit_progress import exit_if_interrupted, fit_with_progress, several_fits
from rankwright.rankers.parameters.spelling import setting_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankwright.data.dataset import RankingData
    from rankwright.rankers.ranker import Ranker
    from rankwright.tuning.grid import Grid
    from rankwright.tuning.tuning_result import Tuning

# Facts that some rankers report about their data, and how to print them.
REPORTED: dict[str, Callable[[Any], str]] = {
    "skipped_queries": lambda number: f"{counted(number, 'query')} skipped",
    "relevant_from": "relevant from label {:g}".format,
}


TRAINING_DATA = option(
    f"Judged documents to learn from ({FORMATS}), or a file that `rankwright bin` wrote.", "FILE", default=REQUIRED
)


@configurable
def train(
    *,
    ranker: str = RANKER,
    train: Path = TRAINING_DATA,
    model: Path = MODEL_TO_WRITE,
    reading: ReadOptions,
    valid: Path | None = option("Judged documents that choose the best number of rounds.", "FILE"),
    start: Path | None = option("Model file to improve on, such as that of a larger market.", "MODEL"),
    settings: list[str] | None = SETTINGS,
    as_printed: bool = AS_PRINTED,
    refit: bool = REFIT,
    tune: bool = option("First choose parameters and rounds: by --valid, else out of fold.", default=False),
    choose: str | None = CHOOSE,
    grid: list[str] | None = GRID,
    workers: int | None = TUNE_WORKERS,
    report: Path | None = REPORT,
    cluster: str | None = CLUSTER,
    checkpoint: Path | None = CHECKPOINT,
    max_memory: int | None = MAX_MEMORY,
    jobs: int | None = JOBS,
    json: bool = JSON,
) -> None:
    """Train a ranker on judged documents and save it as a model file.

    Ctrl-C stops training, saves the model of the best round so far and exits with code 130.

    Example:

        rankwright train adarank --train train.txt --valid vali.txt --model model.rw
    """
    require_tune(tune, {"--choose": choose, "--grid": grid, "--workers": workers})
    if tune:
        _require_tunable(refit, start, cluster)
    chosen = make_ranker(ranker, settings or [], jobs, as_printed=as_printed)
    tried = read_grid(chosen, grid)
    checked_output(model, inputs=(train, valid, start))
    check_report(report, inputs=(train, valid, start), model=model)
    saved = checked_checkpoint(checkpoint)
    of_values = {"--report": report, "--tune": tune, "--refit": refit, "--start": start}
    check_source(train, cluster=cluster, asked=of_values)
    submodel = None if start is None else rw.load(start)
    models = [] if submodel is None else [submodel]
    validates = valid is not None
    source = read_training_set(train, reading, models, max_memory=max_memory, validates=validates, n_jobs=jobs)
    judged = source.data
    validation = None if valid is None else read_validation(valid, reading, judged, n_jobs=jobs)
    started, held_out = time.perf_counter(), validation
    tuning = _tuned(chosen, judged, validation, choose, tried, workers) if tune else None
    if tuning is not None:
        chosen, judged, validation = tuning.ranker, tuning.data.data, None
    with opened_engine(cluster) as engine:
        where: dict[str, Any] = {"cluster": engine, "checkpoint": saved, "refit": refit}
        fit_with_progress(chosen, source if tuning is None else tuning.data, validation, submodel, **where)
    facts = _facts(chosen, judged, time.perf_counter() - started) | _tuning_facts(tuning) | {"model": str(model)}
    rw.save(chosen, model)
    if report is not None:
        _write_page(chosen, judged, held_out, tuning, report)
        facts["report"] = str(report)
    _show(facts, judged, json=json)
    exit_if_interrupted(chosen)


def _require_tunable(refit: bool, start: Path | None, cluster: str | None) -> None:
    if refit:
        raise InputError(
            "--refit is for training without --tune; --choose out-of-fold also learns from both parts."
        )
    if start is not None:
        raise InputError("--tune cannot be used with --start: settings are compared without a start.")
    if cluster is not None:
        raise InputError("--tune cannot be used with --cluster: rankwright tune --cluster chooses settings there.")


def _tuned(
    ranker: Ranker,
    judged: RankingData,
    validation: RankingData | None,
    choose: str | None,
    grid: Grid | None,
    workers: int | None,
) -> Tuning:
    """Choose setting and rounds, with progress over all fits."""
    from rankwright.tuning.tune import count_trials, tune

    n_fits = count_trials(ranker, choose, has_validation=validation is not None, grid=grid)
    with several_fits(f"tuning {ranker.name}", n_fits) as on_fit:
        options: dict[str, Any] = {"choose": choose, "grid": True if grid is None else grid, "workers": workers}
        return tune(ranker, judged, validation=validation, **options, on_fit=on_fit)


def _write_page(
    ranker: Ranker, judged: RankingData, held_out: RankingData | None, tuning: Tuning | None, report: Path
) -> None:
    if ranker.name == "auto":
        cast("rw.AutoRanker", ranker).report(report, reproduce=this_command())
        return
    from rankwright.cards.training_page import write_training_page

    chosen = "" if tuning is None else f"{counted(len(tuning.trials), 'setting')} tried, {tuning.protocol}"
    parts: dict[str, Any] = {"train": judged, "validation": held_out}
    write_training_page(ranker, report, **parts, chosen=chosen, reproduce=this_command())


def _tuning_facts(tuning: Tuning | None) -> dict[str, Any]:
    if tuning is None:
        return {}
    return {
        "protocol": tuning.protocol,
        "chosen": dict(tuning.best.parameters),
        "chosen_value": tuning.best.value,
        "trials": [trial.to_dict() for trial in tuning.trials],
    }


def _show(facts: dict[str, Any], judged: RankingData, *, json: bool) -> None:
    if json:
        show(facts, json=True)
        return
    if "chosen" in facts:
        where = {"validation": "on validation"}.get(facts["protocol"], "out of fold")
        setting = setting_text(facts["chosen"] | {"rounds": facts["rounds"]})
        say(f"Chosen {where} from {counted(len(facts['trials']), 'setting')}: {setting}")
        say(f"{facts['metric']}: {metric_value(facts['chosen_value'])} {where}, smoothed over rounds")
    say(_sentence(facts))
    if facts["validation"] is not None and "estimate" not in facts:
        note(f"round {facts['best_round']} is {facts['reason']}")
    written = " and ".join(facts[name] for name in ("model", "report") if name in facts)
    reported = "".join(f", {words(facts[name])}" for name, words in REPORTED.items() if name in facts)
    note(f"{describe(judged)}{reported}, {seconds(facts['seconds'])}; wrote {written}")


def _facts(ranker: Ranker, judged: RankingData, duration: float) -> dict[str, Any]:
    history, about = ranker.history_, ranker.model_.about
    best = asdict(history[history.best_round - 1]) if history.best_round else {}
    return {
        "ranker": ranker.name,
        "metric": str(ranker.metric),
        "documents": len(judged),
        "queries": len(judged.groups),
        "features": judged.n_features,
        **{name: about[name] for name in (*REPORTED, "estimate") if name in about},
        "rounds": len(history),
        "best_round": history.best_round,
        "reason": history.reason,
        "interrupted": history.interrupted,
        "train": best.get("train"),
        "validation": best.get("validation"),
        "history": [
            {"round": fitted.number, "train": fitted.train, "validation": fitted.validation} for fitted in history
        ],
        "seconds": duration,
    }


def _sentence(facts: dict[str, Any]) -> str:
    if "estimate" in facts:  # AutoRanker: a round is a member, and every query judges
        judged, expected = metric_value(facts["validation"]), metric_value(facts["estimate"]["value"])
        members = counted(facts["rounds"], "member")
        return f"{facts['metric']}: {judged} out of fold, {expected} expected on new queries ({members})"
    if not facts["rounds"]:
        return f"Trained {facts['ranker']}: {facts['reason']}"
    if not facts["best_round"]:
        return f"{facts['metric']}: none of {facts['rounds']} rounds was better on validation than the start"
    parts = {"training": facts["train"], "validation": facts["validation"]}
    values = ", ".join(f"{metric_value(value)} on {part}" for part, value in parts.items() if value is not None)
    measured = f"{facts['metric']}: {values}" if values else f"Trained {facts['ranker']}"
    return f"{measured} (round {facts['best_round']} of {facts['rounds']})"
