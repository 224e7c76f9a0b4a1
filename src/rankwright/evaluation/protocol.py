"""Cross-validation over the folds of a judged collection."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.data import find_folds, read_fold
from rankwright.evaluation.measurement import checked_metrics, evaluate
from rankwright.metrics import Convention, Ties, find_convention

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rankwright.evaluation.report import Report
    from rankwright.metrics import Metric
    from rankwright.rankers import Ranker


@dataclass(frozen=True)
class FoldResult:
    """One fold: its test report, the same with ties averaged, and the round that was chosen."""

    fold: str
    report: Report
    averaged_ties: Report
    best_round: int


@dataclass(frozen=True)
class CrossValidation:
    """A ranker's results on every fold."""

    ranker: str
    convention: str
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
            "folds": [
                {
                    "fold": fold.fold,
                    "metrics": {metric: fold.report.mean(self.ranker, metric) for metric in self.metrics},
                    "best_round": fold.best_round,
                    "empty_queries": dict(fold.report.empty),
                }
                for fold in self.folds
            ],
            "mean": {metric: self.mean(metric) for metric in self.metrics},
            "mean_with_ties_averaged": {metric: self.mean(metric, averaged_ties=True) for metric in self.metrics},
            "seconds": self.seconds,
        }


def cross_validate(
    ranker: Ranker,
    folder: str | os.PathLike[str],
    *,
    metrics: Sequence[Metric | str] = ("ndcg@10", "map"),
    convention: str = "standard",
    on_fold: Callable[[FoldResult], None] | None = None,
) -> CrossValidation:
    """Fit and test a ranker on each fold of a folder (Fold1, Fold2, ...).

    The training part is learned from, the validation part chooses the round, the test part is measured.
    Beside the convention's own number stands the same with tied documents averaged over their orders: where
    a file is sorted by relevance, keeping its order between ties flatters a ranker that ties a lot.
    """
    started = time.perf_counter()
    asked = checked_metrics(metrics, find_convention(convention))  # before any fold is trained
    results = []
    for path in find_folds(folder):
        results.append(_run_fold(ranker, path, asked, convention))
        if on_fold is not None:
            on_fold(results[-1])
    seconds = time.perf_counter() - started
    return CrossValidation(ranker.name, convention, tuple(map(str, asked)), tuple(results), seconds)


def _run_fold(ranker: Ranker, path: Path, metrics: Sequence[Metric], counting: str) -> FoldResult:
    from sklearn.base import clone  # takes a second to import, and only this needs it

    train, valid, test = read_fold(path, n_threads=ranker.n_threads)
    fitted = clone(ranker).fit(train, validation=valid)
    if fitted.history_.interrupted:  # half a fit is a model to keep, but not one to compare
        raise KeyboardInterrupt
    scores = {ranker.name: fitted.predict(test)}
    report = evaluate(scores, test, metrics=metrics, convention=counting, n_threads=ranker.n_threads)
    averaged = evaluate(
        scores, test, metrics=metrics, convention=_averaging_ties(counting), n_threads=ranker.n_threads
    )
    return FoldResult(path.name, report, averaged, fitted.history_.best_round)


def _averaging_ties(name: str) -> Convention:
    counting = find_convention(name)
    return replace(counting, settings={**counting.settings, "ties": Ties.EXPECTED})
