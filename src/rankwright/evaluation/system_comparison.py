"""The result of a comparison of systems: means, pairs and slices by each metric."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.base.wording import counted, nearest
from rankwright.evaluation.comparison_blocks import (
    differences_section,
    means_blocks,
    queries_section,
    slicing_section,
)
from rankwright.metrics.catalogue import as_metric
from rankwright.reports.result import Note, Result, Section
from rankwright.statistics.paired_tests import TESTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankwright.evaluation.compared import Compared, Slicing
    from rankwright.evaluation.report import Report
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.reports.charts.chart import Chart
    from rankwright.statistics.paired_tests import PairComparison

MOST_BARS = 6  # systems per slice of a chart


@dataclass(frozen=True, eq=False, repr=False)
class SystemComparison(Result):
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
    slicings
        The same by slices of queries, for each metric.
    """

    report: Report
    level: float
    baseline: str | None
    results: Mapping[str, Compared]
    slicings: Mapping[str, tuple[Slicing, ...]]

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

    def pair(self, system: str, other: str, metric: MetricLike | None = None) -> PairComparison:
        """Return the comparison of two systems; positive differences are in favour of the first."""
        return self.by(metric).pairs.pair(self._known(system), self._known(other))

    def pairs(self, metric: MetricLike | None = None) -> list[PairComparison]:
        """Return all comparisons."""
        return list(self.by(metric).pairs)

    def slices(self, metric: MetricLike | None = None) -> tuple[Slicing, ...]:
        """Return the comparisons by slices of queries."""
        return self.slicings[self._name(metric)]

    def left_out(self, metric: MetricLike | None = None) -> int:
        """Return the number of queries that are left out because a system has no value."""
        return len(self.report.queries) - self.by(metric).n_queries

    @property
    def title(self) -> str:
        """The heading of its page."""
        return f"Comparison of {len(self.systems):,} systems"

    @property
    def summary(self) -> str:
        """The main result by the first metric, in one sentence."""
        return self.by().summary

    def summary_by(self, metric: MetricLike | None = None) -> str:
        """Return the main result by one metric in a sentence."""
        return self.by(metric).summary

    def blocks(self) -> Iterator[Section]:
        """Yield means, differences, slices, and differences query by query; slices by the first metric."""
        results = [self.by(metric) for metric in self.metrics]
        yield Section("Means over queries", [*means_blocks(results), *self._notes()])
        yield differences_section(results)
        for slicing in self.slices():
            yield slicing_section(self.by(), slicing, partial(self.slices_chart, slicing))
        yield queries_section(self.by(), self.report)

    def _notes(self) -> list[Note]:
        """Return which queries were measured, and which queries and documents were left out."""
        left_out = [
            f"{counted(self.left_out(metric), 'query')} without a value of {metric} left out"
            for metric in self.metrics
            if self.left_out(metric)
        ]
        sentences = (self.report.footnote(), *left_out, *self.report.remarks())
        return [Note(f"{sentence}.") for sentence in sentences]

    def chart(self, metric: MetricLike | None = None) -> Chart:
        """Return the means of all systems with their intervals, best first."""
        return self.by(metric).chart()

    def differences_chart(self, metric: MetricLike | None = None) -> Chart:
        """Return the difference of each system from the baseline or, without any, from the best one."""
        return self.by(metric).differences_chart()

    def slices_chart(self, slicing: Slicing, metric: MetricLike | None = None) -> Chart:
        """Return the means of the best systems on slices of the queries."""
        from rankwright.reports.charts.bars import grouped_bar_chart

        name, systems = self._name(metric), self.by(metric).ranked()[:MOST_BARS]
        parts = {part.name: part.compared for part in slicing.slices}
        described = f"Mean {name} of {', '.join(systems)} on {counted(len(parts), 'slice')} of the queries"
        return grouped_bar_chart(
            {part: {system: compared.mean(system) for system in systems} for part, compared in parts.items()},
            name,
            description=f"{described}, by {slicing.meaning}.",
            x_label=slicing.meaning,
            intervals={
                part: {name: compared.interval(name) for name in systems} for part, compared in parts.items()
            },
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all results as JSON values."""
        from rankwright.reports.plain import plain

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
            "summary": {metric: self.summary_by(metric) for metric in self.metrics},
            "systems": {
                system: {
                    metric: {"mean": self.mean(system, metric), "interval": self.interval(system, metric)}
                    for metric in self.metrics
                }
                for system in self.systems
            },
            "pairs": {metric: [pair.to_dict() for pair in self.by(metric).pairs] for metric in self.metrics},
            "slices": {
                metric: [{"by": slicing.by, "slices": list(slicing.slices)} for slicing in self.slices(metric)]
                for metric in self.metrics
            },
            **self.report.coverage_facts(),
        }
        return dict(plain(facts))

    def _name(self, metric: MetricLike | None) -> str:
        name = self.metrics[0] if metric is None else metric if isinstance(metric, str) else str(as_metric(metric))
        if name not in self.results:
            raise InputError(f"The comparison has no {name}; it has {', '.join(self.metrics)}.")
        return name

    def _known(self, system: str) -> str:
        if system not in self.systems:
            raise InputError(f"There is no system {system!r}{nearest(system, self.systems)}")
        return system
