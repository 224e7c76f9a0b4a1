"""`rankwright crossval`."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.wording import nearest
from rankwright.cli.options.clusters import CLUSTER, fits_sent
from rankwright.cli.options.config import configurable
from rankwright.cli.options.data_files import ReadOptions, files_of, read_collection, read_test_parts
from rankwright.cli.options.faces import WORKERS
from rankwright.cli.options.option_groups import option
from rankwright.cli.options.rankers import (
    AS_PRINTED,
    CHOOSE,
    GRID,
    RANKERS,
    SETTINGS,
    make_rankers,
    read_grids,
    require_tune,
)
from rankwright.cli.options.shared_options import (
    FOLDS,
    JOBS,
    JSON,
    REPORT,
    check_report,
    checked_output,
    this_command,
)
from rankwright.cli.options.signatures import Given, options_of
from rankwright.cli.output.console import describe, note, show
from rankwright.cli.output.fit_progress import exit_if_interrupted, fit_with_progress, several_fits
from rankwright.rankers.parameters.spelling import setting_text

if TYPE_CHECKING:
    from rankwright.crossval.cross_comparison_result import CrossComparison
    from rankwright.crossval.cross_validation_result import CrossValidation
    from rankwright.data.dataset import RankingData
    from rankwright.rankers.ranker import Ranker

FACES = {"workers": replace(WORKERS, words="Number of parallel fits for --tune; by default one per thread.")}


@configurable
def crossval(
    *,
    ranker: list[str] = RANKERS,
    data: Path = FOLDS,
    reading: ReadOptions,
    how: Given = options_of("cross_validate", without=("tune", "grid"), faces=FACES),
    settings: list[str] | None = SETTINGS,
    as_printed: bool = AS_PRINTED,
    tune: bool = option("Tune the ranker on each fold.", default=False),
    choose: str | None = CHOOSE,
    grid: list[str] | None = GRID,
    baseline: str | None = option(
        "With several rankers: the one that all others are compared with; by default all pairs are compared.",
        "RANKER",
    ),
    model: Path | None = option(
        "Model file to write: the ranker fitted on all queries, with the setting that is best on average over "
        "folds and the median number of rounds.",
        "FILE",
    ),
    report: Path | None = REPORT,
    cluster: str | None = CLUSTER,
    jobs: int | None = JOBS,
    json: bool = JSON,
) -> None:
    """Train and test one or more rankers on every fold of a file or of a folder of folds.

    Several rankers get the same folds, and are compared by significance tests on all test queries.

    Example:

        rankwright crossval lambdamart adarank --data judged.txt --validation fold
    """
    require_tune(tune, {"--choose": choose, "--grid": grid, "--workers": how["workers"]})
    how["metrics"] = rw.metrics.parse_metrics(how["metrics"])
    chosen = make_rankers(ranker, settings or [], jobs, as_printed=as_printed)
    _require_one_or_several(chosen, model, baseline)
    if model is not None:
        checked_output(model, inputs=(data,))
    check_report(report, inputs=files_of(data), model=model)
    collection = read_collection(data, reading, jobs, kept=how["time_column"])
    everything = None if model is None else _all_queries(collection, model, how["min_relevant"])
    tuning: Given = {"tune": choose or True if tune else None, "grid": read_grids(chosen, grid)}
    title, n_fits = f"cross-validating {', '.join(chosen)}", _count(chosen, collection, how, tuning)
    with fits_sent(cluster, how["workers"]), several_fits(title, n_fits) as on_fit:
        compared = rw.cross_validate(chosen, collection, **how, **tuning, on_fit=on_fit).against(baseline)
    result = compared[compared.rankers[0]]
    if not json:
        show(result if len(chosen) == 1 else compared, json=False)
    if model is not None and everything is not None:
        _fit_and_save(result, everything, model)
    if report is not None:
        _write_page(compared, None if how["new_documents"] else collection, report)
    if json:
        show(result if len(chosen) == 1 else compared, json=True, model=model, report=report)
    if model is not None:
        exit_if_interrupted(result.best)


def _require_one_or_several(chosen: dict[str, Ranker], model: Path | None, baseline: str | None) -> None:
    """Refuse, before any long work, options that are for one ranker or for several."""
    if len(chosen) > 1 and model is not None:
        raise InputError(
            "--model fits one ranker on all queries; cross-validate the best ranker alone to write it."
        )
    if baseline is not None and len(chosen) == 1:
        raise InputError("--baseline needs several rankers to compare.")
    if baseline is not None and baseline not in chosen:
        raise InputError(f"There is no ranker {baseline!r} to be the baseline{nearest(baseline, chosen)}")


def _count(chosen: dict[str, Ranker], collection: RankingData | Path, how: Given, tuning: Given) -> int:
    """Return the number of fits."""
    from rankwright.crossval.cross_validate import count_fits
    from rankwright.crossval.folds import count_folds
    from rankwright.crossval.splits import SplitOptions

    splits = SplitOptions(**{field.name: how[field.name] for field in fields(SplitOptions)})
    grids = tuning["grid"] or {}
    protocol = _protocol(tuning["tune"], has_validation=isinstance(collection, Path) or splits.has_validation)
    per_fold = sum(count_fits(each, tune=protocol, grid=grids.get(name)) for name, each in chosen.items())
    return count_folds(collection, splits) * per_fold


def _protocol(tune: Any, *, has_validation: bool) -> str | None:
    from rankwright.tuning.judging_queries import default_protocol

    return default_protocol(has_validation=has_validation) if tune is True else tune


def _all_queries(collection: RankingData | Path, model: Path, min_relevant: int) -> RankingData:
    """Return all queries to fit the final model on; those of a folder are the test parts of its folds."""
    try:
        judged = read_test_parts(collection) if isinstance(collection, Path) else collection
        return rw.drop_queries(judged, min_relevant=min_relevant)
    except InputError as error:
        raise InputError(
            f"{model} cannot be fitted on all queries, which are the test parts of all folds together: {error}"
        ) from None


def _fit_and_save(result: CrossValidation, everything: RankingData, model: Path) -> None:
    fit_with_progress(result.best, everything)
    rw.save(result.best, model)
    setting = f" with {setting_text(result.chosen)}" if result.chosen else ""
    note(f"fitted on {describe(everything)}{setting}; wrote {model}")


def _write_page(compared: CrossComparison, collection: RankingData | Path | None, report: Path) -> None:
    """Write the page of one ranker, or of several; without a collection, it has no queries."""
    from rankwright.cards.crossval_page import write_crossval_page, write_rankers_page

    data = None
    try:
        data = read_test_parts(collection) if isinstance(collection, Path) else collection
    except InputError as error:
        note(f"The page has no queries: the test parts of all folds cannot be shown together. {error}")
    if len(compared) == 1:
        result = compared[compared.rankers[0]]
        write_crossval_page(result, report, data=data, reproduce=this_command())
    else:
        write_rankers_page(compared, report, data=data, reproduce=this_command())
    note(f"wrote {report}")
