"""The result of a cross-validation: every fold of a ranker, and the values of all test queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.wording import counted
from rankwright.evaluation.report import Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer
    from rankwright.rankers.ranker import Ranker
    from rankwright.tuning.trials import Trial


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
    the setting that is best on average over folds; if rounds were chosen, the median of their number. `dropped`
    has the number of queries that were left out as asked for, by reason.
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
    dropped: Mapping[str, int] = field(default_factory=dict)

    def mean(self, metric: str, *, averaged_ties: bool = False) -> float:
        """Return the mean over folds of a metric's mean over test queries."""
        reports = [fold.averaged_ties if averaged_ties else fold.report for fold in self.folds]
        return float(np.mean([report.mean(self.ranker, metric) for report in reports]))

    def per_query(self, metric: str) -> Doubles:
        """Return one value per test query, the mean over repeats; NaN for a query that is left out."""
        repeats = [
            np.concatenate([one.per_query(self.ranker, metric) for one in reports])[order]
            for reports, order in map(self._tested, range(1, self.repeats + 1))
        ]
        return repeats[0] if self.repeats == 1 else np.asarray(np.mean(repeats, axis=0))

    def pooled(self) -> Report:
        """Return one report of the test queries of all folds; a query counts once, as its mean over repeats."""
        reports, order = self._tested(1)
        queries = [query for one in reports for query in one.queries]
        return Report(
            systems=(self.ranker,),
            metrics=self.metrics,
            queries=tuple(queries[place] for place in order),
            values={(self.ranker, metric): self.per_query(metric) for metric in self.metrics},
            empty={metric: sum(one.empty[metric] for one in reports) for metric in self.metrics},
            convention=self.convention,
            query_facts={
                name: np.concatenate([one.query_facts[name] for one in reports])[order]
                for name in reports[0].query_facts
            },
            dropped=self.dropped,
        )

    def standard_error(self, metric: str) -> float:
        """Return the standard error of the mean over test queries; repeats of a query count as one."""
        values = self.per_query(metric)
        values = values[~np.isnan(values)]
        return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")

    def fold_name(self, fold: FoldResult) -> str:
        """Return the name of a fold, with the number of its repeat if there are several."""
        return fold.fold if self.repeats == 1 else f"{fold.fold}, repeat {fold.repeat}"

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
            **({"dropped_queries": dict(self.dropped)} if self.dropped else {}),
            "folds": [self._fold_to_dict(fold) for fold in self.folds],
            "chosen": dict(self.chosen),
            "mean": {metric: self.mean(metric) for metric in self.metrics},
            "standard_error": {metric: self.standard_error(metric) for metric in self.metrics},
            "mean_with_ties_averaged": {metric: self.mean(metric, averaged_ties=True) for metric in self.metrics},
            "seconds": self.seconds,
        }

    def _tested(self, repeat: int) -> tuple[list[Report], NDArray[np.int64]]:
        """Return the reports of one repeat, and the order of their queries: by id if there are several repeats."""
        reports = [fold.report for fold in self.folds if fold.repeat == repeat]
        queries = np.concatenate([report.queries for report in reports])
        return reports, np.arange(len(queries)) if self.repeats == 1 else np.argsort(queries, kind="stable")

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
