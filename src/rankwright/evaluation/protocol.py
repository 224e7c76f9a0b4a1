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

DEFAULTS = "defaults"  # the protocol where nothing is tuned


@dataclass(frozen=True)
class FoldResult:
    """One fold: its test report, the same with ties averaged, and what was chosen and tried, if anything."""

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
    """A ranker ready for the test part, and how its setting was chosen."""

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

    The training part is learned from, the validation part chooses the round, the test part is measured.
    Beside the convention's own number stands the same with tied documents averaged over their orders: where
    a file is sorted by relevance, keeping its order between ties flatters a ranker that ties a lot.

    Parameters
    ----------
    tune
        How each fold chooses among settings, and the round: by the `"validation"` part, or `"out-of-fold"`, by
        cross-validation over the queries of training and validation part, both of which are then learned from.
        None fits the ranker as it is.
    grid
        The values to try of each parameter; None takes the ranker's own grid, but for what is set already.
    workers
        Fits at once, None for one a thread; they share the ranker's threads, and the results do not depend on
        it.
    on_fit, on_fold
        Called after each fit (see `count_fits`), and with each fold's result, to show progress.
    """
    started = time.perf_counter()
    asked = checked_metrics(metrics, find_convention(convention))  # before any fold is trained
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
    """Return how many fits a fold of `cross_validate` takes."""
    return 1 + (len(settings_of(ranker, grid)) * find_protocol(tune).n_parts if tune else 0)


def _fitter(ranker: Ranker) -> Callable[[RankingData, RankingData], Fitted]:
    """Return what fits the ranker as it is; the validation part chooses the round."""
    return lambda train, valid: Fitted(finished(configured(ranker, {}).fit(train, validation=valid)), {}, ())


def _tuner(
    ranker: Ranker, tune: str, grid: Grid | None, workers: int | None, on_fit: Callable[[], None]
) -> Callable[[RankingData, RankingData], Fitted]:
    """Return what tries all settings on a fold, and fits the best of them for its best number of rounds."""
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
