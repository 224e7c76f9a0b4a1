"""Several rankers cross-validated over the same folds: their test queries together, ranked and tested."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.base.wording import nearest
from rankwright.crossval.time_drift import TimeDrift
from rankwright.evaluation.compare import compare_report
from rankwright.evaluation.cutoffs import CutoffCurves, bare_name, by_cutoff
from rankwright.evaluation.slices import query_columns
from rankwright.reports.blocks import Column, Kind, Note, Section, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankwright.crossval.cross_validation_result import CrossValidation
    from rankwright.evaluation.compare import SystemComparison
    from rankwright.evaluation.report import Report
    from rankwright.reports.charts.chart import Chart


@dataclass(frozen=True, eq=False, repr=False)
class CrossComparison(Result):
    """The cross-validation of every ranker, by name; all over the same folds.

    `baseline` names the ranker that all others are compared with; None compares all pairs.
    """

    results: Mapping[str, CrossValidation]
    baseline: str | None = None

    def __getitem__(self, name: str) -> CrossValidation:
        if name not in self.results:
            raise InputError(f"There is no ranker {name!r}{nearest(str(name), self.results)}")
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def rankers(self) -> tuple[str, ...]:
        """The names of the rankers."""
        return tuple(self.results)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics."""
        return self._first.metrics

    @cached_property
    def report(self) -> Report:
        """The values of all rankers on all test queries; a query counts once, as its mean over repeats."""
        reports = [result.pooled() for result in self.results.values()]
        values = {name: column for report in reports for name, column in report.values.items()}
        return replace(reports[0], systems=tuple(self.results), values=values)

    def mean(self, name: str, metric: str, *, averaged_ties: bool = False) -> float:
        """Return a ranker's mean over folds of a metric's mean over test queries."""
        return self[name].mean(metric, averaged_ties=averaged_ties)

    def ranked(self, metric: str | None = None) -> list[str]:
        """Return the rankers, the highest mean over folds first; by default of the first metric."""
        by = self.metrics[0] if metric is None else metric
        return sorted(self.results, key=lambda name: -self.mean(name, by))

    def compare(
        self,
        *,
        baseline: str | None = None,
        slices: str | Sequence[str] | Mapping[str, Any] = (),
        level: float = 0.95,
        random_state: int = 0,
    ) -> SystemComparison:
        """Compare all pairs of rankers on all test queries, or each with a baseline.

        Parameters
        ----------
        slices
            As for `rankwright.compare`: `documents`, `relevant`, `difficulty`, or names with values by query id.
        baseline, level, random_state
            As for `rankwright.compare`; by default, the baseline is that of this result.
        """
        columns = query_columns(slices, self.report, None)
        options: dict[str, Any] = {"level": level, "random_state": random_state}
        return compare_report(self.report, columns=columns, baseline=baseline or self.baseline, **options)

    def drift(self, metric: str | None = None) -> TimeDrift | None:
        """Return the values by fold in time order, the best ranker first; None for random folds."""
        drifts = {name: self[name].drift(metric) for name in self.ranked(metric)}
        known = {name: drift.values[self[name].ranker] for name, drift in drifts.items() if drift is not None}
        first = next(iter(drifts.values()))
        return None if first is None else TimeDrift(first.metric, first.periods, known)

    def against(self, baseline: str | None) -> CrossComparison:
        """Return the same results, with all rankers compared with this one."""
        return replace(self, baseline=baseline)

    def curves(self, metric: str = "ndcg") -> CutoffCurves:
        """Return the means by cut-off of a metric that was measured at several, as in `metrics="ndcg@1-10"`."""
        return CutoffCurves.of(self.report, metric)

    def chart(self, metric: str | None = None) -> Chart:
        """Return the means of all rankers with their intervals, best first; by default of the first metric."""
        return self.report.chart(metric)

    @property
    def title(self) -> str:
        """The title of a page."""
        return f"Cross-validation of {len(self)} rankers"

    @property
    def summary(self) -> str:
        """The main result by the first metric: the best ranker against the next, or against the baseline."""
        return self._first.summary if self._comparison is None else self._comparison.summary

    def blocks(self) -> Iterator[Section]:
        """Yield the comparison of all rankers, their curves by cut-off, and every fold."""
        if self._comparison is not None:
            yield from self._comparison.sections
        for name in dict.fromkeys(map(bare_name, self.metrics)):
            if len(by_cutoff(self.metrics, name)) > 1:
                yield from self.curves(name).sections
        metric, first = self.metrics[0], self._first
        means = [[name, *(self.mean(name, other) for other in self.metrics)] for name in self.ranked()]
        folds = [[name, *(fold.report.mean(name, metric) for fold in self[name].folds)] for name in self.ranked()]
        if (drift := self.drift()) is not None:
            yield Section("Drift", drift.blocks())
        yield Section(
            "Folds",
            [
                Table([Column("mean over folds", Kind.TEXT), *map(Column, self.metrics)], means),
                Table(
                    [Column(metric, Kind.TEXT), *(Column(first.fold_name(fold)) for fold in first.folds)], folds
                ),
                Note("Means over the test queries of each fold, and means over folds of these."),
            ],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the results of every ranker, and of the comparison, as JSON values."""
        rankers = {name: result.to_dict() for name, result in self.results.items()}
        comparison = None if self._comparison is None else self._comparison.to_dict()
        drift = self.drift()
        return {"rankers": rankers, "comparison": comparison} | (
            {} if drift is None else {"drift": drift.to_dict()}
        )

    @cached_property
    def _comparison(self) -> SystemComparison | None:
        return self.compare() if len(self) > 1 else None

    @property
    def _first(self) -> CrossValidation:
        return next(iter(self.results.values()))
