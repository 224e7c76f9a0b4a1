"""How well judges agree: overall, by pair, by grade and by query, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, parameter, require_type
from rankwright.base.wording import brief_list, counted, interval, listed, metric_value, plain
from rankwright.judgements.coincidences import (
    KAPPA_POWERS,
    LEVELS,
    alpha,
    bootstrap_limits,
    coincidence_counts,
    confusion_counts,
    disagreements,
    grade_distances,
    kappa,
    specific_agreement,
    with_interval,
)
from rankwright.judgements.grade_table import GradeTable
from rankwright.reports.blocks import Column, Figure, Interval, Kind, Note, Section, Table
from rankwright.reports.result import Result
from rankwright.statistics.intervals import checked_level

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankwright.base.arrays import Doubles
    from rankwright.reports.charts.chart import Chart

MAX_GRADES = 100
SHOWN_QUERIES = 10


@dataclass(frozen=True)
class PairAgreement:
    """The agreement of two judges on the documents that both graded: Cohen's kappas with their intervals."""

    first: str
    second: str
    documents: int
    same: float
    kappas: Mapping[str, Interval]


@dataclass(frozen=True)
class GradeAgreement:
    """How often a grade was given, and how likely another judge gives it too."""

    grade: float
    given: int
    agreement: Interval


@dataclass(frozen=True)
class QueryAgreement:
    """The agreement on a query's documents: 1 minus their disagreement over that expected of all queries."""

    query: str
    documents: int
    alpha: float


@dataclass(frozen=True, repr=False)
class Agreement(Result):
    """How well judges agree.

    Parameters
    ----------
    alphas
        Krippendorff's alpha by level of measurement, each with its interval.
    measure
        The level of measurement that the summary and queries have.
    pairs
        Cohen's kappa of each pair of judges, unweighted and with linear and quadratic weights.
    grades
        For each grade, how likely another judge gives it too.
    queries
        Alpha by query, the lowest first.
    judges
        The names of the judges, as they are shown.
    documents
        The number of documents with two grades or more.
    level
        The level of intervals.
    notes
        What was noticed while grades were read.

    Examples
    --------
    >>> grades = [[2, 2], [0, 1], [1, 1], [0, 0]]
    >>> table = rw.judgements.GradeTable.of(list("aabb"), list("wxyz"), ["ada", "bob"], grades)
    >>> result = rw.judgements.agreement(table)
    >>> isinstance(result, rw.judgements.Agreement), round(result.alphas["nominal"].value, 3)
    (True, 0.667)
    """

    alphas: Mapping[str, Interval]
    measure: str
    pairs: tuple[PairAgreement, ...]
    grades: tuple[GradeAgreement, ...]
    queries: tuple[QueryAgreement, ...]
    judges: tuple[str, ...]
    documents: int
    level: float
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        value, low, high = self.alphas[self.measure]
        between = f" ({interval(low, high)})" if np.isfinite(low) else ""
        on = f"{counted(self.documents, 'document')} of {counted(len(self.queries), 'query')}"
        who = counted(len(self.judges), "judge")
        if not np.isfinite(value):
            return f"{who} gave one and the same grade to {on}, so that Krippendorff's alpha is undefined."
        return f"Krippendorff's alpha ({self.measure}) of {who} is {metric_value(value)}{between} on {on}."

    def blocks(self) -> Iterator[Section]:
        columns = [Column("grades taken as", Kind.TEXT), Column("Krippendorff's alpha")]
        notes = [Note(note) for note in self.notes]
        yield Section("All judges", [Table(columns, list(self.alphas.items()), "All judges"), *notes])
        names = [Column("judges", Kind.TEXT), Column("documents", Kind.COUNT), Column("same grade", Kind.PERCENT)]
        rows = [
            (f"{pair.first}, {pair.second}", pair.documents, pair.same, *pair.kappas.values())
            for pair in self.pairs
        ]
        pairs = Table([*names, *(Column(name) for name in KAPPA_POWERS)], rows, "Cohen's kappa by pair of judges")
        yield Section("Pairs", [pairs, Figure(self.chart, "Quadratic kappa of each pair of judges.")])
        columns = [Column("grade", Kind.NUMBER), Column("given", Kind.COUNT), Column("another judge gives it too")]
        given = [(grade.grade, grade.given, grade.agreement) for grade in self.grades]
        yield Section("Grades", [Table(columns, given, "How likely another judge gives the same grade")])
        columns = [Column("query", Kind.TEXT), Column("documents", Kind.COUNT), Column("alpha")]
        lowest = [(each.query, each.documents, each.alpha) for each in self.queries[:SHOWN_QUERIES]]
        yield Section("Queries", [Table(columns, lowest, "Queries with the lowest agreement")])

    def chart(self) -> Chart:
        """Return the quadratic kappa of each pair of judges."""
        from rankwright.reports.charts.bars import described, interval_chart

        rows = [(f"{pair.first}, {pair.second}", *pair.kappas["quadratic kappa"]) for pair in self.pairs]
        return interval_chart(rows, "quadratic kappa", description=f"Agreement of pairs: {described(rows)}.")

    def to_dict(self) -> dict[str, Any]:
        values: dict[str, Any] = plain(
            {
                "judges": self.judges,
                "documents": self.documents,
                "measure": self.measure,
                "alpha": dict(self.alphas),
                "pairs": [vars(pair) | {"kappas": dict(pair.kappas)} for pair in self.pairs],
                "grades": self.grades,
                "queries": self.queries,
                "level": self.level,
                "notes": self.notes,
            }
        )
        return values


