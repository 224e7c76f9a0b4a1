"""Compares systems on the same queries: intervals of means, tests of all pairs, statistical power, slices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import nearest
from rankwright.evaluation.compared import Compared, SliceComparison, Slicing
from rankwright.evaluation.evaluate import evaluate, judged_documents
from rankwright.evaluation.slices import FEWEST_QUERIES, divided, query_columns
from rankwright.evaluation.system_comparison import SystemComparison
from rankwright.statistics.bootstrap import checked_level, mean_intervals
from rankwright.statistics.paired_tests import compare_pairs, corrected_together

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.data.readers.trec import Judgements, Run
    from rankwright.evaluation.evaluate import EvaluationOptions, Predicts
    from rankwright.evaluation.report import Report
    from rankwright.metrics.catalogue import MetricLike


def compare(
    systems: Mapping[str, Predicts | ArrayLike | Run] | Sequence[Run],
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
