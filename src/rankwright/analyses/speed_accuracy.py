"""Speed against accuracy: a metric against the time or the trees that it costs (Wu et al. 2010, figure 2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.analyses.truncated_models import cuts_of
from rankwright.base.errors import InputError
from rankwright.base.wording import counted, metric_value, microseconds, nearest, plain
from rankwright.evaluation.evaluate import checked_judged, evaluate, named_systems
from rankwright.evaluation.timing import microseconds_per_document, timing_sample
from rankwright.metrics.catalogue import as_metric
from rankwright.models.other_libraries import scores_by
from rankwright.reports.blocks import Column, Figure, Interval, Kind, Note, Table
from rankwright.reports.result import Result
from rankwright.statistics.intervals import mean_with_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.evaluate import Predicts
    from rankwright.metrics.catalogue import Convention, MetricLike
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

LABELS = {"microseconds": "microseconds per document, one thread", "trees": "trees"}


class SpeedPoint(NamedTuple):
    """A system, or a cut of it, with its cost and its value.

    Parameters
    ----------
    system
        Name of the system.
    rounds
        The number of its rounds that were kept; 0 if it has none.
    trees
        Number of trees; 0 if it has none.
    microseconds
        Microseconds to score a document on one thread; NaN if not measured.
    value
        The mean of the metric over queries.
    """

    system: str
    rounds: int
    trees: int
    microseconds: float
    value: Interval

    def cost(self, kind: str) -> float:
        """Return the microseconds or the number of trees."""
        return float(self.trees) if kind == "trees" else self.microseconds


@dataclass(frozen=True, eq=False, repr=False)
class SpeedAccuracy(Result):
    """A metric against the cost of scoring, one point per system and cut.

    Parameters
    ----------
    metric
        Name of the metric.
    cost
        What the points are compared by: `"microseconds"` or `"trees"`.
    points
        The points, those of a system by ascending rounds.
    n_queries
        Number of queries.
    """

    metric: str
    cost: str
    points: tuple[SpeedPoint, ...]
    n_queries: int

    @property
    def title(self) -> str:
        """The heading on a page."""
        return "Speed against accuracy"

    @property
    def frontier(self) -> tuple[SpeedPoint, ...]:
        """The points that are better than every cheaper one, the cheapest first."""
        frontier: list[SpeedPoint] = []
        for point in sorted(
            self.points, key=lambda candidate: (candidate.cost(self.cost), -candidate.value.value)
        ):
            if not frontier or point.value.value > frontier[-1].value.value:
                frontier.append(point)
        return tuple(frontier)

    def cost_to_reach(self, system: str, value: float) -> float:
        """Return the least cost at which a system has at least this value; infinite if it never does."""
        points = [point for point in self.points if point.system == system]
        if not points:
            raise InputError(
                f"There is no system {system!r}{nearest(system, {point.system for point in self.points})}"
            )
        return min((point.cost(self.cost) for point in points if point.value.value >= value), default=float("inf"))

    @property
    def summary(self) -> str:
        """The best point, and what it costs."""
        best, metric = self.frontier[-1], self.metric
        cut = f" with {counted(best.rounds, 'round')}" if best.rounds else ""
        timed = f"{microseconds(best.microseconds)} per document on one thread"
        cost = timed if self.cost == "microseconds" else counted(best.trees, "tree")
        value = metric_value(best.value.value)
        return f"{best.system}{cut} has the highest mean {metric}, {value}, for {cost}."

    def blocks(self) -> list[Block]:
        """Return one row per point, with a star on the frontier, and the curves."""
        timed = self.cost == "microseconds"
        columns = [
            Column("system", Kind.TEXT),
            Column("rounds", Kind.COUNT),
            Column("trees", Kind.COUNT),
            *([Column("µs/document", Kind.MICROSECONDS)] if timed else []),
            Column(self.metric),
            Column("frontier", Kind.TEXT),
        ]
        frontier = set(map(id, self.frontier))
        rows = [
            (
                point.system,
                point.rounds or None,
                point.trees or None,
                *([point.microseconds] if timed else []),
                point.value,
                "*" if id(point) in frontier else "",
            )
            for point in self.points
        ]
        about = Note(f"Means over {counted(self.n_queries, 'query')}; * better than everything cheaper.")
        return [Table(columns, rows), about, Figure(self.chart)]

    def to_dict(self) -> dict[str, Any]:
        """Return the points as JSON values."""
        frontier = set(map(id, self.frontier))
        points = [
            point._asdict() | point.value.to_dict() | {"frontier": id(point) in frontier} for point in self.points
        ]
        return {"metric": self.metric, "cost": self.cost, "queries": self.n_queries, "points": plain(points)}

    def chart(self) -> Chart:
        """Return the metric against the cost, on a logarithmic scale: one line per system."""
        from rankwright.reports.charts.lines import line_chart

        curves: dict[str, list[tuple[float, float]]] = {}
        for point in self.points:
            curves.setdefault(point.system, []).append((point.cost(self.cost), point.value.value))
        return line_chart(
            curves,
            LABELS[self.cost],
            self.metric,
            description=f"{self.metric} of {', '.join(curves)} against {LABELS[self.cost]}.",
            x_log=True,
        )


def speed_accuracy(
    systems: Mapping[str, Predicts] | Predicts,
    data: RankingData | tuple[Any, Any, Any],
    *,
    metric: MetricLike = "ndcg@10",
    rounds: Sequence[int] | None = None,
    trees: Sequence[int] | None = None,
    cost: str = "microseconds",
    convention: str | Convention = "standard",
    n_jobs: int | None = None,
) -> SpeedAccuracy:
    """Measure systems, cut to several numbers of rounds, against what scoring a document costs.

    Times are the fastest of seven runs over about 5,000 documents on one thread; they include the columns within
    the query that a model needs. Other work on the machine makes them longer; a cut takes no longer than those of
    the same system with more rounds, so it has the fastest time of them all.

    Parameters
    ----------
    systems
        Fitted rankers, models, or other libraries' models: several by name, or a single one. Those with rounds are
        cut; the others are one point each.
    data
        The judged documents, preferably not those that the systems were fitted on.
    metric
        The metric.
    rounds
        Numbers of rounds; by default about twenty, evenly spaced. All rounds of a system are always measured.
    trees
        In place of `rounds`: numbers of trees, so that models are cut to equal costs. A round of McRank with one
        tree per class has as many trees as classes; a model is cut to the rounds that fit into the number.
    cost
        `"microseconds"` per document, or the number of `"trees"`, for models of trees alone.
    convention, n_jobs
        As for `rankwright.evaluate`.

    Examples
    --------
    >>> truth = rw.synthetic.RandomPolynomial.draw(1, n_features=4, n_active=2)
    >>> train, test = (truth.sample(20, seed=seed, n_documents=10, noise=0.2) for seed in (1, 2))
    >>> ranker = rw.LambdaMART(rounds=20).fit(train)
    >>> result = rw.analyses.speed_accuracy({"trees": ranker}, test, rounds=[5, 10, 20], cost="trees")
    >>> [(point.trees, round(point.value.value, 2)) for point in result.points]
    [(5, 0.83), (10, 0.87), (20, 0.87)]
    """
    if cost not in LABELS:
        raise InputError(f"cost must be 'microseconds' or 'trees', not {cost!r}.")
    if rounds is not None and trees is not None:
        raise InputError("Give the rounds or the trees that models are cut to, not both.")
    data, asked = checked_judged(data), as_metric(metric)
    cuts = {name: cuts_of(name, system, rounds, trees) for name, system in named_systems(systems).items()}
    if cost == "trees" or trees is not None:
        _require_trees(cuts)
    measure = partial(evaluate, data=data, metrics=[asked], convention=convention, n_jobs=n_jobs)
    sample = timing_sample(data) if cost == "microseconds" else None
    points = [point for name, by_rounds in cuts.items() for point in _points(name, by_rounds, measure, sample)]
    return SpeedAccuracy(str(asked), cost, tuple(points), len(data.groups))


def _points(
    name: str, by_rounds: Mapping[int, Any], measure: Callable[..., Any], sample: RankingData | None
) -> list[SpeedPoint]:
    """Return the points of a system by its numbers of rounds; without a sample, nothing is timed."""
    report = measure({f"{name}, {number} rounds" if number else name: cut for number, cut in by_rounds.items()})
    times = [
        np.nan if sample is None else microseconds_per_document(partial(scores_by, cut, n_threads=1), sample)
        for cut in by_rounds.values()
    ]
    fastest = np.minimum.accumulate(times[::-1])[::-1].tolist()  # more rounds include these
    return [
        SpeedPoint(name, number, getattr(cut, "n_trees", 0), time, mean_with_interval(values))
        for (number, cut), time, values in zip(by_rounds.items(), fastest, report.values.values(), strict=True)
    ]


def _require_trees(cuts: Mapping[str, Mapping[int, Any]]) -> None:
    for name, by_rounds in cuts.items():
        if not all(getattr(cut, "n_trees", 0) for cut in by_rounds.values()):
            raise InputError(f"{name} has no trees to count; compare by cost='microseconds'.")
