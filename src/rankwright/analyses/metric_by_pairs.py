"""A metric by the number of document pairs of the queries (Xu & Li 2007, figures 7 and 8)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted, enumerated, metric_value, plain
from rankwright.evaluation.evaluate import evaluate, judged_documents, labels_of
from rankwright.metrics.catalogue import as_metric
from rankwright.reports.blocks import Column, Figure, Interval, Kind, Note, Table
from rankwright.reports.result import Result
from rankwright.statistics.intervals import mean_with_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.data.readers.trec import Judgements, Run
    from rankwright.evaluation.evaluate import Predicts
    from rankwright.metrics.catalogue import Convention, MetricLike
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

GROUPS = 5


class PairGroup(NamedTuple):
    """Queries with `low` to `high` pairs: their number, the systems' means, and the differences from the first."""

    low: int
    high: int
    n_queries: int
    means: dict[str, Interval]
    differences: dict[str, Interval]

    @property
    def name(self) -> str:
        """The numbers of pairs in words."""
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,} to {self.high:,}"


@dataclass(frozen=True, eq=False, repr=False)
class MetricByPairs(Result):
    """The mean of a metric over queries with few and with many pairs of documents.

    Parameters
    ----------
    metric
        Name of the metric.
    systems
        Names of the systems; differences are those from the first.
    groups
        Groups of queries, the fewest pairs first.
    without_pairs
        Number of queries whose documents all have the same label, which are in no group.
    """

    metric: str
    systems: tuple[str, ...]
    groups: tuple[PairGroup, ...]
    without_pairs: int

    @property
    def summary(self) -> str:
        """The means over the queries with the fewest and the most pairs."""
        few, many = self.groups[0], self.groups[-1]
        if few is many:
            means = enumerated(f"{metric_value(mean.value)} for {system}" for system, mean in few.means.items())
            return f"All queries have {few.name} pairs; their mean {self.metric} is {means}."
        ends = (
            f"{metric_value(few.means[system].value)} to {metric_value(many.means[system].value)} for {system}"
            for system in self.systems
        )
        queries = f"From queries with {few.name} pairs to those with {many.name}"
        return f"{queries}, the mean {self.metric} goes from {enumerated(ends)}."

    def blocks(self) -> list[Block]:
        """Return one row per group, and their chart."""
        first, *others = self.systems
        columns = [
            Column("pairs", Kind.TEXT),
            Column("queries", Kind.COUNT),
            *map(Column, self.systems),
            *(Column(f"{other} - {first}", Kind.DIFFERENCE) for other in others),
        ]
        rows = [
            (group.name, group.n_queries, *group.means.values(), *group.differences.values())
            for group in self.groups
        ]
        left_out = f" {counted(self.without_pairs, 'query')} without pairs left out." if self.without_pairs else ""
        about = Note(f"Means by the number of pairs of documents with different labels.{left_out}")
        return [Table(columns, rows), about, Figure(self.chart)]

    def to_dict(self) -> dict[str, Any]:
        """Return groups and means as JSON values."""
        groups = [
            {
                "pairs": [group.low, group.high],
                "queries": group.n_queries,
                "systems": plain(group.means),
                "differences_from_first": plain(group.differences),
            }
            for group in self.groups
        ]
        return {"metric": self.metric, "without_pairs": self.without_pairs, "groups": groups}

    def chart(self) -> Chart:
        """Return a bar per group and system, with the number of queries of each group."""
        from rankwright.reports.charts.bars import grouped_bar_chart

        return grouped_bar_chart(
            {f"{group.name} ({counted(group.n_queries, 'query')})": group.means for group in self.groups},
            self.metric,
            x_label="pairs of documents with different labels",
            description=f"{self.metric} of {', '.join(self.systems)} by the queries' number of document pairs.",
        )


def by_pairs(
    systems: Mapping[str, Predicts | ArrayLike | Run] | Sequence[Run] | Predicts | ArrayLike | Run,
    data: RankingData | Judgements | tuple[Any, Any, Any],
    *,
    metric: MetricLike = "ndcg@10",
    groups: int | Sequence[int] = GROUPS,
    convention: str | Convention | None = None,
    queries: str | None = None,
    n_jobs: int | None = None,
) -> MetricByPairs:
    """Measure systems on queries with few and with many pairs of documents.

    A pair is two documents of a query with different labels. A ranker that sums its loss over pairs learns mostly
    from queries with many of them; this shows whether the others suffer. Queries without pairs are left out.

    Parameters
    ----------
    systems, data, convention, queries, n_jobs
        As for `rankwright.evaluate`.
    metric
        The metric.
    groups
        The number of groups, with about the same number of queries each; or where groups begin, such as
        `[1, 1000, 2000]` for 1 to 999, 1,000 to 1,999, and 2,000 or more pairs.

    Examples
    --------
    >>> truth = rw.synthetic.RandomPolynomial.draw(1, n_features=4, n_active=2)
    >>> data = truth.sample(20, seed=1)
    >>> result = rw.analyses.by_pairs({"first": data.X[:, 0]}, data, metric="map", groups=2)
    >>> {group.name: round(group.means["first"].value, 2) for group in result.groups}
    {'722 to 798': 0.47, '806 to 891': 0.57}
    """
    judged, asked = judged_documents(data), as_metric(metric)
    report = evaluate(systems, judged, metrics=[asked], convention=convention, queries=queries, n_jobs=n_jobs)
    measured = set(report.queries)
    kept = np.array([query in measured for query in judged.groups.ids.tolist()], dtype=bool)
    pairs = judged.groups.count_pairs(labels_of(judged))[kept]
    if not pairs.any():
        raise InputError(
            "No query has documents of different labels, so queries cannot be grouped by their pairs."
        )
    values = {system: report.per_query(system, asked) for system in report.systems}
    by_size = [_group(pairs, members, values) for members in _grouped(pairs, _starts(pairs, groups))]
    return MetricByPairs(str(asked), report.systems, tuple(by_size), int((pairs == 0).sum()))


def _starts(pairs: NDArray[np.int64], groups: int | Sequence[int]) -> NDArray[np.int64]:
    """Return the lowest number of pairs of each group, ascending."""
    if isinstance(groups, int | np.integer) and not isinstance(groups, bool):
        if groups < 1:
            raise InputError(f"groups must be a positive integer or a list of numbers of pairs, not {groups!r}.")
        known = np.sort(pairs[pairs > 0])
        return np.unique(known[np.arange(groups) * len(known) // groups])
    starts = np.asarray(groups)
    if starts.ndim != 1 or not starts.size or starts.dtype.kind not in "iu" or (np.diff(starts) <= 0).any():
        raise InputError(f"groups must be a positive integer or ascending numbers of pairs, not {groups!r}.")
    return np.append([1] if starts[0] > 1 else [], np.maximum(starts, 1)).astype(np.int64)


def _grouped(pairs: NDArray[np.int64], starts: NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    """Return the queries of each group that has any."""
    ends = np.append(starts, np.iinfo(np.int64).max)
    members = [(pairs >= low) & (pairs < high) for low, high in pairwise(ends)]
    return [queries for queries in members if queries.any()]


def _group(pairs: NDArray[np.int64], queries: NDArray[np.bool_], values: Mapping[str, Doubles]) -> PairGroup:
    first, *others = values
    inside = {system: column[queries] for system, column in values.items()}
    means = {system: mean_with_interval(column) for system, column in inside.items()}
    differences = {other: mean_with_interval(inside[other] - inside[first]) for other in others}
    low, high = int(pairs[queries].min()), int(pairs[queries].max())
    return PairGroup(low, high, int(queries.sum()), means, differences)
