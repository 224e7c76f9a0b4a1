"""Cross-validation of one or more rankers, over the folds of a collection or over folds made from it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import nearest
from rankwright.crossval.cross_comparison_result import CrossComparison
from rankwright.crossval.cross_validation_result import CrossValidation, FoldResult
from rankwright.crossval.fold_fits import FoldFitter
from rankwright.crossval.folds import Folds
from rankwright.crossval.splits import SplitOptions
from rankwright.data.query_filters import QueryFilter
from rankwright.evaluation.evaluate import checked_metrics, evaluate
from rankwright.metrics.base import Ties
from rankwright.metrics.catalogue import Convention, find_convention
from rankwright.rankers.catalogue import as_ranker
from rankwright.training.concurrent_fits import run_in_order
from rankwright.tuning.judging_queries import default_protocol
from rankwright.tuning.trials import Trial, best_of, chosen_parameters, configured
from rankwright.tuning.tune import count_trials

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.crossval.folds import FoldParts, FoldsData
    from rankwright.metrics.base import Metric
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.rankers.ranker import Ranker
    from rankwright.tuning.grid import Grid

    Rankers = Mapping[str, Ranker | str] | list[Ranker] | list[str] | tuple[Ranker | str, ...]

    class CrossValidateOptions(TypedDict, total=False):
        """The options of `cross_validate`, for its two types of results."""

        folds: int
        repeats: int
        validation: float | str
        stratify: bool
        new_documents: bool
        random_state: int
        time_column: str | None
        min_relevant: int
        drop_one_label: bool
        metrics: MetricLike | Sequence[MetricLike]
        convention: str
        refit: bool
        tune: str | bool | None
        grid: Grid | Mapping[str, Grid] | None
        workers: int | None
        on_fit: Callable[[], None]
        on_fold: Callable[[FoldResult], None]


DEFAULTS = "defaults"  # name of the protocol without tuning


@overload
def cross_validate(
    ranker: Ranker | str, data: FoldsData, **options: Unpack[CrossValidateOptions]
) -> CrossValidation: ...


@overload
def cross_validate(
    ranker: Rankers, data: FoldsData, **options: Unpack[CrossValidateOptions]
) -> CrossComparison: ...


def cross_validate(
    ranker: Ranker | str | Rankers,
    data: FoldsData,
    *,
    folds: int = 5,
    repeats: int = 1,
    validation: float | str = 0.0,
    stratify: bool = False,
    new_documents: bool = False,
    random_state: int = 0,
    time_column: str | None = None,
    min_relevant: int = 0,
    drop_one_label: bool = False,
    metrics: MetricLike | Sequence[MetricLike] = ("ndcg@10", "map"),
    convention: str = "standard",
    refit: bool = False,
    tune: str | bool | None = None,
    grid: Grid | Mapping[str, Grid] | None = None,
    workers: int | None = None,
    on_fit: Callable[[], None] = lambda: None,
    on_fold: Callable[[FoldResult], None] = lambda _: None,
) -> CrossValidation | CrossComparison:
    """Fit and test one or more rankers on each fold of a collection.

    A fold's validation part, if any, chooses the round. Results have values with ties averaged, too.

    Parameters
    ----------
    ranker, data
        A ranker or its name, or several by name, compared on the same folds. And judged documents, a file of
        them, a folder with Fold1 and so on, a list of (train, test) or (train, valid, test), or `make_folds(...)`.
    folds, repeats, validation, stratify, new_documents, random_state, time_column
        How data without folds are split, as in `make_folds`; without a validation part all rounds are kept.
    min_relevant
        Drop queries with fewer relevant documents (label >= 1) from all parts, before data are split.
    drop_one_label
        Whether to leave queries of a single label out of the test parts.
    metrics, convention
        As for `evaluate`.
    refit
        Whether to fit again on training and validation part, for the number of rounds that validation chose.
    tune
        How each fold chooses setting and rounds: on the `"validation"` part, or `"out-of-fold"`, by validating
        across its training and validation queries, which the final fit uses. None fits the ranker as it is.
    grid
        Values to try by parameter, of several rankers by name; by default the ranker's, of parameters not set.
    workers
        Number of concurrent fits; None: one per thread.
    on_fit, on_fold
        Called after each fit, and with each result.

    Examples
    --------
    >>> judged = rw.synthetic.gaussian_queries(12)
    >>> result = rw.cross_validate(rw.RankSVM("map"), judged, folds=3, metrics="map,mrr")
    >>> round(result.mean("mrr"), 2), [fold.fold for fold in result.folds]
    (1.0, ['Fold1', 'Fold2', 'Fold3'])
    """
    named, asked = named_rankers(ranker), checked_metrics(metrics, find_convention(convention))
    how = SplitOptions(folds, repeats, validation, random_state, stratify, new_documents, time_column)
    parts = Folds.of(data, how, min_relevant=min_relevant, n_jobs=next(iter(named.values())).n_jobs)
    protocol = default_protocol(has_validation=parts.has_validation) if tune is True else tune or None
    options, grids = (protocol, refit, workers, on_fit, time_column), _grids(grid, named, ranker)
    fitters = {name: FoldFitter(each, grids[name], *options) for name, each in named.items()}
    left_out = QueryFilter(min_relevant, drop_one_label)
    validated = _validate(fitters, parts, _Measuring(asked, convention, left_out), on_fold)
    return CrossComparison(validated) if is_several(ranker) else next(iter(validated.values()))


def named_rankers(given: Any) -> dict[str, Ranker]:
    """Return one or more rankers by name; those of a list are named after their methods."""
    if not is_several(given):
        ranker = as_ranker(given)
        return {ranker.name: ranker}
    if not given:
        raise InputError("There is nothing to cross-validate: give at least one ranker.")
    if isinstance(given, Mapping):
        return {str(name): as_ranker(each) for name, each in given.items()}
    named: dict[str, Ranker] = {}
    for ranker in map(as_ranker, given):
        if ranker.name in named:
            raise InputError(
                f"Two rankers are called {ranker.name}; give rankers by name, such as "
                f"{{'one': {type(ranker).__name__}(...), 'other': {type(ranker).__name__}(...)}}."
            )
        named[ranker.name] = ranker
    return named


def is_several(given: Any) -> bool:
    """Return whether rankers are given by name or as a list; `{"ranker": "mart", "rounds": 50}` is one ranker."""
    if isinstance(given, Mapping):
        return not isinstance(given.get("ranker"), str)
    return isinstance(given, list | tuple)


def count_fits(ranker: Ranker, *, tune: str | None = None, grid: Grid | None = None) -> int:
    """Return the number of fits of `cross_validate` per fold and ranker."""
    return 1 + (count_trials(ranker, tune, has_validation=True, grid=grid) if tune else 0)


@dataclass(frozen=True, eq=False)
class _Measuring:
    """How test parts are evaluated: the metrics, by a tool's definitions, and the queries that are left out."""

    metrics: Sequence[Metric]
    convention: str
    left_out: QueryFilter

    def measure(self, name: str, fitter: FoldFitter, fold: FoldParts) -> FoldResult:
        """Fit a ranker, named `name` in reports, on a fold, and measure it on the test part."""
        ranker, chosen, trials = fitter.fit(fold)
        scores = {name: ranker.predict(fold.test)}
        how: dict[str, Any] = {"metrics": self.metrics, "n_jobs": ranker.n_jobs, **asdict(self.left_out)}
        try:
            report = evaluate(scores, fold.test, convention=self.convention, **how)
            averaged = evaluate(scores, fold.test, convention=_averaging_ties(self.convention), **how)
        except InputError as error:
            raise InputError(f"{fold.name} cannot be measured: {error}") from None
        rounds = ranker.history_.best_round
        return FoldResult(
            fold.name, fold.repeat, report, averaged, rounds, chosen, trials, ranker.model_, fold.period
        )


