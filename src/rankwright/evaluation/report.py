"""The result of an evaluation: one value per system, metric and query, from which all means and tests derive."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.data.query_filters import told
from rankwright.metrics.base import mean_over_queries
from rankwright.metrics.parse import as_metric
from rankwright.reports.charts.bars import difference_chart
from rankwright.reports.charts.notebook import bundle, table_html
from rankwright.reports.charts.rows import interval_chart
from rankwright.statistics.bootstrap import mean_interval
from rankwright.statistics.intervals import spelled_means, without_nan
from rankwright.statistics.paired_tests import Comparison, compare_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.judged_runs import Coverage
    from rankwright.metrics.parse import MetricLike
    from rankwright.reports.charts.chart import Chart


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """Values of metrics on every query; NaN for a query that is left out.

    `empty` has, for each metric, the number of queries in which all rankings are equally good. `query_facts` has
    for each query its number of `documents` and of `relevant` ones, those with a label of at least 1. `coverage`
    has, for each run, what only the run or only the judgements hold. `dropped` has the number of queries that were
    left out as asked for, by reason.
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    queries: tuple[Any, ...]
    values: Mapping[tuple[str, str], Doubles]
    empty: Mapping[str, int]
    convention: str
    query_facts: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    coverage: Mapping[str, Coverage] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)

    def per_query(self, system: str, metric: MetricLike) -> Doubles:
        """Return one value per query."""
        name = self._metric_name(metric)
        if (system, name) not in self.values:
            raise InputError(
                f"The report has no {name} of {system}; it has {', '.join(self.metrics)} "
                f"of {', '.join(self.systems)}."
            )
        return self.values[system, name]

    def mean(self, system: str, metric: MetricLike) -> float:
        """Return the mean over queries."""
        return mean_over_queries(self.per_query(system, metric))

    def interval(self, system: str, metric: MetricLike) -> tuple[float, float]:
        """Return the 95 % bootstrap confidence interval of the mean over queries."""
        return mean_interval(self.per_query(system, metric))

    def compare(self, one: str, other: str, metric: MetricLike | None = None) -> Comparison:
        """Test whether `one` is better than `other`, paired by query, by default on the first metric."""
        metric = self.metrics[0] if metric is None else metric
        return compare_values(self.per_query(one, metric), self.per_query(other, metric))

    def to_dict(self) -> dict[str, Any]:
        """Return means and counts as JSON values."""
        means = {system: {metric: self.mean(system, metric) for metric in self.metrics} for system in self.systems}
        return {
            "convention": self.convention,
            "queries": len(self.queries),
            "empty_queries": dict(self.empty),
            **self.dropped_facts(),
            "systems": without_nan(means),
            **self.coverage_facts(),
        }

    def coverage_facts(self) -> dict[str, Any]:
        """Return what runs or judgements alone hold as JSON values; empty without runs."""
        return {"coverage": {name: asdict(one) for name, one in self.coverage.items()}} if self.coverage else {}

    def dropped_facts(self) -> dict[str, Any]:
        """Return how many queries were dropped as JSON values; empty if none was to be dropped."""
        return {"dropped_queries": dict(self.dropped)} if self.dropped else {}

    def remarks(self) -> list[str]:
        """Return what runs or judgements alone hold, and how it counts."""
        remarks = []
        measured = set(map(str, self.queries))
        for system, coverage in self.coverage.items():
            zero = sum(query in measured for query in coverage.queries_not_retrieved)
            left = len(coverage.queries_not_retrieved) - zero
            for number, effect in ((zero, "counted as 0"), (left, "left out for all systems")):
                if number:
                    remarks.append(f"{system}: {counted(number, 'judged query')} without a document, {effect}")
            remarks += [f"{system}: {remark}" for remark in coverage.remarks()]
        unjudged = [name for name, one in self.coverage.items() if one.n_unjudged_documents]
        complete = [name for name in self.systems if name not in self.coverage]
        if unjudged and complete:
            remarks.append(
                f"{complete[0]} ranks judged documents only, but {unjudged[0]} also retrieves others, which count "
                "as irrelevant: this favours the former"
            )
        return remarks

    def chart(self, metric: MetricLike | None = None) -> Chart:
        """Return the means of all systems with their intervals, best first; by default of the first metric."""
        name = self._metric_name(metric)
        rows = [(one, self.mean(one, name), *self.interval(one, name)) for one in self.systems]
        rows.sort(key=lambda row: -np.inf if np.isnan(row[1]) else row[1], reverse=True)
        over = counted(len(self.queries), "query")
        description = f"Mean {name} with its 95 % interval over {over}: {spelled_means(rows)}."
        return interval_chart(rows, name, description=description)

    def difference_chart(self, one: str, other: str, metric: MetricLike | None = None) -> Chart:
        """Return the difference of two systems on every query, by default in the first metric."""
        name = self._metric_name(metric)
        differences = self.per_query(one, name) - self.per_query(other, name)
        counts = [f"{word} on {side.sum():,}" for word, side in _sides(differences).items()]
        description = f"Difference in {name} per query: {one} is {', '.join(counts)}, beside {other}."
        label = f"difference in {name}: {one} \N{MINUS SIGN} {other}"
        return difference_chart(differences, self.queries, label, description=description)

    def _metric_name(self, metric: MetricLike | None) -> str:
        if metric is None:
            return self.metrics[0]
        return metric if isinstance(metric, str) else str(as_metric(metric))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return the means as a table, with a chart of the first metric, for a notebook."""
        rows = [(one, *(f"{self.mean(one, metric):.4f}" for metric in self.metrics)) for one in self.systems]
        table = table_html(("system", *self.metrics), rows, caption=f"{self.footnote()}.")
        return bundle(str(self), html=table, chart=self.chart)

    def __repr__(self) -> str:
        systems, metrics = ", ".join(self.systems), ", ".join(self.metrics)
        return f"Report({metrics} of {systems}, {counted(len(self.queries), 'query')})"

    def __str__(self) -> str:
        width = max(map(len, self.systems))
        columns = {metric: max(14, len(metric) + 2) for metric in self.metrics}
        lines = [" " * width + "".join(f"{metric:>{column}}" for metric, column in columns.items())]
        for system in self.systems:
            means = "".join(f"{self.mean(system, metric):>{column}.4f}" for metric, column in columns.items())
            lines.append(f"{system:<{width}}{means}")
        return "\n".join([*lines, self.footnote()])

    def footnote(self) -> str:
        """Return a sentence with the number of queries, how many were empty or dropped, and the convention."""
        several = ", ".join(f"{count:,} ({metric})" for metric, count in self.empty.items())
        counts = set(self.empty.values())
        empty = f"{counts.pop():,}" if len(counts) == 1 else several
        dropped = f"dropped: {told(self.dropped)}; " if self.dropped else ""
        queries = counted(len(self.queries), "query")
        return f"{queries}, {empty} of them empty; {dropped}convention {self.convention}"


def _sides(differences: Doubles) -> dict[str, Any]:
    return {"better": differences > 0, "equal": differences == 0, "worse": differences < 0}
