"""The result of a comparison of systems: means, pairs and slices by each metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted, nearest
from rankwright.evaluation.comparison_charts import differences_chart, means_chart, slices_chart
from rankwright.evaluation.comparison_text import as_text, means_table, summary
from rankwright.evaluation.slices import MEANINGS
from rankwright.metrics.parse import as_metric
from rankwright.reports.charts.notebook import bundle, table_html
from rankwright.statistics.intervals import without_nan
from rankwright.statistics.significance import TESTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.base.arrays import Doubles
    from rankwright.evaluation.report import Report
    from rankwright.metrics.parse import MetricLike
    from rankwright.reports.charts.chart import Chart
    from rankwright.statistics.paired_tests import PairComparison, Pairs


@dataclass(frozen=True, eq=False)
class Compared:
    """Systems compared by one metric on some queries; `means` and `intervals` have one row per system."""

    means: Doubles
    intervals: Doubles
    pairs: Pairs

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return self.pairs.systems

    @property
    def n_queries(self) -> int:
        """Number of queries for which all systems have a value."""
        return self.pairs.n_queries

    def ranked(self) -> list[str]:
        """Return the systems, the highest mean first."""
        return [self.systems[place] for place in np.argsort(-self.means, kind="stable")]

    def mean(self, system: str) -> float:
        """Return the mean over queries."""
        return float(self.means[self.systems.index(system)])

    def interval(self, system: str) -> tuple[float, float]:
        """Return the bootstrap interval of the mean over queries."""
        low, high = self.intervals[self.systems.index(system)].tolist()
        return low, high


@dataclass(frozen=True, eq=False)
class SliceComparison:
    """Systems compared on the queries of one slice; one with too few queries is not tested."""

    name: str
    compared: Compared
    tested: bool


@dataclass(frozen=True, eq=False)
class Division:
    """Queries divided into slices by one of their properties; p-values are corrected over all slices."""

    by: str
    slices: tuple[SliceComparison, ...]

    @property
    def meaning(self) -> str:
        """What the queries are divided by, in words."""
        return MEANINGS.get(self.by, self.by)


@dataclass(frozen=True, eq=False, repr=False)
class SystemComparison:
    """Systems compared on the same queries.

    Parameters
    ----------
    report
        The value of every system on every query.
    level
        The level of confidence intervals; a corrected p-value below 1 - level is significant.
    baseline
        The system that all others are compared with; None if all pairs are compared.
    results
        The comparison by each metric. Without an argument `metric`, methods use the first.
    divisions
        The same by slices of queries, for each metric.
    """

    report: Report
    level: float
    baseline: str | None
    results: Mapping[str, Compared]
    divisions: Mapping[str, tuple[Division, ...]]

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return self.report.systems

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics."""
        return self.report.metrics

    def by(self, metric: MetricLike | None = None) -> Compared:
        """Return the comparison by one metric."""
        return self.results[self._name(metric)]

    def mean(self, system: str, metric: MetricLike | None = None) -> float:
        """Return the mean over queries."""
        return self.by(metric).mean(self._known(system))

    def interval(self, system: str, metric: MetricLike | None = None) -> tuple[float, float]:
        """Return the bootstrap interval of the mean over queries."""
        return self.by(metric).interval(self._known(system))

    def pair(self, one: str, other: str, metric: MetricLike | None = None) -> PairComparison:
        """Return the comparison of two systems; positive differences are in favour of the first."""
        return self.by(metric).pairs.pair(self._known(one), self._known(other))

    def pairs(self, metric: MetricLike | None = None) -> list[PairComparison]:
        """Return all comparisons."""
        return list(self.by(metric).pairs)

    def slices(self, metric: MetricLike | None = None) -> tuple[Division, ...]:
        """Return the comparisons by slices of queries."""
        return self.divisions[self._name(metric)]

    def left_out(self, metric: MetricLike | None = None) -> int:
        """Return the number of queries that are left out because a system has no value."""
        return len(self.report.queries) - self.by(metric).n_queries

    def summary(self, metric: MetricLike | None = None) -> str:
        """Return the main result in a sentence."""
        return summary(self, self._name(metric))

    def chart(self, metric: MetricLike | None = None) -> Chart:
        """Return the means of all systems with their intervals, best first."""
        return means_chart(self, self._name(metric))

    def differences_chart(self, metric: MetricLike | None = None) -> Chart:
        """Return the difference of each system from the baseline or, without any, from the best one."""
        return differences_chart(self, self._name(metric))

    def slices_chart(self, division: Division, metric: MetricLike | None = None) -> Chart:
        """Return the means of the best systems on slices of the queries."""
        return slices_chart(self, self._name(metric), division)

    def to_dict(self) -> dict[str, Any]:
        """Return all results as JSON values."""
        facts = {
            "convention": self.report.convention,
            "queries": len(self.report.queries),
            "empty_queries": dict(self.report.empty),
            **self.report.dropped_facts(),
            "queries_left_out": {metric: self.left_out(metric) for metric in self.metrics},
            "level": self.level,
            "baseline": self.baseline,
            "tests": list(TESTS),
            "correction": "holm",
            "summary": {metric: self.summary(metric) for metric in self.metrics},
            "systems": {
                system: {
                    metric: {"mean": self.mean(system, metric), "interval": self.interval(system, metric)}
                    for metric in self.metrics
                }
                for system in self.systems
            },
            "pairs": {metric: [one.to_dict() for one in self.by(metric).pairs] for metric in self.metrics},
            "slices": {metric: list(map(_division, self.slices(metric))) for metric in self.metrics},
            **self.report.coverage_facts(),
        }
        return dict(without_nan(facts))

    def __repr__(self) -> str:
        systems, metrics = ", ".join(self.systems), ", ".join(self.metrics)
        return f"SystemComparison({metrics} of {systems}, {counted(len(self.report.queries), 'query')})"

    def __str__(self) -> str:
        return as_text(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return the means as a table, with their chart, for a notebook."""
        table = means_table(self)
        html = table_html(table.head, table.rows, caption=self.summary())
        return bundle(str(self), html=html, chart=self.chart)

    def _name(self, metric: MetricLike | None) -> str:
        name = self.metrics[0] if metric is None else metric if isinstance(metric, str) else str(as_metric(metric))
        if name not in self.results:
            raise InputError(f"The comparison has no {name}; it has {', '.join(self.metrics)}.")
        return name

    def _known(self, system: str) -> str:
        if system not in self.systems:
            raise InputError(f"There is no system {system!r}{nearest(system, self.systems)}")
        return system


def _division(division: Division) -> dict[str, Any]:
    slices = [
        {
            "name": one.name,
            "queries": one.compared.n_queries,
            "tested": one.tested,
            "means": dict(zip(one.compared.systems, one.compared.means.tolist(), strict=True)),
            "pairs": [pair.to_dict() for pair in one.compared.pairs],
        }
        for one in division.slices
    ]
    return {"by": division.by, "slices": slices}
