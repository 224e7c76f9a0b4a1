"""`rankwright tune`."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.cli.options.completion import complete_metric
from rankwright.cli.options.config import configurable
from rankwright.cli.options.data_files import FORMATS, ReadOptions, reads_data
from rankwright.cli.options.judged_collection import files_of, read_all_queries
from rankwright.cli.options.page_option import ReportOption, check_report, this_command
from rankwright.cli.options.shared_options import (
    JobsOption,
    JsonFlag,
    RankerArgument,
    SetOption,
    checked_output,
    make_ranker,
)
from rankwright.cli.options.tuning_options import INTERRUPTED, by_name, read_grid, setting_text, several_fits
from rankwright.cli.output.console import describe, note, problem, say, show_json, show_table
from rankwright.cli.output.trial_table import best_trials, search_shown
from rankwright.cli.verbs.train import fit_with_progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwright.data.dataset import RankingData
    from rankwright.rankers.ranker import Ranker
    from rankwright.tuning.trials import Trial
    from rankwright.tuning.tuning_result import Tuning

SHOWN = 5  # settings of the result
# What messages of `rw.tune` call its parameters, and what the command line calls them.
OPTIONS = {"name parameters in space.": "name parameters with --space.", "time_limit": "--time"}

DataOption = Annotated[
    Path,
    typer.Option(
        "--data",
        metavar="PATH",
        help=f"Judged documents ({FORMATS}); or a folder with Fold1, Fold2, ..., as in LETOR, whose test parts "
        "together are all queries; or one such fold, whose train.txt and vali.txt are used and test.txt is not.",
    ),
]
TrialsOption = Annotated[
    int | None, typer.Option("--trials", metavar="N", help="Number of settings to try; by default 60.")
]
TimeOption = Annotated[
    str | None,
    typer.Option(
        "--time", metavar="TIME", help="Time for all trials, such as 90s, 10m or 1h. By default there is no limit."
    ),
]
MetricOption = Annotated[
    str | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="Metric that compares settings, and that the ranker optimises if it can; by default the ranker's.",
        autocompletion=complete_metric,
    ),
]
SpaceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--space",
        metavar="NAME=VALUES",
        help="Values to search for a parameter, in place of the built-in ones: low..high, low..high:log, or "
        "choices separated by commas (semicolons if values contain commas). May be repeated.",
    ),
]
GridOption = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        metavar="NAME=VALUES",
        help="Try all combinations of these values instead of a search; may be repeated for several parameters. "
        "--grid built-in tries the ranker's own small grid.",
    ),
]
StorageOption = Annotated[
    Path | None,
    typer.Option(
        "--storage",
        metavar="FILE",
        help="File that keeps every trial, a journal of Optuna: the same command goes on where a search was ended "
        "or killed.",
    ),
]
ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--model",
        metavar="FILE",
        help="Model file to write: the ranker with the best setting, fitted on all queries.",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", min=1, metavar="N", help="Number of parallel fits; by default one per thread."),
]
NoPruneFlag = Annotated[
    bool,
    typer.Option("--no-prune", help="Try every setting on all folds, even if it is clearly worse on the first."),
]
RandomStateOption = Annotated[int, typer.Option("--random-state", min=0, metavar="N", help="Seed of the search.")]


@configurable
@reads_data
def tune(
    ranker: RankerArgument,
    data: DataOption,
    reading: ReadOptions,
    trials: TrialsOption = None,
    time: TimeOption = None,
    metric: MetricOption = None,
    space: SpaceOption = None,
    grid: GridOption = None,
    settings: SetOption = None,
    storage: StorageOption = None,
    model: ModelOption = None,
    no_prune: NoPruneFlag = False,
    workers: WorkersOption = None,
    random_state: RandomStateOption = 0,
    report: ReportOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Search for a ranker's best setting, out of fold, and estimate how much of its value is luck.

    Ctrl-C ends the search with the best setting so far, which is also fitted, and exits with code 130.

    Example:

        rankwright tune lambdamart --data judged.txt --storage trials.log
    """
    chosen = make_ranker(ranker, _settings(settings or [], metric), jobs)
    chosen.check_parameters()
    for output in (model, storage):
        if output is not None:
            checked_output(output, inputs=files_of(data))
    check_report(report, inputs=files_of(data), model=model)
    tried = _grid(chosen, grid)
    search: dict[str, Any] = {
        "trials": trials,
        "time_limit": time,
        "space": by_name("--space", "name=low..high or name=value,value", space or ()) or None,
        "storage": storage,
        "prune": not no_prune,
        "random_state": random_state,
    }
    judged = read_all_queries(data, reading, jobs)
    with _option_names():
        tuning = _tuned(chosen, judged, tried, workers, search)
    if not json:
        _show(tuning)
    _write(tuning, model, report)
    written = {"model": model, "report": report}
    if json:
        show_json(tuning.to_dict() | {name: None if one is None else str(one) for name, one in written.items()})
    else:
        files = " and ".join(str(one) for one in written.values() if one is not None)
        note(f"{describe(judged)}, {tuning.seconds:.2f} s{f'; wrote {files}' if files else ''}")
    if tuning.ended == "interrupted":
        raise typer.Exit(INTERRUPTED)


