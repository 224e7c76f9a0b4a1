"""What reranking buys: a metric against the time of scoring the first documents with a slower system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import counted, measured, metric_value, plain
from rankwright.data.groups import Ranking
from rankwright.evaluation.compare import compare
from rankwright.evaluation.evaluate import checked_judged, named_systems, scores_of
from rankwright.metrics.catalogue import as_metric
from rankwright.reports.blocks import Column, Figure, Interval, Kind, Note, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.evaluate import Predicts
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

DEPTHS = (10, 20, 50, 100)


class RerankingPoint(NamedTuple):
    """A number of documents that are reranked, and what that costs and gains.

    Parameters
    ----------
    documents
        How many of the first documents of each query are scored again.
    milliseconds
        The time of a query that this adds, one document after another.
    value
        The mean of the metric over queries.
    gain
        The difference from the first ranking, with its interval.
    p
        Of the paired randomisation test, corrected for the number of depths.
    """

    documents: int
    milliseconds: float
    value: float
    gain: Interval
    p: float

    @property
    def per_millisecond(self) -> float:
        """What each millisecond buys: the gain over the time."""
        return self.gain.value / self.milliseconds


@dataclass(frozen=True, repr=False)
class Reranking(Result):
    """What reranking more and more documents buys, and costs.

    Parameters
    ----------
    metric
        Name of the metric.
    first, second
        The system that orders all documents, and the one that orders the first of them again.
    start
        The mean of the metric without reranking.
    points
        One per number of documents.
    n_queries
        Number of queries.
    """

    metric: str
    first: str
    second: str
    start: float
    points: tuple[RerankingPoint, ...]
    n_queries: int

    @property
    def summary(self) -> str:
        best, start = max(self.points, key=lambda point: point.value), metric_value(self.start)
        if best.gain.value <= 0:
            return f"{self.second} does not improve {self.metric} of {self.first}, {start}."
        return (
            f"{self.second} on the first {counted(best.documents, 'document')} of {self.first} raises "
            f"{self.metric} from {start} to {metric_value(best.value)} for {measured(best.milliseconds)} ms per "
            "query."
        )

    def blocks(self) -> Iterator[Block]:
        columns = [
            Column("documents", Kind.COUNT),
            Column("ms per query", Kind.MEASURED),
            Column(self.metric),
            Column("gain", Kind.DIFFERENCE),
            Column("p (Holm)", Kind.P_VALUE),
            Column("gain per 100 ms", Kind.MEASURED),
        ]
        rows = [
            (point.documents, point.milliseconds, point.value, point.gain, point.p, 100 * point.per_millisecond)
            for point in self.points
        ]
        yield Table(columns, rows, f"{self.second} on the first documents of {self.first}")
        yield Note(f"Means over {counted(self.n_queries, 'query')}.")
        yield Figure(self.chart, f"{self.metric} against the time of reranking.")

    def chart(self) -> Chart:
        """Return the metric against the time that reranking takes."""
        from rankwright.reports.charts.lines import line_chart

        curve = [(0.0, self.start), *((point.milliseconds, point.value) for point in self.points)]
        return line_chart({self.second: curve}, "ms per query", self.metric, description=self.summary)

    def to_dict(self) -> dict[str, Any]:
        points = [point._asdict() | {"per_millisecond": point.per_millisecond} for point in self.points]
        names = ("metric", "first", "second", "start", "n_queries")
        values: dict[str, Any] = plain({name: getattr(self, name) for name in names} | {"points": points})
        return values


def reranking(
    systems: Mapping[str, Predicts],
    data: RankingData | tuple[Any, Any, Any],
    *,
    milliseconds: float,
    metric: MetricLike = "ndcg@10",
    depths: Sequence[int] = DEPTHS,
    n_jobs: int | None = None,
) -> Reranking:
    """Measure what each millisecond of reranking buys.

    The first system orders all documents of a query; the second orders the first of them again. So only these need
    what is expensive about it, such as the scores of a cross-encoder.

    Parameters
    ----------
    systems
        Two models or columns of scores by name: the first orders all documents, the second reranks.
    data
        The judged documents, preferably not those that the systems were fitted on.
    milliseconds
        The time that the second system takes for a document, such as `CachedReranker.cost.milliseconds`.
    metric
        The metric.
    depths
        Numbers of documents of each query to rerank.
    n_jobs
        The number of threads.

    Examples
    --------
    >>> test = rw.synthetic.gaussian_queries(30, seed=1)
    >>> cheap, dear = test.X[:, 1] + 2 * test.X[:, 0], test.X[:, 0]
    >>> result = rw.analyses.reranking({"cheap": cheap, "dear": dear}, test, milliseconds=12, depths=[5, 10])
    >>> [(point.documents, point.milliseconds) for point in result.points]
    [(5, 60.0), (10, 120.0)]
    """
    judged, named = checked_judged(data), named_systems(systems)
    if len(named) != 2:
        raise InputError(f"reranking takes two systems, not {len(named)}: one to order all, one to rerank.")
    if not milliseconds > 0 or not np.isfinite(milliseconds):
        raise InputError(f"{parameter('milliseconds')} must be a positive number, not {milliseconds!r}.")
    if not len(depths) or any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in depths):
        raise InputError(f"{parameter('depths')} must be positive integers, not {[*depths]!r}.")
    (first, base), (second, slow) = (
        (name, np.asarray(scores_of(name, system, judged, n_jobs), np.float64)) for name, system in named.items()
    )
    orders = {depth: _reranked(judged, base, slow, depth) for depth in sorted(set(depths))}
    compared = compare(
        {first: base} | {f"{second}, {depth}": scores for depth, scores in orders.items()},
        judged,
        metrics=metric,
        baseline=first,
        n_jobs=n_jobs,
    )
    points = []
    for depth in orders:
        pair = compared.pair(f"{second}, {depth}", first)
        gain = Interval(pair.difference, *pair.interval)
        value = compared.mean(f"{second}, {depth}", metric)
        p = pair.corrected["randomisation"]
        points.append(RerankingPoint(depth, depth * float(milliseconds), value, gain, p))
    start = compared.mean(first, metric)
    return Reranking(str(as_metric(metric)), first, second, start, tuple(points), len(judged.groups))


def _reranked(data: RankingData, base: Doubles, slow: Doubles, depth: int) -> Doubles:
    """Return scores by which the first documents of a ranking are ordered by others, and the rest stay."""
    ranks = Ranking.of(base, data.groups).ranks()
    again = Ranking.of(slow, data.groups).ranks()
    size = float(data.groups.sizes.max()) + 1.0
    return np.where(ranks <= depth, 2.0 * size - again, size - ranks)