def _validate(
    fitters: Mapping[str, FoldFitter], parts: Folds, measuring: _Measuring, on_fold: Callable[[FoldResult], None]
) -> dict[str, CrossValidation]:
    """Fit and evaluate all rankers, fold by fold: each fold is read or made once."""
    results: dict[str, list[FoldResult]] = {name: [] for name in fitters}
    seconds = dict.fromkeys(fitters, 0.0)
    tasks = ((name, fold) for fold in parts for name in fitters)

    def measure(task: tuple[str, FoldParts], _on_round: Any = None) -> tuple[str, FoldResult, float]:
        started, (name, fold) = time.perf_counter(), task
        result = measuring.measure(name, fitters[name], fold)
        return name, result, time.perf_counter() - started

    for name, result, taken in run_in_order(measure, tasks):
        results[name].append(result)
        seconds[name] += taken
        on_fold(result)
    return {
        name: _validated(name, fitter, parts, measuring, results[name], seconds[name])
        for name, fitter in fitters.items()
    }


def _validated(
    name: str, fitter: FoldFitter, parts: Folds, measuring: _Measuring, folds: Sequence[FoldResult], seconds: float
) -> CrossValidation:
    """Return the results of one ranker on all folds."""
    ranker = fitter.ranker
    chosen = _chosen_over_folds(ranker, folds) if fitter.protocol or parts.has_validation else {}
    return CrossValidation(
        name,
        measuring.convention,
        fitter.protocol or DEFAULTS,
        tuple(map(str, measuring.metrics)),
        tuple(folds),
        parts.repeats,
        configured(ranker, chosen),
        chosen,
        seconds,
        _dropped(parts, folds),
        parts.known_documents,
    )