def agreement(
    table: GradeTable, *, measure: str = "ordinal", level: float = 0.95, random_state: int = 0
) -> Agreement:
    """Measure how well judges agree, with bootstrap intervals over queries.

    Parameters
    ----------
    table
        The grades of at least two judges.
    measure
        How far apart grades are in the alpha of the summary and of queries: `nominal` (equal or not), `ordinal`
        (by the number of grades between them) or `interval` (by their squared difference).
    level
        The level of intervals.
    random_state
        Seed of the bootstrap.

    Examples
    --------
    >>> grades = [[2, 2, 1], [0, 1, 0], [1, 1, 1], [0, 0, 2]]
    >>> table = rw.judgements.GradeTable.of(list("aabb"), list("wxyz"), ["ada", "bob", "cyd"], grades)
    >>> result = rw.judgements.agreement(table)
    >>> [(pair.first, pair.second, round(pair.kappas["quadratic kappa"].value, 2)) for pair in result.pairs]
    [('ada', 'bob', 0.8), ('ada', 'cyd', 0.0), ('bob', 'cyd', -0.5)]
    """
    require_type(table, GradeTable, "agreement takes a GradeTable, as read_grades returns it")
    if measure not in LEVELS:
        raise InputError(f"{parameter('measure')} must be {listed(LEVELS)}, not {measure!r}.")
    checked_level(level)
    shared = comparable(table)
    query_of_row, n_queries = shared.groups.query_of_row, len(shared.groups)
    scale = np.array(shared.scale)
    counts = coincidence_counts(shared.codes, len(scale), query_of_row, n_queries)
    how: dict[str, Any] = {"level": level, "random_state": random_state}
    alphas = {name: with_interval(counts, partial(alpha, scale=scale, level=name), **how) for name in LEVELS}
    return Agreement(
        alphas,
        measure,
        tuple(_pairs(shared, how)),
        tuple(_grades(counts, scale, how)),
        tuple(_queries(shared, counts, measure)),
        tuple(map(table.shown_name, shared.judges)),
        len(shared),
        level,
        (*table.notes, *judges_left_out(table, shared)),
    )


def comparable(table: GradeTable) -> GradeTable:
    """Return the documents with two grades or more, and their judges; refuse a table without any."""
    if len(table.judges) < 2:
        raise InputError(f"Agreement needs at least two judges; the only one is {table.judges[0]!r}.")
    if len(table.scale) > MAX_GRADES:
        raise InputError(f"There are {len(table.scale):,} different grades; agreement takes {MAX_GRADES} at most.")
    rows = np.flatnonzero(table.n_judges > 1)
    if len(rows) == 0:
        raise InputError("No document was graded by two judges.")
    shared = table.take(rows)
    return shared.of_judges([judge for judge in table.judges if len(shared.judgements_of(judge))])


def judges_left_out(table: GradeTable, shared: GradeTable) -> Iterator[str]:
    """Yield a sentence about the judges who graded no document that another judge graded."""
    if alone := [table.shown_name(judge) for judge in table.judges if judge not in shared.judges]:
        yield f"No document of {brief_list(alone)} was graded by another judge: left out."


def _pairs(table: GradeTable, how: dict[str, Any]) -> Iterator[PairAgreement]:
    """Yield the agreement of each pair of judges who graded the same documents."""
    groups = table.groups
    for first, second in combinations(range(len(table.judges)), 2):
        codes = table.codes[:, first], table.codes[:, second]
        counts = confusion_counts(*codes, len(table.scale), groups.query_of_row, len(groups))
        if total := int(counts.sum()):
            kappas = {
                name: with_interval(counts, partial(kappa, power=power), **how)
                for name, power in KAPPA_POWERS.items()
            }
            same = float(np.trace(counts.sum(axis=0)) / total)
            judge, other = (table.shown_name(table.judges[number]) for number in (first, second))
            yield PairAgreement(judge, other, total, same, kappas)


def _grades(counts: Doubles, scale: Doubles, how: dict[str, Any]) -> Iterator[GradeAgreement]:
    limits = bootstrap_limits(counts, specific_agreement, **how)
    total = counts.sum(axis=0)
    for grade, given, value, (low, high) in zip(
        scale.tolist(),
        total.sum(axis=1).tolist(),
        specific_agreement(total).tolist(),
        limits.tolist(),
        strict=True,
    ):
        if given:
            yield GradeAgreement(grade, round(given), Interval(value, low, high))


def _queries(table: GradeTable, counts: Doubles, measure: str) -> list[QueryAgreement]:
    """Return the agreement on each query, the lowest first."""
    scale = np.array(table.scale)
    total = counts.sum(axis=0)
    _, expected = disagreements(total, scale, measure)
    distances = grade_distances(total.sum(axis=-1), scale, measure)
    observed = (counts * distances).sum(axis=(1, 2)) / counts.sum(axis=(1, 2))
    sizes = np.bincount(table.groups.query_of_row, minlength=len(table.groups))
    rows = zip(table.groups.ids.tolist(), sizes.tolist(), (1.0 - observed / expected).tolist(), strict=True)
    return sorted((QueryAgreement(*row) for row in rows), key=lambda each: each.alpha)
