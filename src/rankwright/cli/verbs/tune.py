"""`rankwright tune`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.wording import seconds
from rankwright.cli.options.clusters import CLUSTER, fits_sent
from rankwright.cli.options.completion import complete_metric
from rankwright.cli.options.config import configurable
from rankwright.cli.options.data_files import ReadOptions, files_of, read_all_queries
from rankwright.cli.options.faces import Face
from rankwright.cli.options.option_groups import option
from rankwright.cli.options.rankers import RANKER, SETTINGS, by_name, make_ranker, read_grid
from rankwright.cli.options.shared_options import (
    ALL_QUERIES,
    JOBS,
    JSON,
    REPORT,
    check_report,
    checked_output,
    this_command,
)
from rankwright.cli.options.signatures import Given, options_of
from rankwright.cli.output.console import describe, note, show
from rankwright.cli.output.fit_progress import exit_interrupted, fit_with_progress, several_fits
from rankwright.cli.output.live_tables import LiveSearch, NewTrials, shown

if TYPE_CHECKING:
    from rankwright.data.dataset import RankingData
    from rankwright.rankers.ranker import Ranker
    from rankwright.tuning.tuning_result import Tuning

FACES = {
    "space": Face(
        "NAME=VALUES",
        words="Values to search for a parameter, in place of the built-in ones: low..high, low..high:log, or "
        "choices separated by commas (semicolons if values contain commas). May be repeated.",
        read=lambda name, texts: by_name(name, "name=low..high or name=value,value", texts) or None,
        type=list[str] | None,
    ),
    "grid": Face(
        "NAME=VALUES",
        words="Try all combinations of these values instead of a search; may be repeated for several parameters. "
        "--grid built-in tries the ranker's own small grid.",
        type=list[str] | None,
    ),
    "prune": Face(words="Try every setting on all folds, even if it is clearly worse on the first.", rare=True),
}


@configurable
def tune(
    *,
    ranker: str = RANKER,
    data: Path = ALL_QUERIES,
    reading: ReadOptions,
    how: Given = options_of("tune", without=("validation", "choose"), faces=FACES),
    metric: str | None = option(
        "Metric that compares settings, and that the ranker optimises if it can; by default the ranker's.",
        "NAME",
        autocompletion=complete_metric,
    ),
    settings: list[str] | None = SETTINGS,
    model: Path | None = option(
        "Model file to write: the ranker with the best setting, fitted on all queries.", "FILE"
    ),
    report: Path | None = REPORT,
    cluster: str | None = CLUSTER,
    jobs: int | None = JOBS,
    json: bool = JSON,
) -> None:
    """Search for a ranker's best setting, out of fold, and estimate its selection bias.

    Ctrl-C ends the search with the best setting so far, which is also fitted, and exits with code 130.

    Example:

        rankwright tune lambdamart --data judged.txt --storage trials.log
    """
    chosen = make_ranker(ranker, _settings(settings or [], metric), jobs)
    chosen.check_parameters()
    for output in (model, how["storage"]):
        if output is not None:
            checked_output(output, inputs=files_of(data))
    check_report(report, inputs=files_of(data), model=model)
    grid = how["grid"]
    how["grid"] = True if grid == ["built-in"] else read_grid(chosen, grid)
    judged = read_all_queries(data, reading.ordered_by(how["time_column"]), jobs)
    with fits_sent(cluster, how["workers"]):
        tuning = _tuned(chosen, judged, how)
    if not json:
        show(tuning, json=False)
    _write(tuning, model, report)
    if json:
        show(tuning, json=True, model=model, report=report)
    else:
        files = " and ".join(str(path) for path in (model, report) if path is not None)
        note(f"{describe(judged)}, {seconds(tuning.seconds)}{f'; wrote {files}' if files else ''}")
    if tuning.ended == "interrupted":
        exit_interrupted()


def _settings(texts: Sequence[str], metric: str | None) -> list[str]:
    if metric is not None and any(text.partition("=")[0].strip() == "metric" for text in texts):
        raise InputError("Give --metric or --set metric, not both.")
    return [*texts, *([] if metric is None else [f"metric={metric}"])]


def _tuned(ranker: Ranker, judged: RankingData, how: dict[str, Any]) -> Tuning:
    """Choose a setting, with progress; Ctrl-C before the first trial has ended ends the command."""
    grid = how["grid"]
    if grid is not None:
        from rankwright.tuning.tune import count_trials

        n_fits = count_trials(ranker, None, has_validation=False, grid=None if grid is True else grid)
        with several_fits(f"tuning {ranker.name}", n_fits) as on_fit:
            return rw.tune(ranker, judged, on_fit=on_fit, **how)
    metric = str(ranker.metric)
    try:
        with shown(LiveSearch(metric), NewTrials(metric)) as watch:
            return rw.tune(ranker, judged, on_progress=watch, **how)
    except KeyboardInterrupt:
        exit_interrupted("Interrupted before the first trial had ended; nothing was written.")


def _write(tuning: Tuning, model: Path | None, report: Path | None) -> None:
    if model is not None:
        fit_with_progress(tuning.ranker, tuning.data)
        rw.save(tuning.ranker, model)
    if report is not None:
        from rankwright.cards.tuning_page import count_page_fits, write_tuning_page

        lost = f"{report} was not written"
        with several_fits("fitting for the page", count_page_fits(tuning), lost=lost) as on_fit:
            write_tuning_page(tuning, report, reproduce=this_command(), on_fit=on_fit)
