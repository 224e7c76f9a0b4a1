"""The result of a cross-validation: every fold of a ranker, and the values of all test queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import parameter
from rankwright.base.wording import counted, metric_value, percent, plain, seconds
from rankwright.crossval.time_drift import TimeDrift
from rankwright.evaluation.report import Report
from rankwright.reports.blocks import Column, Figure, Kind, Note, Section, Table, Text
from rankwright.reports.charts.bars import interval_chart
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer
    from rankwright.rankers.ranker import Ranker
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart
    from rankwright.tuning.trials import Trial

MAX_TRIALS = 200  # listed
MANY_KNOWN = 0.1  # the fraction of known documents above which a report says it
TUNED = {"validation": "tuned on the validation part of each fold", "out-of-fold": "tuned out of fold"}


@dataclass(frozen=True)
class FoldResult:
    """Results of one fold.

    They are its test report, the same with ties averaged, the chosen setting, all trials, the fitted model, and
    the times of the test queries if folds are in time order.
    """

    fold: str
    repeat: int
    report: Report
    averaged_ties: Report
    best_round: int
    chosen: Mapping[str, Any]
    trials: tuple[Trial, ...]
    model: Scorer
    period: str = ""


@dataclass(frozen=True, repr=False)
class CrossValidation(Result):
    """A ranker's results on every fold.

    `best` is the ranker to fit on all data, not fitted yet. It has the `chosen` parameters: with tuning, those of
    the setting that is best on average over folds; if rounds were chosen, the median of their number. `dropped`
    has the number of queries that were left out as asked for, by reason, `known_documents` the fraction of the
    relevant test documents that are relevant for a training query too.
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
    known_documents: float = float("nan")

    def mean(self, metric: str, *, averaged_ties: bool = False) -> float:
        """Return the mean over folds of a metric's mean over test queries."""
        reports = [fold.averaged_ties if averaged_ties else fold.report for fold in self.folds]
        return float(np.mean([report.mean(self.ranker, metric) for report in reports]))

    def per_query(self, metric: str) -> Doubles:
        """Return one value per test query, the mean over repeats; NaN for a query that is left out."""
        repeats = [
            np.concatenate([report.per_query(self.ranker, metric) for report in reports])[order]
            for reports, order in map(self._tested, range(1, self.repeats + 1))
        ]
        return repeats[0] if self.repeats == 1 else np.asarray(np.mean(repeats, axis=0))

    def pooled(self) -> Report:
        """Return one report of the test queries of all folds; a query counts once, as its mean over repeats."""
        reports, order = self._tested(1)
        queries = [query for report in reports for query in report.queries]
        return Report(
            systems=(self.ranker,),
            metrics=self.metrics,
            queries=tuple(queries[index] for index in order),
            values={(self.ranker, metric): self.per_query(metric) for metric in self.metrics},
            empty={metric: sum(report.empty[metric] for report in reports) for metric in self.metrics},
            convention=self.convention,
            query_facts={
                name: np.concatenate([report.query_facts[name] for report in reports])[order]
                for name in reports[0].query_facts
            },
            dropped=self.dropped,
        )

    def standard_error(self, metric: str) -> float:
        """Return the standard error of the mean over test queries; repeats of a query count as one."""
        values = self.per_query(metric)
        values = values[~np.isnan(values)]
        return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")

    def drift(self, metric: str | None = None) -> TimeDrift | None:
        """Return the values by fold in time order, of the first metric by default; None for random folds."""
        if not all(fold.period for fold in self.folds):
            return None
        name = metric or self.metrics[0]
        values = [fold.report.per_query(self.ranker, name) for fold in self.folds]
        return TimeDrift(name, tuple(fold.period for fold in self.folds), {self.ranker: values})

    def fold_name(self, fold: FoldResult) -> str:
        """Return the name of a fold, with the number of its repeat if there are several."""
        return fold.fold if self.repeats == 1 else f"{fold.fold}, repeat {fold.repeat}"

    @property
    def title(self) -> str:
        """The title of a page."""
        return f"Cross-validation of {type(self.best).__name__}"

    @property
    def expected(self) -> str:
        """What to expect on new queries: the mean of the first metric with its standard error, in words."""
        metric = self.metrics[0]
        error = self.standard_error(metric)
        doubt = "" if np.isnan(error) else f" (standard error {metric_value(error)})"
        return f"a mean {metric} of {metric_value(self.mean(metric))}{doubt}"

    @property
    def how_chosen(self) -> str:
        """How parameters and rounds were chosen, in words."""
        if self.protocol in TUNED:
            return f"parameters and rounds are {TUNED[self.protocol]}"
        by_validation = "; the validation part of each fold chooses the number of rounds" if self.chosen else ""
        return f"parameters are not tuned{by_validation}"

    @property
    def summary(self) -> str:
        """The mean over folds, with its standard error, in one sentence."""
        queries = counted(len(self.per_query(self.metrics[0])), "test query")
        folds = counted(len(self.folds) // self.repeats, "fold")
        times = "" if self.repeats == 1 else f", {self.repeats} times"
        return f"{type(self.best).__name__} has {self.expected} on the {queries} of {folds}{times}."

    def blocks(self) -> Iterator[Section]:
        """Yield every fold with the means, and what was chosen."""
        yield Section("Folds", list(self._fold_blocks()))
        if (drift := self.drift()) is not None:
            yield Section("Drift", drift.blocks())
        yield Section("What was chosen", list(self._chosen_blocks()))

    def to_dict(self) -> dict[str, Any]:
        """Return the results as JSON values."""
        facts: dict[str, Any] = plain(
            {
                "ranker": self.ranker,
                "convention": self.convention,
                "protocol": self.protocol,
                "repeats": self.repeats,
                **({"dropped_queries": self.dropped} if self.dropped else {}),
                "folds": [self._fold_to_dict(fold) for fold in self.folds],
                "chosen": self.chosen,
                "mean": {metric: self.mean(metric) for metric in self.metrics},
                "standard_error": {metric: self.standard_error(metric) for metric in self.metrics},
                "mean_with_ties_averaged": {name: self.mean(name, averaged_ties=True) for name in self.metrics},
                "known_documents": self.known_documents,
                "seconds": self.seconds,
                **({} if (drift := self.drift()) is None else {"drift": drift}),
            }
        )
        return facts

    def _fold_to_dict(self, fold: FoldResult) -> dict[str, Any]:
        return {
            "fold": fold.fold,
            **({"period": fold.period} if fold.period else {}),
            "repeat": fold.repeat,
            "metrics": {metric: fold.report.mean(self.ranker, metric) for metric in self.metrics},
            "chosen": fold.chosen,
            "rounds": fold.best_round,
            "trials": fold.trials,
            "empty_queries": fold.report.empty,
        }

    def _tested(self, repeat: int) -> tuple[list[Report], NDArray[np.int64]]:
        """Return the reports of one repeat, and the order of their queries: by id if there are several repeats."""
        reports = [fold.report for fold in self.folds if fold.repeat == repeat]
        queries = np.concatenate([report.queries for report in reports])
        return reports, np.arange(len(queries)) if self.repeats == 1 else np.argsort(queries, kind="stable")

    def _fold_blocks(self) -> Iterator[Block]:
        metric = self.metrics[0]
        if any(np.isfinite(fold.report.mean(self.ranker, metric)) for fold in self.folds):
            caption = f"{metric} of each fold's test queries, with its 95 % bootstrap interval."
            yield Figure(partial(self._folds_chart, caption), caption)
        setting = [Column("chosen", Kind.TEXT)] if any(fold.chosen for fold in self.folds) else []
        yield Table(
            [Column("fold", Kind.TEXT), *map(Column, self.metrics), Column("rounds", Kind.COUNT), *setting],
            [
                [
                    self.fold_name(fold),
                    *(fold.report.mean(self.ranker, name) for name in self.metrics),
                    fold.best_round,
                    *([_spelled(fold.chosen)] if setting else []),
                ]
                for fold in self.folds
            ],
            "Means over the test queries of each fold, and the number of rounds.",
        )
        averaged = {name: self.mean(name, averaged_ties=True) for name in self.metrics}
        has_ties = any(metric_value(averaged[name]) != metric_value(self.mean(name)) for name in self.metrics)
        titles = ("mean over folds", "standard error", *(("ties averaged",) if has_ties else ()))
        yield Table(
            [Column("metric", Kind.TEXT), *map(Column, titles)],
            [
                [name, self.mean(name), self.standard_error(name), averaged[name]][: 1 + len(titles)]
                for name in self.metrics
            ],
            "Means over folds; standard error: over test queries"
            + ("; ties averaged: over all orders of equal scores." if has_ties else "."),
        )
        yield Note(f"{self.pooled().footnote()}; {self.how_chosen}; {seconds(self.seconds)}.")
        if self.known_documents > MANY_KNOWN:
            yield Note(
                f"{percent(self.known_documents)} of the relevant test documents are relevant for training "
                "queries too, and a ranker can learn to recognise them: "
                f"{parameter('new_documents')} tests on others."
            )

    def _folds_chart(self, description: str) -> Chart:
        metric = self.metrics[0]
        rows = [
            (self.fold_name(fold), mean, *fold.report.interval(self.ranker, metric))
            for fold in self.folds
            if np.isfinite(mean := fold.report.mean(self.ranker, metric))
        ]
        return interval_chart(rows, metric, description=description)

    def _chosen_blocks(self) -> Iterator[Block]:
        """Yield what folds chose, and all trials that they chose from."""
        if self.chosen:
            yield Text(f"For a model of all queries: {_spelled(self.chosen)}.")
        trials = [(fold, trial) for fold in self.folds for trial in fold.trials]
        if trials:
            names = list(dict.fromkeys(name for _, trial in trials for name in trial.parameters))
            settings = [Column(name, Kind.TEXT) for name in names]
            yield Table(
                [Column("fold", Kind.TEXT), *settings, Column("rounds", Kind.COUNT), Column("value")],
                [
                    [
                        self.fold_name(fold),
                        *(trial.parameters.get(name, "") for name in names),
                        trial.rounds,
                        trial.value,
                    ]
                    for fold, trial in trials[:MAX_TRIALS]
                ],
                "All settings that were tried; each fold chose the one with the highest value.",
            )
        if len(trials) > MAX_TRIALS:
            yield Note(f"The first {MAX_TRIALS} of {len(trials):,} trials are listed.")


def _spelled(setting: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in setting.items())
