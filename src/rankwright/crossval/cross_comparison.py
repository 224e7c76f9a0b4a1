"""Several rankers cross-validated over the same folds: their test queries together, ranked and tested."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.base.wording import counted, nearest
from rankwright.evaluation.compare import compare_report
from rankwright.evaluation.comparison_text import TextTable, pairs_table, tests_table
from rankwright.evaluation.cutoffs import CutoffCurves
from rankwright.evaluation.slices import query_columns
from rankwright.reports.charts.notebook import bundle
from rankwright.reports.text import aligned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankwright.crossval.cross_validation import CrossValidation
    from rankwright.evaluation.report import Report
    from rankwright.evaluation.system_comparison import SystemComparison
    from rankwright.reports.charts.chart import Chart


@dataclass(frozen=True, eq=False, repr=False)
class CrossComparison:
    """The cross-validation of every ranker, by name; all over the same folds."""

    results: Mapping[str, CrossValidation]

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
        reports = [one.pooled() for one in self.results.values()]
        values = {name: column for one in reports for name, column in one.values.items()}
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
            As for `rankwright.compare`.
        """
        columns = query_columns(slices, self.report, None)
        options: dict[str, Any] = {"baseline": baseline, "level": level, "random_state": random_state}
        return compare_report(self.report, columns=columns, **options)

    def curves(self, metric: str = "ndcg") -> CutoffCurves:
        """Return the means by cut-off of a metric that was measured at several, as in `metrics="ndcg@1-10"`."""
        return CutoffCurves.of(self.report, metric)

    def chart(self, metric: str | None = None) -> Chart:
        """Return the means of all rankers with their intervals, best first; by default of the first metric."""
        return self.report.chart(metric)

    def means_table(self) -> TextTable:
        """Return the means over folds of all metrics, the best ranker first."""
        rows = [[name, *(f"{self.mean(name, one):.4f}" for one in self.metrics)] for name in self.ranked()]
        return TextTable(["mean over folds", *self.metrics], rows)

    def folds_table(self, metric: str | None = None) -> TextTable:
        """Return the mean of every fold by one metric, by default the first."""
        by = self.metrics[0] if metric is None else metric
        rows = [
            [name, *(f"{fold.report.mean(name, by):.4f}" for fold in self[name].folds)] for name in self.ranked(by)
        ]
        return TextTable([by, *map(self._first.fold_name, self._first.folds)], rows)

    def tables(self, *, baseline: str | None = None) -> list[TextTable]:
        """Return what there is to print: means, folds, and the tests of all pairs by the first metric."""
        tables = [self.means_table(), self.folds_table()]
        if len(self) > 1:
            found, metric = self.compare(baseline=baseline), self.metrics[0]
            tables += [pairs_table(found, metric), tests_table(found, metric)]
        return tables

    def to_dict(self, *, baseline: str | None = None) -> dict[str, Any]:
        """Return the results of every ranker, and of the comparison, as plain JSON."""
        found = self.compare(baseline=baseline).to_dict() if len(self) > 1 else None
        return {"rankers": {name: one.to_dict() for name, one in self.results.items()}, "comparison": found}

    def __repr__(self) -> str:
        return f"CrossComparison({', '.join(self.results)}, {counted(len(self._first.folds), 'fold')})"

    def __str__(self) -> str:
        lines = [self.compare().summary] if len(self) > 1 else []
        for table in self.tables():
            lines += ["", *aligned([table.head, *table.rows])]
        return "\n".join([*lines, "", self.report.footnote()])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return the means with their chart for a notebook."""
        return bundle(str(self), chart=self.chart)

    @property
    def _first(self) -> CrossValidation:
        return next(iter(self.results.values()))
