"""The result of an evaluation: one value per system, metric and query, from which all means and tests derive."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted, metric_value, plain
from rankwright.data.query_filters import reasons_in_words
from rankwright.metrics.base import mean_over_queries
from rankwright.metrics.catalogue import as_metric
from rankwright.reports.blocks import Cell, Column, Figure, Kind, Note, Section, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.judged_runs import Coverage
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.reports.charts.chart import Chart
    from rankwright.statistics.paired_tests import Comparison


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """Values of metrics on every query; NaN for a query that is left out.

    `empty` has, for each metric, the number of queries in which all rankings are equally good. `query_facts` has
    for each query its number of `documents` and of `relevant` ones, those with a label of at least 1. `coverage`
    has, for each run, what only the run or only the judgements hold. `dropped` has the number of queries that were
    left out as asked for, by reason.

    Examples
    --------
    >>> judged = rw.synthetic.gaussian_queries(20, spread=(0.2, 1.3))
    >>> report = rw.evaluate({"new": judged.X[:, 0], "old": judged.X[:, 1]}, judged, metrics="map")
    >>> report.summary
    'new has the highest mean map over 20 queries, 0.9975.'
    >>> report.per_query("old", "map").shape, round(report.mean("old", "map"), 2)
    ((20,), 0.87)
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

    @property
    def title(self) -> str:
        """The heading on a page."""
        return "Evaluation"

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
        from rankwright.statistics.intervals import mean_interval

        return mean_interval(self.per_query(system, metric))

    def compare(self, system: str, other: str, metric: MetricLike | None = None) -> Comparison:
        """Test whether a system is better than another, paired by query, by default on the first metric."""
        from rankwright.statistics.paired_tests import compare_values

        metric = self.metrics[0] if metric is None else metric
        return compare_values(self.per_query(system, metric), self.per_query(other, metric))

    @property
    def summary(self) -> str:
        """The best system by the first metric, in one sentence."""
        metric = self.metrics[0]
        means = {system: self.mean(system, metric) for system in self.systems}
        known = {system: mean for system, mean in means.items() if isfinite(mean)}
        if not known:
            return f"No query has a value of {metric}."
        best = max(known, key=known.__getitem__)
        value, over = metric_value(known[best]), f"over {counted(len(self.queries), 'query')}"
        if len(self.systems) == 1:
            return f"The mean {metric} of {best} {over} is {value}."
        return f"{best} has the highest mean {metric} {over}, {value}."

    def blocks(self) -> Iterator[Section]:
        """Yield the means of all systems and metrics; pages and notebooks have their intervals too."""
        metric = self.metrics[0]
        figures = []
        if len(self.systems) > 1 and any(isfinite(self.mean(system, metric)) for system in self.systems):
            figures.append(Figure(self.chart, f"Mean {metric} over queries, with its 95 % interval."))
        columns = [Column("system", Kind.TEXT), *map(Column, self.metrics)]
        rows = [(system, *(self._mean_cell(system, name) for name in self.metrics)) for system in self.systems]
        table = Table(columns, rows, "Means over queries, with 95 % bootstrap intervals.")
        notes = [Note(f"{sentence}.") for sentence in (self.footnote(), *self.remarks())]
        yield Section("Means over queries", [*figures, table, *notes])

    def _mean_cell(self, system: str, metric: str) -> Cell:
        return Cell(self.mean(system, metric), limits=lambda: self.interval(system, metric))

    def to_dict(self) -> dict[str, Any]:
        """Return means and counts as JSON values."""
        means = {system: {metric: self.mean(system, metric) for metric in self.metrics} for system in self.systems}
        return {
            "convention": self.convention,
            "queries": len(self.queries),
            "empty_queries": dict(self.empty),
            **self.dropped_facts(),
            "systems": plain(means),
            **self.coverage_facts(),
        }

    def coverage_facts(self) -> dict[str, Any]:
        """Return what runs or judgements alone hold as JSON values; empty without runs."""
        return {"coverage": {name: asdict(run) for name, run in self.coverage.items()}} if self.coverage else {}

    def dropped_facts(self) -> dict[str, Any]:
        """Return how many queries were dropped as JSON values; empty if none was to be dropped."""
        return {"dropped_queries": dict(self.dropped)} if self.dropped else {}

    def footnote(self) -> str:
        """Return the number of queries, and what is unusual about them: empty or dropped ones, the convention."""
        by_metric = [f"{count:,} ({metric})" for metric, count in self.empty.items() if count]
        counts = set(self.empty.values())
        empty = f"{counts.pop():,}" if len(counts) == 1 else ", ".join(by_metric)
        parts = [
            f", {empty} of them empty (all rankings are equally good)" if by_metric else "",
            f"; dropped: {reasons_in_words(self.dropped)}" if self.dropped else "",
            f"; convention {self.convention}" if self.convention != "standard" else "",
        ]
        return f"{counted(len(self.queries), 'query')}{''.join(parts)}"

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
        unjudged = [name for name, run in self.coverage.items() if run.n_unjudged_documents]
        complete = [name for name in self.systems if name not in self.coverage]
        if unjudged and complete:
            remarks.append(
                f"{complete[0]} ranks judged documents only, but {unjudged[0]} also retrieves others, which count "
                "as irrelevant: this favours the former"
            )
        return remarks

    def chart(self, metric: MetricLike | None = None) -> Chart:
        """Return the means of all systems with their intervals, best first; by default of the first metric."""
        from rankwright.reports.charts.bars import described, interval_chart

        name = self._metric_name(metric)
        rows = [(system, self.mean(system, name), *self.interval(system, name)) for system in self.systems]
        rows.sort(key=lambda row: row[1] if isfinite(row[1]) else -np.inf, reverse=True)
        over = counted(len(self.queries), "query")
        description = f"Mean {name} with its 95 % interval over {over}: {described(rows)}."
        return interval_chart(rows, name, description=description)

    def difference_chart(self, system: str, other: str, metric: MetricLike | None = None) -> Chart:
        """Return the difference of two systems on every query, by default in the first metric."""
        from rankwright.reports.charts.bars import difference_chart

        name = self._metric_name(metric)
        differences = self.per_query(system, name) - self.per_query(other, name)
        sides = {"better": differences > 0, "equal": differences == 0, "worse": differences < 0}
        counts = ", ".join(f"{word} on {side.sum():,}" for word, side in sides.items())
        description = f"Difference in {name} per query: {system} is {counts}, beside {other}."
        label = f"difference in {name}: {system} \N{MINUS SIGN} {other}"
        return difference_chart(differences, self.queries, label, description=description)

    def _metric_name(self, metric: MetricLike | None) -> str:
        if metric is None:
            return self.metrics[0]
        return metric if isinstance(metric, str) else str(as_metric(metric))
