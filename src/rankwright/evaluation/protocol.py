"""Cross-validation over the folds of a judged collection."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.data import find_folds, read_fold
from rankwright.evaluation.measurement import checked_metrics, evaluate
from rankwright.evaluation.tuning import (
    best_of,
    configured,
    find_protocol,
    finished,
    require_workers,
    settings_of,
    try_settings,
)
from rankwright.metrics import Convention, Ties, find_convention

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from rankwright.data import RankingData
    from rankwright.evaluation.report import Report
    from rankwright.evaluation.tuning import Grid, Trial
    from rankwright.metrics import Metric
    from rankwright.rankers.ranker import Ranker

DEFAULTS = "defaults"  # name of the protocol without tuning


@dataclass(frozen=True)
class FoldResult:
    """Results of one fold: its test report, the same with ties averaged, the chosen setting and all trials."""

    fold: str
    report: Report
    averaged_ties: Report
    best_round: int
    chosen: Mapping[str, Any]
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class CrossValidation:
    """A ranker's results on every fold."""

    ranker: str
    convention: str
    protocol: str
    metrics: tuple[str, ...]
    folds: tuple[FoldResult, ...]
    seconds: float

    def mean(self, metric: str, *, averaged_ties: bool = False) -> float:
        """Return the mean over folds of a metric's mean over test queries."""
        reports = [fold.averaged_ties if averaged_ties else fold.report for fold in self.folds]
        return float(np.mean([report.mean(self.ranker, metric) for report in reports]))

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain JSON."""
        return {
            "ranker": self.ranker,
            "convention": self.convention,
            "protocol": self.protocol,
            "folds": [self._fold_to_dict(fold) for fold in self.folds],
            "mean": {metric: self.mean(metric) for metric in self.metrics},
            "mean_with_ties_averaged": {metric: self.mean(metric, averaged_ties=True) for metric in self.metrics},
            "seconds": self.seconds,
        }

    def _fold_to_dict(self, fold: FoldResult) -> dict[str, Any]:
        return {
            "fold": fold.fold,
            "metrics": {metric: fold.report.mean(self.ranker, metric) for metric in self.metrics},
            "chosen": dict(fold.chosen),
            "rounds": fold.best_round,
            "trials": [
                {"parameters": dict(trial.parameters), "rounds": trial.rounds, "value": trial.value}
                for trial in fold.trials
            ],
            "empty_queries": dict(fold.report.empty),
        }


class Fitted(NamedTuple):
    """A ranker fitted on one fold, the chosen setting, and the trials it was chosen from."""

    ranker: Ranker
    chosen: Mapping[str, Any]
    trials: tuple[Trial, ...]


def cross_validate(
    ranker: Ranker,
    folder: str | os.PathLike[str],
    *,
    metrics: Sequence[Metric | str] = ("ndcg@10", "map"),
    convention: str = "standard",
    tune: str | None = None,
    grid: Grid | None = None,
    workers: int | None = None,
    on_fit: Callable[[], None] = lambda: None,
    on_fold: Callable[[FoldResult], None] = lambda _: None,
) -> CrossValidation:
    """Fit and test a ranker on each fold of a folder (Fold1, Fold2, ...).

    The ranker is fitted on the training part; the validation part chooses the best round; metrics are computed on
    the test part. Beside the convention's value, results include the value with ties averaged: if a file is sorted
    by relevance, keeping its order within ties favours a ranker with many equal scores.

    Parameters
    ----------
    tune
        How each fold chooses the setting and the number of rounds: on the `"validation"` part; or `"out-of-fold"`,
        by cross-validation over the queries of the training and validation parts, and the final fit then uses
        both. None fits the ranker as it is.
    grid
        The values to try for each parameter. None uses the ranker's default grid, without the parameters that have
        been set.
    workers
        Number of concurrent fits; None: one per thread. They share the ranker's threads. Results do not depend on
        it.
    on_fit, on_fold
        Progress callbacks: called after each fit (see `count_fits`), and with the result of each fold.
    """
    started = time.perf_counter()
    asked = checked_metrics(metrics, find_convention(convention))  # fails before any fit
    fit = _tuner(ranker, tune, grid, workers, on_fit) if tune else _fitter(ranker)
    results = []
    for path in find_folds(folder):
        train, valid, test = read_fold(path, n_jobs=ranker.n_jobs)
        fitted = fit(train, valid)
        on_fit()
        results.append(_measure(path.name, fitted, test, asked, convention))
        on_fold(results[-1])
    seconds = time.perf_counter() - started
    names = tuple(map(str, asked))
    return CrossValidation(ranker.name, convention, tune or DEFAULTS, names, tuple(results), seconds)


def count_fits(ranker: Ranker, *, tune: str | None = None, grid: Grid | None = None) -> int:
    """Return the number of fits of `cross_validate` per fold."""
    return 1 + (len(settings_of(ranker, grid)) * find_protocol(tune).n_parts if tune else 0)


def _fitter(ranker: Ranker) -> Callable[[RankingData, RankingData], Fitted]:
    """Return a function that fits the ranker as it is; the validation part chooses the best round."""
    return lambda train, valid: Fitted(finished(configured(ranker, {}).fit(train, validation=valid)), {}, ())


def _tuner(
    ranker: Ranker, tune: str, grid: Grid | None, workers: int | None, on_fit: Callable[[], None]
) -> Callable[[RankingData, RankingData], Fitted]:
    """Return a function that tries all settings on a fold, and fits the best one for its best number of rounds."""
    require_workers(workers)
    protocol, settings = find_protocol(tune), settings_of(ranker, grid)

    def fit(train: RankingData, valid: RankingData) -> Fitted:
        parts, final = protocol.plan(train, valid)
        trials = try_settings(ranker, settings, parts, workers=workers, on_fit=on_fit)
        best = best_of(trials)
        rounds = {"rounds": best.rounds} if "rounds" in ranker.get_params(deep=False) else {}
        one = configured(ranker, {**best.parameters, **rounds})
        return Fitted(finished(one.fit(final)), best.parameters, tuple(trials))

    return fit


def _measure(name: str, fitted: Fitted, test: RankingData, metrics: Sequence[Metric], counting: str) -> FoldResult:
    ranker, chosen, trials = fitted
    scores = {ranker.name: ranker.predict(test)}
    threads = ranker.n_jobs
    report = evaluate(scores, test, metrics=metrics, convention=counting, n_jobs=threads)
    averaged = evaluate(scores, test, metrics=metrics, convention=_averaging_ties(counting), n_jobs=threads)
    return FoldResult(name, report, averaged, ranker.history_.best_round, chosen, trials)


def _averaging_ties(name: str) -> Convention:
    counting = find_convention(name)
    return replace(counting, settings={**counting.settings, "ties": Ties.EXPECTED})
