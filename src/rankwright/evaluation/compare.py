"""Compares systems on the same queries: intervals of means, tests of all pairs, statistical power, slices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import counted, listed, nearest, plain
from rankwright.evaluation.compared import (
    Compared,
    SliceComparison,
    Slicing,
    differences_section,
    means_blocks,
    queries_section,
    slicing_section,
)
from rankwright.evaluation.evaluate import evaluate, judged_documents
from rankwright.evaluation.slices import FEWEST_QUERIES, divided, query_columns
from rankwright.metrics.catalogue import as_metric
from rankwright.reports.blocks import Note, Section
from rankwright.reports.result import Result
from rankwright.statistics.intervals import checked_level, mean_intervals
from rankwright.statistics.paired_tests import TESTS, compare_pairs, corrected_together

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.data.readers.trec import Judgements, Run
    from rankwright.evaluation.evaluate import EvaluationOptions, Predicts
    from rankwright.evaluation.report import Report
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.reports.charts.chart import Chart
    from rankwright.statistics.paired_tests import PairComparison


GATES = AHEAD, NOT_BEHIND = "ahead", "not-behind"
MAX_BARS = 6  # systems per slice of a chart


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

    Examples
    --------
    >>> judged = rw.synthetic.gaussian_queries(20, spread=(0.2, 1.3))
    >>> compared = rw.compare({"new": judged.X[:, 0], "old": judged.X[:, 1]}, judged, metrics="map")
    >>> compared.summary
    'new beats old by 0.1310 map (p < 0.001).'
    >>> pair = compared.pair("new", "old")
    >>> pair.better, pair.equal, pair.worse, pair.corrected["t"] < 0.001
    (20, 0, 0, True)
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

    def passes(self, gate: str, metric: MetricLike | None = None) -> bool:
        """Return whether every other system passes a gate against the baseline.

        Parameters
        ----------
        gate
            `"ahead"`: significantly better than the baseline, corrected for the number of systems; `"not-behind"`:
            not significantly worse.
        metric
            The metric that decides, by default the first.

        Examples
        --------
        >>> judged = rw.synthetic.gaussian_queries(20, spread=(0.2, 1.3))
        >>> systems = {"new": judged.X[:, 0], "old": judged.X[:, 1]}
        >>> compared = rw.compare(systems, judged, metrics="map", baseline="old")
        >>> compared.passes("ahead")
        True
        """
        if gate not in GATES:
            raise InputError(f"{parameter('gate')} must be {listed(GATES)}, not {gate!r}.")
        if self.baseline is None:
            raise InputError(f"{parameter('gate')} needs a {parameter('baseline')} to compare with.")
        by = self.by(metric)
        sure = [(pair.difference, by.is_significant(pair)) for pair in by.against_reference()]
        if gate == AHEAD:
            return all(significant and difference > 0 for difference, significant in sure)
        return not any(significant and difference < 0 for difference, significant in sure)

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
        """Yield means, differences, slices, and differences query by query."""
        results = [self.by(metric) for metric in self.metrics]
        yield Section("Means over queries", [*means_blocks(results), *self._notes()])
        yield differences_section(results)
        for index, slicing in enumerate(self.slices()):
            by_metric = [(self.by(metric), self.slices(metric)[index]) for metric in self.metrics]
            yield slicing_section(by_metric, partial(self.slices_chart, slicing))
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

    def slices_chart(self, slicing: Slicing) -> Chart:
        """Return the means of the best systems on slices of the queries."""
        from rankwright.reports.charts.bars import grouped_bar_chart

        metric = slicing.slices[0].compared.metric
        systems = self.by(metric).ranked()[:MAX_BARS]
        parts = {part.name: part.compared for part in slicing.slices}
        described = f"Mean {metric} of {', '.join(systems)} on {counted(len(parts), 'slice')} of the queries"
        return grouped_bar_chart(
            {
                part: {system: (compared.mean(system), *compared.interval(system)) for system in systems}
                for part, compared in parts.items()
            },
            metric,
            description=f"{described}, by {slicing.meaning}.",
            x_label=slicing.meaning,
        )

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


def compare(
    systems: Mapping[str, Predicts | ArrayLike | Run | str] | Sequence[Run],
    data: RankingData | Judgements | tuple[Any, Any, Any],
    *,
    metrics: MetricLike | Sequence[MetricLike] = ("ndcg@10", "map"),
    baseline: str | None = None,
    slices: str | Sequence[str] | Mapping[str, Any] = (),
    level: float = 0.95,
    random_state: int = 0,
    **options: Unpack[EvaluationOptions],
) -> SystemComparison:
    """Compare two or more systems on the same judged queries: all pairs, or each with a baseline.

    Parameters
    ----------
    systems, data, metrics
        As for `evaluate`.
    baseline
        The system that all others are compared with; by default all pairs are compared.
    slices
        How to divide the queries: `documents` and `relevant` by their numbers, `difficulty` by the mean of all
        systems, or the name of a feature that all documents of a query share. Or a mapping from names to such a
        name, to a mapping from query id to value, or to a list with one value per query or document.
    level
        The level of the confidence intervals; a test is significant at 1 - level.
    random_state
        Seed of the bootstrap samples and sign flips.
    options
        `convention`, `queries`, `min_relevant`, `drop_one_label` and `n_jobs`, as for `evaluate`.

    Examples
    --------
    >>> judged = rw.synthetic.gaussian_queries(20, spread=(0.2, 1.3))
    >>> first, second = judged.X.T
    >>> systems = {"old": second, "sum": first + second, "first": first}
    >>> rw.compare(systems, judged, metrics="map", baseline="old")
    <SystemComparison: first beats the baseline (old) by 0.1310 map (p < 0.001), ...>
    """
    _refuse_values(data)
    judged = judged_documents(data)
    report = evaluate(systems, judged, metrics=metrics, **options)
    columns = query_columns(slices, report, judged) if slices else {}
    return compare_report(report, baseline=baseline, columns=columns, level=level, random_state=random_state)


def compare_report(
    report: Report,
    *,
    baseline: str | None = None,
    columns: Mapping[str, NDArray[Any] | None] | None = None,
    level: float = 0.95,
    random_state: int = 0,
) -> SystemComparison:
    """Compare the systems of a report.

    Parameters
    ----------
    columns
        For each property to slice by, its value of every query; None for the mean of the query over all systems.
    """
    if len(report.systems) < 2:
        raise InputError(f"There is only one system, {report.systems[0]}; a comparison needs at least two.")
    if baseline is not None and baseline not in report.systems:
        raise InputError(f"There is no system {baseline!r} to be the baseline{nearest(baseline, report.systems)}")
    task = _Task(report, baseline, checked_level(level), random_state)
    values = {metric: task.values(metric) for metric in report.metrics}
    return SystemComparison(
        report,
        task.level,
        baseline,
        {metric: task.compared(metric, rows, _complete(metric, rows)) for metric, rows in values.items()},
        {
            metric: tuple(task.slicing(metric, by, column, rows) for by, column in (columns or {}).items())
            for metric, rows in values.items()
        },
    )


@dataclass(frozen=True, eq=False)
class _Task:
    """What is compared, and how."""

    report: Report
    baseline: str | None
    level: float
    random_state: int

    def values(self, metric: str) -> Doubles:
        """Return one row per system, one column per query."""
        values = np.array([self.report.per_query(system, metric) for system in self.report.systems])
        if np.isinf(values).any():
            system, query = np.argwhere(np.isinf(values))[0]
            raise InputError(
                f"{metric} of {self.report.systems[system]} is infinite for query {self.report.queries[query]}; "
                "infinite values cannot be compared."
            )
        return values

    def compared(
        self, metric: str, values: Doubles, queries: NDArray[np.int64], *, tested: bool = True
    ) -> Compared:
        """Compare the systems on some of the queries."""
        kept = values[:, queries]
        first, second = self._pairs()
        pairs = compare_pairs(
            self.report.systems,
            kept,
            first,
            second,
            level=self.level,
            random_state=self.random_state,
            tested=tested,
        )
        intervals = mean_intervals(kept, level=self.level, random_state=self.random_state)
        return Compared(metric, self.level, self.baseline, kept.mean(axis=1), intervals, pairs)

    def slicing(self, metric: str, by: str, column: NDArray[Any] | None, values: Doubles) -> Slicing:
        """Compare the systems on the slices of the queries by a property."""
        complete, is_outcome = _have_values(values), column is None
        if column is None:
            column = values.mean(axis=0)
        parts = []
        for part in divided(column):
            queries = part.queries[complete[part.queries]]
            if len(queries):
                # Slices by the values themselves differ by construction, even without any difference.
                tested = len(queries) >= FEWEST_QUERIES and not is_outcome
                compared = self.compared(metric, values, queries, tested=tested)
                parts.append(SliceComparison(part.name, compared, tested))
        corrected = corrected_together([part.compared.pairs for part in parts])
        slices = [
            replace(part, compared=replace(part.compared, pairs=pairs))
            for part, pairs in zip(parts, corrected, strict=True)
        ]
        return Slicing(by, tuple(slices))

    def _pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        n_systems = len(self.report.systems)
        if self.baseline is None:
            first, second = np.triu_indices(n_systems, 1)
            return first, second
        baseline = self.report.systems.index(self.baseline)
        others = np.delete(np.arange(n_systems), baseline)
        return others, np.full(len(others), baseline)


def _complete(metric: str, values: Doubles) -> NDArray[np.int64]:
    """Return the queries for which all systems have a value."""
    queries = np.flatnonzero(_have_values(values))
    if not len(queries):
        raise InputError(f"No query has a value of {metric} for all systems, so nothing can be compared.")
    return queries


def _have_values(values: Doubles) -> NDArray[np.bool_]:
    """Return whether all systems have a value, for each query."""
    return np.asarray(~np.isnan(values.sum(axis=0)))


def _refuse_values(data: Any) -> None:
    """Refuse arrays of values, which an earlier `compare` took."""
    if isinstance(data, np.ndarray) and data.ndim == 1:
        raise InputError("compare takes systems and judged documents; for two arrays of values: compare_values.")
