"""How much the order of systems depends on the judge: Kendall's tau of the systems' rankings by each judge."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, require_type
from rankwright.base.wording import counted, interval, metric_value, plain
from rankwright.data.readers.trec import Judgements, Run
from rankwright.evaluation.evaluate import evaluate, named_systems
from rankwright.judgements.coincidences import bootstrap_limits
from rankwright.judgements.grade_table import GradeTable
from rankwright.judgements.merging import merge
from rankwright.metrics.catalogue import as_metric
from rankwright.reports.blocks import Column, Figure, Interval, Kind, Note, Section, Table
from rankwright.reports.result import Result
from rankwright.statistics.intervals import checked_level

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.reports.charts.chart import Chart

MERGED, OTHERS = "all judges, merged", "the others, merged"


@dataclass(frozen=True)
class OrderAgreement:
    """Kendall's tau of the systems' rankings by two judges, on the documents of both, and the best by each."""

    first: str
    second: str
    queries: int
    tau: Interval
    best: tuple[str, str]


@dataclass(frozen=True, repr=False)
class SystemOrders(Result):
    """How much the order of systems depends on the judge.

    Parameters
    ----------
    metric
        The metric that orders systems.
    means
        The mean over queries of each system, by judge, on all documents that the judge graded; and by the merged
        grades.
    pairs
        Kendall's tau of the rankings by each pair of judges, and by each judge and the others' merged grades.
    level
        The level of intervals.
    notes
        What was noticed while grades were read.

    Examples
    --------
    >>> table = rw.judgements.GradeTable.of(["q"] * 3, ["x", "y", "z"], ["ada", "bob"], [[2, 2], [0, 1], [1, 0]])
    >>> from pathlib import Path
    >>> for name, order in {"good": "xzy", "fair": "zxy", "poor": "yzx"}.items():
    ...     lines = [f"q Q0 {document} 1 {-rank} {name}" for rank, document in enumerate(order)]
    ...     _ = Path(name).write_text(chr(10).join(lines))
    >>> runs = [rw.read_run(name) for name in ("good", "fair", "poor")]
    >>> result = rw.judgements.systems(table, runs)
    >>> isinstance(result, rw.judgements.SystemOrders), round(result.pairs[0].tau.value, 2)
    (True, 0.33)
    """

    metric: str
    means: Mapping[str, Mapping[str, float]]
    pairs: tuple[OrderAgreement, ...]
    level: float
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        known = [pair for pair in self.pairs if np.isfinite(pair.tau.value)]
        if not known:
            return f"All systems have the same {self.metric} by at least one of any two judges."
        lowest = min(known, key=lambda pair: pair.tau.value)
        value, low, high = lowest.tau
        between = f" ({interval(low, high)})" if np.isfinite(low) else ""
        systems = counted(len(self.means[MERGED]), "system")
        if value > 1.0 - 1e-9:
            return f"All judges rank the {systems} in the same order by {self.metric}."
        return (
            f"Rankings of {systems} by {self.metric} differ most between {lowest.first} and {lowest.second}: "
            f"Kendall's tau {metric_value(value)}{between}."
        )

    def blocks(self) -> Iterator[Section]:
        columns = [
            Column("judges", Kind.TEXT),
            Column("queries", Kind.COUNT),
            Column("Kendall's tau"),
            Column("best systems", Kind.TEXT),
        ]
        rows = [
            (f"{pair.first}, {pair.second}", pair.queries, pair.tau, ", ".join(dict.fromkeys(pair.best)))
            for pair in self.pairs
        ]
        notes = [Note(note) for note in self.notes]
        caption = "Rankings of systems by two judges, on the documents that both graded"
        yield Section("Order of systems", [Table(columns, rows, caption), *notes])
        judges = [*self.means]
        by_system = [(name, *(self.means[judge][name] for judge in judges)) for name in self.means[MERGED]]
        table = Table(
            [Column("system", Kind.TEXT), *map(Column, judges)], by_system, f"Mean {self.metric} by each judge"
        )
        yield Section("Systems", [table, Figure(self.chart, f"Mean {self.metric} of each system by each judge.")])

    def chart(self) -> Chart:
        """Return the mean of each system by each judge."""
        from rankwright.reports.charts.bars import grouped_bar_chart

        bars = {name: {judge: self.means[judge][name] for judge in self.means} for name in self.means[MERGED]}
        return grouped_bar_chart(bars, self.metric, description=self.summary)

    def to_dict(self) -> dict[str, Any]:
        names = ("metric", "means", "pairs", "level", "notes")
        values: dict[str, Any] = plain({name: getattr(self, name) for name in names})
        return values


def systems(
    table: GradeTable,
    runs: Mapping[str, Run] | Sequence[Run],
    *,
    metric: MetricLike = "ndcg@10",
    level: float = 0.95,
    random_state: int = 0,
) -> SystemOrders:
    """Measure how much the order of systems depends on the judge.

    Two judges are compared on the documents that both graded: each system is evaluated with the grades of either,
    and Kendall's tau (b) compares the two rankings. Intervals are from bootstrap samples of queries.

    Parameters
    ----------
    table
        The grades of at least two judges.
    runs
        At least two systems: runs by name, or a list of runs that are named by their tags.
    metric
        The metric that orders systems.
    level
        The level of intervals.
    random_state
        Seed of the bootstrap.

    Examples
    --------
    >>> table = rw.judgements.GradeTable.of(["q"] * 3, ["x", "y", "z"], ["ada", "bob"], [[2, 0], [0, 1], [1, 2]])
    >>> from pathlib import Path
    >>> for name, order in {"good": "xzy", "fair": "zxy", "poor": "yzx"}.items():
    ...     lines = [f"q Q0 {document} 1 {-rank} {name}" for rank, document in enumerate(order)]
    ...     _ = Path(name).write_text(chr(10).join(lines))
    >>> runs = [rw.read_run(name) for name in ("good", "fair", "poor")]
    >>> [round(pair.tau.value, 2) for pair in rw.judgements.systems(table, runs).pairs]
    [-0.33]
    """
    require_type(table, GradeTable, "systems takes a GradeTable, as read_grades returns it")
    named = checked_runs(runs)
    if len(named) < 2:
        raise InputError("An order of systems needs at least two runs.")
    if len(table.judges) < 2:
        raise InputError(f"At least two judges are needed; the only one is {table.judges[0]!r}.")
    how = {"metric": metric, "level": checked_level(level), "random_state": random_state}
    by_judge = {table.shown_name(judge): table.judgements_of(judge) for judge in table.judges}
    means = {judge: _means(named, judged, metric) for judge, judged in by_judge.items()}
    means[MERGED] = _means(named, merge(table).judgements, metric)
    pairs = [*combinations(by_judge.items(), 2)]
    if len(table.judges) > 2:
        others = (_others(table, judge) for judge in table.judges)
        pairs += [(own, (OTHERS, rest)) for own, rest in zip(by_judge.items(), others, strict=True)]
    compared = [_compared(first, second, named, how) for first, second in pairs]
    known = tuple(pair for pair in compared if pair is not None)
    if not known:
        raise InputError("No two judges graded the same documents.")
    return SystemOrders(str(as_metric(metric)), means, known, level, table.notes)


def checked_runs(runs: Any) -> dict[str, Run]:
    """Return runs by name; anything else is refused."""
    named = named_systems(runs)
    for name, run in named.items():
        require_type(run, Run, f"{name} must be a run, as read_run and a Searcher return it")
    return named


def _others(table: GradeTable, judge: str) -> Judgements:
    """Return the merged grades of all judges but one."""
    return merge(table.of_judges([name for name in table.judges if name != judge])).judgements


def _means(runs: Mapping[str, Run], judged: Judgements, metric: MetricLike) -> dict[str, float]:
    values = _values(runs, judged, metric).mean(axis=1)
    return dict(zip(runs, values.tolist(), strict=True))


def _values(runs: Mapping[str, Run], judged: Judgements, metric: MetricLike) -> Doubles:
    """Return the value of each system (row) on each judged query."""
    report = evaluate(dict(runs), judged, metrics=metric, queries="judged")
    return np.array([report.per_query(name, metric) for name in runs])


def _compared(
    first: tuple[str, Judgements], second: tuple[str, Judgements], runs: Mapping[str, Run], how: dict[str, Any]
) -> OrderAgreement | None:
    """Compare the rankings by two sets of judgements, on the documents of both; None if there are none."""
    (name, judged), (other, others) = first, second
    shared = judged.row_numbers.keys() & others.row_numbers.keys()
    if not shared:
        return None
    values = [_values(runs, _only(each, shared), how["metric"]) for each in (judged, others)]
    by_query = np.moveaxis(np.array(values), -1, 0)  # query, judge, system
    sampling = {"level": how["level"], "random_state": how["random_state"]}
    low, high = bootstrap_limits(by_query, _tau, **sampling)[0].tolist()
    sums = by_query.sum(axis=0)
    first_best, second_best = (list(runs)[number] for number in sums.argmax(axis=1).tolist())
    tau = Interval(float(_tau(sums)), low, high)
    return OrderAgreement(name, other, len(by_query), tau, (first_best, second_best))


def _only(judged: Judgements, pairs: set[tuple[str, str]]) -> Judgements:
    """Return the judgements of some documents, in an order that does not depend on the judge."""
    rows = [judged.row_numbers[pair] for pair in sorted(pairs)]
    return Judgements(judged.qid[rows], judged.document_ids[rows], judged.labels[rows])


def _tau(sums: Doubles) -> Doubles:
    """Return Kendall's tau-b of two rankings by the values of systems (..., judge, system); NaN if all tie."""
    first, second = (
        np.sign(np.round(side[..., :, None] - side[..., None, :], 12)) for side in np.moveaxis(sums, -2, 0)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.sqrt((first**2).sum(axis=(-2, -1)) * (second**2).sum(axis=(-2, -1)))
        return np.asarray((first * second).sum(axis=(-2, -1)) / scale)
