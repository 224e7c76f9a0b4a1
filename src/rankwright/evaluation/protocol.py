"""Cross-validation of a ranker, over the folds of a collection or over folds made from it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.data.counted import counted
from rankwright.errors import InputError
from rankwright.evaluation.choosing import default_protocol, find_protocol
from rankwright.evaluation.folds import Division, Folds
from rankwright.evaluation.grid import settings_of
from rankwright.evaluation.measurement import checked_metrics, evaluate
from rankwright.evaluation.trials import Trial, best_of, chosen_parameters, configured
from rankwright.evaluation.tuning import count_trials, require_workers
from rankwright.evaluation.tuning import tune as choose_setting
from rankwright.metrics import Convention, Ties, find_convention
from rankwright.rankers.catalogue import as_ranker
from rankwright.training.workers import run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankwright.arrays import Doubles
    from rankwright.evaluation.choosing import Judged
    from rankwright.evaluation.folds import FoldParts, FoldsData
    from rankwright.evaluation.grid import Grid
    from rankwright.evaluation.report import Report
    from rankwright.metrics import Metric, MetricLike
    from rankwright.models import Scorer
    from rankwright.rankers.ranker import Ranker
    from rankwright.training.workers import OnRound

    Fit = Callable[[FoldParts], "Fitted"]

DEFAULTS = "defaults"  # name of the protocol without tuning


@dataclass(frozen=True)
class FoldResult:
    """Results of one fold.

    They are its test report, the same with ties averaged, the chosen setting, all trials, and the fitted model.
    """

    fold: str
    repeat: int
    report: Report
    averaged_ties: Report
    best_round: int
    chosen: Mapping[str, Any]
    trials: tuple[Trial, ...]
    model: Scorer


@dataclass(frozen=True, repr=False)
class CrossValidation:
    """A ranker's results on every fold.

    `best` is the ranker to fit on all data, not fitted yet. It has the `chosen` parameters: with tuning, those of
    the setting that is best on average over folds; if rounds were chosen, the median of their number.
    """

    ranker: str
    convention: str
    protocol: str
    metrics: tuple[str, ...]
    folds: tuple[FoldResult, ...]
    repeats: int
    best: Ranker
    chosen: Mapping[str, Any]
    seconds: float

    def mean(self, metric: str, *, averaged_ties: bool = False) -> float:
        """Return the mean over folds of a metric's mean over test queries."""
        reports = [fold.averaged_ties if averaged_ties else fold.report for fold in self.folds]
        return float(np.mean([report.mean(self.ranker, metric) for report in reports]))

    def per_query(self, metric: str) -> Doubles:
        """Return one value per test query, the mean over repeats; NaN for a query that is left out."""
        if self.repeats == 1:
            return np.concatenate([fold.report.per_query(self.ranker, metric) for fold in self.folds])
        return np.asarray(np.mean([self._by_query(metric, repeat + 1) for repeat in range(self.repeats)], axis=0))

    def standard_error(self, metric: str) -> float:
        """Return the standard error of the mean over test queries; repeats of a query count as one."""
        values = self.per_query(metric)
        values = values[~np.isnan(values)]
        return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")

    def __repr__(self) -> str:
        means = ", ".join(f"{metric} {self.mean(metric):.4f}" for metric in self.metrics)
        return f"CrossValidation({means} of {self.ranker}, {counted(len(self.folds), 'fold')})"

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain JSON."""
        return {
            "ranker": self.ranker,
            "convention": self.convention,
            "protocol": self.protocol,
            "repeats": self.repeats,
            "folds": [self._fold_to_dict(fold) for fold in self.folds],
            "chosen": dict(self.chosen),
            "mean": {metric: self.mean(metric) for metric in self.metrics},
            "standard_error": {metric: self.standard_error(metric) for metric in self.metrics},
            "mean_with_ties_averaged": {metric: self.mean(metric, averaged_ties=True) for metric in self.metrics},
            "seconds": self.seconds,
        }

    def _by_query(self, metric: str, repeat: int) -> Doubles:
        """Return the values of one repeat in the order of the query ids."""
        reports = [fold.report for fold in self.folds if fold.repeat == repeat]
        order = np.argsort(np.concatenate([report.queries for report in reports]))
        return np.concatenate([report.per_query(self.ranker, metric) for report in reports])[order]

    def _fold_to_dict(self, fold: FoldResult) -> dict[str, Any]:
        return {
            "fold": fold.fold,
            "repeat": fold.repeat,
            "metrics": {metric: fold.report.mean(self.ranker, metric) for metric in self.metrics},
            "chosen": dict(fold.chosen),
            "rounds": fold.best_round,
            "trials": [trial.to_dict() for trial in fold.trials],
            "empty_queries": dict(fold.report.empty),
        }


class Fitted(NamedTuple):
    """A ranker fitted on one fold, the chosen setting, and the trials it was chosen from."""

    ranker: Ranker
    chosen: Mapping[str, Any]
    trials: tuple[Trial, ...]


def cross_validate(
    ranker: Ranker | str,
    data: FoldsData,
    *,
    folds: int = 5,
    repeats: int = 1,
    validation: float = 0.0,
    random_state: int = 0,
    metrics: MetricLike | Sequence[MetricLike] = ("ndcg@10", "map"),
    convention: str = "standard",
    refit: bool = False,
    tune: str | bool | None = None,
    grid: Grid | None = None,
    workers: int | None = None,
    on_fit: Callable[[], None] = lambda: None,
    on_fold: Callable[[FoldResult], None] = lambda _: None,
) -> CrossValidation:
    """Fit and test a ranker on each fold of a collection.

    The training part of a fold is fitted, its validation part, if any, chooses the round to keep, and its test
    part is measured. Results include values with ties averaged: file order within ties may favour equal scores.

    Parameters
    ----------
    ranker, data
        The ranker or its name; and judged documents, a file of them, a folder with Fold1, Fold2 and so on, or a
        list of (train, test) or (train, valid, test).
    folds, repeats, random_state
        Data without folds are divided at random, by query, into this many folds, this many times. Neither the
        order of rows nor the names of queries matter.
    validation
        The fraction of the queries outside the test part that become the validation part of data without folds.
        With 0 there is none, and the ranker learns for all its rounds.
    refit
        Whether to fit again on training and validation part, for the number of rounds that validation chose.
    tune
        How each fold chooses setting and rounds: on the `"validation"` part, or `"out-of-fold"`, by
        cross-validation over its training and validation queries; the final fit then uses both. True: on the
        validation part if there is one. None fits the ranker as it is.
    grid
        The values to try for each parameter; by default the ranker's grid, without parameters that have been set.
    workers
        Number of concurrent fits; None: one per thread.
    on_fit, on_fold
        Called after each fit (see `count_fits`), and with the result of each fold.
    """
    started = time.perf_counter()
    ranker = as_ranker(ranker)
    asked = checked_metrics(metrics, find_convention(convention))  # fails before any fit
    parts = Folds.of(data, Division(folds, repeats, validation, random_state), n_jobs=ranker.n_jobs)
    protocol = _protocol(tune, refit=refit, has_validation=parts.has_validation)
    fit = _tuner(ranker, protocol, grid, workers, on_fit) if protocol else _fitter(ranker, on_fit, refit=refit)
    results = []
    for fold in parts:
        results.append(_measure(fold, fit(fold), asked, convention))
        on_fold(results[-1])
    chosen = _chosen_over_folds(ranker, results) if protocol or parts.has_validation else {}
    how, best = (convention, protocol or DEFAULTS, tuple(map(str, asked))), configured(ranker, chosen)
    seconds = time.perf_counter() - started
    return CrossValidation(ranker.name, *how, tuple(results), parts.repeats, best, chosen, seconds)


def count_fits(ranker: Ranker, *, tune: str | None = None, grid: Grid | None = None) -> int:
    """Return the number of fits of `cross_validate` per fold."""
    return 1 + (count_trials(ranker, tune, has_validation=True, grid=grid) if tune else 0)


def _protocol(tune: str | bool | None, *, refit: bool, has_validation: bool) -> str | None:
    """Return the name of the tuning protocol, None without tuning."""
    if refit and tune:
        raise InputError("refit=True is for fits without tuning; tune='out-of-fold' also learns from both parts.")
    return default_protocol(has_validation=has_validation) if tune is True else tune or None


def _fitter(ranker: Ranker, on_fit: Callable[[], None], *, refit: bool) -> Fit:
    """Return a function that fits the ranker as it is; the validation part, if any, chooses the round."""

    def fit(fold: FoldParts) -> Fitted:
        return Fitted(_fit_whole(configured(ranker, {}), fold.train, fold.valid, on_fit, refit=refit), {}, ())

    return fit


def _tuner(
    ranker: Ranker, protocol: str, grid: Grid | None, workers: int | None, on_fit: Callable[[], None]
) -> Fit:
    """Return a function that tries all settings on a fold, and fits the best one for its best number of rounds."""
    require_workers(workers)  # mistakes are reported before any fit
    find_protocol(protocol)
    settings_of(ranker, grid)

    def fit(fold: FoldParts) -> Fitted:
        tried: dict[str, Any] = {"grid": True if grid is None else grid, "workers": workers, "on_fit": on_fit}
        found = choose_setting(ranker, fold.train, validation=fold.valid, choose=protocol, **tried)
        return Fitted(_fit_whole(found.ranker, found.data, None, on_fit), found.best.parameters, found.trials)

    return fit


def _fit_whole(
    ranker: Ranker, train: Judged, valid: Judged | None, on_fit: Callable[[], None], *, refit: bool = False
) -> Ranker:
    """Fit on another thread: Ctrl-C then ends the wait for the fit, and no half-fitted ranker is kept."""

    def fit(one: Ranker, on_round: OnRound) -> Ranker:
        return one.fit(train, validation=valid, refit=refit, on_round=on_round)

    return run_all(fit, [ranker], workers=1, on_done=on_fit)[0]


def _measure(fold: FoldParts, fitted: Fitted, metrics: Sequence[Metric], counting: str) -> FoldResult:
    ranker, chosen, trials = fitted
    scores = {ranker.name: ranker.predict(fold.test)}
    threads = ranker.n_jobs
    report = evaluate(scores, fold.test, metrics=metrics, convention=counting, n_jobs=threads)
    averaged = evaluate(scores, fold.test, metrics=metrics, convention=_averaging_ties(counting), n_jobs=threads)
    rounds = ranker.history_.best_round
    return FoldResult(fold.name, fold.repeat, report, averaged, rounds, chosen, trials, ranker.model_)


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