def _write(tuning: Tuning, model: Path | None, report: Path | None) -> None:
    if model is not None:
        fit_with_progress(tuning.ranker, tuning.data, None)
        rw.save(tuning.ranker, model)
    if report is not None:
        from rankwright.cards.tuning_page import count_page_fits, write_tuning_page

        with several_fits(
            "fitting for the page", count_page_fits(tuning), lost=f"{report} was not written"
        ) as on_fit:
            write_tuning_page(tuning, report, reproduce=this_command(), on_fit=on_fit)


def _settings(texts: Sequence[str], metric: str | None) -> list[str]:
    if metric is not None and any(text.partition("=")[0].strip() == "metric" for text in texts):
        raise InputError("Give --metric or --set metric, not both.")
    return [*texts, *([] if metric is None else [f"metric={metric}"])]


def _grid(ranker: Ranker, texts: Sequence[str] | None) -> Any:
    return True if texts == ["built-in"] else read_grid(ranker, texts)


def _tuned(ranker: Ranker, judged: RankingData, grid: Any, workers: int | None, search: dict[str, Any]) -> Tuning:
    """Choose a setting, with progress; Ctrl-C before the first trial has ended ends the command."""
    if grid is not None:
        from rankwright.tuning.tune import count_trials

        n_fits = count_trials(ranker, None, has_validation=False, grid=None if grid is True else grid)
        with several_fits(f"tuning {ranker.name}", n_fits) as on_fit:
            return rw.tune(ranker, judged, grid=grid, workers=workers, on_fit=on_fit, **search)
    try:
        with search_shown(str(ranker.metric)) as watch:
            return rw.tune(ranker, judged, workers=workers, on_progress=watch, **search)
    except KeyboardInterrupt:
        problem("Interrupted before the first trial had ended; nothing was written.")
        raise typer.Exit(INTERRUPTED) from None


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


def _show(tuning: Tuning) -> None:
    head = ("trial", str(tuning.ranker.metric), "rounds", "seconds", "setting")
    show_table(head, [_row(one, tuning) for one in best_trials(tuning.trials)[:SHOWN]])
    states = [one.state for one in tuning.trials]
    counts = ", ".join(f"{states.count(one):,} {one}" for one in ("complete", "pruned", "failed") if one in states)
    early = {"time limit": "; the time was over", "interrupted": "; interrupted"}.get(tuning.ended, "")
    say(f"{counted(len(states), 'trial')}: {counts}{early}.")
    say(str(tuning.correction))
    say(f"Chosen: {setting_text({**tuning.best.parameters, 'rounds': tuning.best.rounds})}")


def _row(one: Trial, tuning: Tuning) -> tuple[str, ...]:
    own = tuning.baseline is not None and one.number == tuning.baseline.number
    setting = "the ranker's own" if own else setting_text(one.parameters)
    return str(one.number + 1), f"{one.value:.4f}", f"{one.rounds:,}", f"{one.seconds:,.1f}", setting