def _dropped(parts: Folds, folds: Sequence[FoldResult]) -> dict[str, int]:
    """Return the number of dropped queries by reason: before data were split, and of test parts."""
    dropped = dict(parts.dropped)
    for fold in folds:
        for reason, number in fold.report.dropped.items() if fold.repeat == 1 else ():
            dropped[reason] = dropped.get(reason, 0) + number
    return dropped


def _grids(grid: Any, named: Mapping[str, Ranker], given: Any) -> dict[str, Grid | None]:
    """Return the grid of every ranker; None stands for its own."""
    if grid is None or not is_several(given):
        return dict.fromkeys(named, grid)
    for name, values in grid.items():
        if name not in named:
            raise InputError(f"The grid is for {name!r}, which is none of the rankers{nearest(str(name), named)}")
        if not isinstance(values, Mapping):
            raise InputError("The grid of several rankers is by name: {'LambdaMART': {'max_leaves': [4, 16]}}.")
    return {name: grid.get(name) for name in named}


def _averaging_ties(name: str) -> Convention:
    counting = find_convention(name)
    return replace(counting, settings={**counting.settings, "ties": Ties.EXPECTED})


def _chosen_over_folds(ranker: Ranker, results: Sequence[FoldResult]) -> dict[str, Any]:
    """Return the setting that is best on average over folds, and its median number of rounds."""
    if not results[0].trials:
        return chosen_parameters(ranker, Trial({}, _median([fold.best_round for fold in results]), 0.0))
    by_setting = zip(*(fold.trials for fold in results), strict=True)
    return chosen_parameters(ranker, best_of([_mean_trial(trials) for trials in by_setting]))


def _mean_trial(trials: Sequence[Trial]) -> Trial:
    rounds, value = _median([trial.rounds for trial in trials]), float(np.mean([trial.value for trial in trials]))
    return Trial(trials[0].parameters, rounds, value)


def _median(rounds: Sequence[int]) -> int:
    return max(1, round(float(np.median(rounds))))
