"""Systems compared by one metric: means with intervals and the tests of all pairs, on all queries or by slices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.wording import counted, metric_value, percent, said_p_value, shown_p_value
from rankwright.evaluation.slices import DIFFICULTY, FEWEST_QUERIES, MEANINGS
from rankwright.reports.blocks import Cell, Column, Figure, Interval, Kind, Note, Section, Table, Text
from rankwright.statistics.paired_tests import RANDOMISATION, SIGN, TESTS, WILCOXON, T

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.evaluation.report import Report
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart
    from rankwright.statistics.paired_tests import PairComparison, PairedTests


MOST_PAIRS = 45  # listed in a table: all pairs of ten systems


@dataclass(frozen=True, eq=False)
class Compared:
    """Systems compared by one metric on some queries; `means` and `intervals` have one row per system."""

    metric: str
    level: float
    baseline: str | None
    means: Doubles
    intervals: Doubles
    pairs: PairedTests

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
        return [self.systems[number] for number in np.argsort(-self.means, kind="stable")]

    def mean(self, system: str) -> float:
        """Return the mean over queries."""
        return float(self.means[self.systems.index(system)])

    def interval(self, system: str) -> tuple[float, float]:
        """Return the bootstrap interval of the mean over queries."""
        low, high = self.intervals[self.systems.index(system)].tolist()
        return low, high

    def is_significant(self, pair: PairComparison) -> bool:
        """Return whether the corrected p-value of a pair is below 1 - level."""
        return pair.corrected[RANDOMISATION] < 1.0 - self.level

    def leading_pair(self) -> PairComparison:
        """Return the comparison of the best system with the next one or, if there is a baseline, with that."""
        best, second, *_ = self.ranked()
        return self.pairs.pair(best, second if self.baseline in (None, best) else self.baseline)

    @property
    def reference(self) -> str:
        """The baseline or, without any, the best system."""
        return self.baseline or self.ranked()[0]

    def against_reference(self) -> list[PairComparison]:
        """Return the comparison of every other system with the reference, the best system first."""
        return [self.pairs.pair(name, self.reference) for name in self.ranked() if name != self.reference]

    def listed_pairs(self) -> list[PairComparison]:
        """Return the pairs to list, better system first: all, or those with the best one if there are too many."""
        ranked = self.ranked()
        if self.baseline is not None:
            return self.against_reference()
        if len(self.pairs) > MOST_PAIRS:
            return [self.pairs.pair(ranked[0], name) for name in ranked[1 : MOST_PAIRS + 1]]
        return [self.pairs.pair(name, other) for rank, name in enumerate(ranked) for other in ranked[rank + 1 :]]

    @property
    def summary(self) -> str:
        """The main result in a sentence: the best system against the next, or against the baseline."""
        pair = self.leading_pair()
        if self.n_queries == 1:
            values = " and ".join(f"{name} {metric_value(self.mean(name))}" for name in (pair.system, pair.other))
            return f"There is only one query, so no test is possible; {self.metric}: {values}."
        others = self._significant_others()
        if pair.equal == self.n_queries:
            return f"{pair.system} and {pair.other} have the same {self.metric} on every query{others}."
        chance = said_p_value(pair.corrected[RANDOMISATION]) + (" (Holm)" if len(self.pairs) > 1 else "")
        amount = f"by {metric_value(pair.difference)} {self.metric}"
        if self.is_significant(pair):
            finding = f"{pair.system} beats {pair.other} {amount}, {chance}"
        else:
            finding = f"{pair.system} is ahead of {pair.other} {amount}, which may be chance, {chance}"
        worse = f"{counted(pair.worse, 'query')} {'is' if pair.worse == 1 else 'are'} worse"
        return f"{finding}; {worse}{others}."

    def _significant_others(self) -> str:
        """Return how many of three or more systems differ significantly from the reference."""
        if len(self.systems) == 2:
            return ""
        against, reference = self.against_reference(), self.reference
        certain = [pair for pair in against if self.is_significant(pair)]
        ahead, behind = (sum(sign * pair.difference > 0 for pair in certain) for sign in (1, -1))
        if self.baseline is None:
            return f"; {reference} beats {behind:,} of {len(against):,} systems significantly" if behind else ""
        return f"; of {len(against):,} systems, {ahead:,} significantly ahead of {reference}, {behind:,} behind it"

    def chart(self) -> Chart:
        """Return the means of all systems with their intervals, best first."""
        from rankwright.reports.charts.bars import described, interval_chart

        rows = [(system, self.mean(system), *self.interval(system)) for system in self.ranked()]
        over = f"{percent(self.level)} interval over {counted(self.n_queries, 'query')}"
        description = f"Mean {self.metric} with its {over}: {described(rows)}."
        return interval_chart(rows, self.metric, description=description)

    def differences_chart(self) -> Chart:
        """Return the difference of each system from the baseline or, without any, from the best one."""
        from rankwright.reports.charts.bars import described, interval_chart

        rows = [(pair.system, pair.difference, *pair.interval) for pair in self.against_reference()]
        label = f"difference in {self.metric} from {self.reference}"
        description = f"{label.capitalize()}, with its {percent(self.level)} interval: {described(rows)}."
        return interval_chart(rows, label, description=description, mark=0.0)


@dataclass(frozen=True, eq=False)
class SliceComparison:
    """Systems compared on the queries of one slice; one with too few queries is not tested."""

    name: str
    compared: Compared
    tested: bool

    def to_dict(self) -> dict[str, Any]:
        """Return means and tests as JSON values."""
        return {
            "name": self.name,
            "queries": self.compared.n_queries,
            "tested": self.tested,
            "means": dict(zip(self.compared.systems, self.compared.means.tolist(), strict=True)),
            "pairs": [pair.to_dict() for pair in self.compared.pairs],
        }


@dataclass(frozen=True, eq=False)
class Slicing:
    """Queries divided into slices by a property; p-values are corrected over all slices."""

    by: str
    slices: tuple[SliceComparison, ...]

    @property
    def meaning(self) -> str:
        """What the queries are divided by, in words."""
        return MEANINGS.get(self.by, self.by)


MOST_CHARTS = 6  # of differences query by query
MOST_CROSSED = 12  # systems of a table with a row and a column per system
CLEAR, UNCLEAR = 0.6, 0.12  # tints of significant differences and of others
NAMES_OF_TESTS = {RANDOMISATION: "randomisation", T: "t", WILCOXON: "Wilcoxon", SIGN: "sign"}


def means_blocks(results: Sequence[Compared]) -> list[Block]:
    """Return the means of all systems by several metrics, with their intervals; a chart of the first metric."""
    first = results[0]
    level = percent(first.level)
    figure = Figure(first.chart, f"Mean {first.metric} over queries, with its {level} interval.")
    rows = [
        (
            Cell(system, "baseline" if system == first.baseline else ""),
            *(Interval(compared.mean(system), *compared.interval(system)) for compared in results),
        )
        for system in first.ranked()
    ]
    columns = [Column("system", Kind.TEXT), *(Column(compared.metric) for compared in results)]
    return [figure, Table(columns, rows, f"Means over queries; small: {level} bootstrap interval.")]


def differences_section(results: Sequence[Compared]) -> Section:
    """Return the differences of pairs by several metrics; charts and the other tests by the first one."""
    first, *others = results
    blocks: list[Block] = []
    if len(first.systems) > 2:
        reference = first.baseline or f"the best system, {first.reference}"
        caption = f"Differences from {reference}, with their {percent(first.level)} intervals."
        blocks.append(Figure(first.differences_chart, caption))
    if first.baseline is None and 2 < len(first.systems) <= MOST_CROSSED:
        blocks.append(_crossed(first))
    blocks += pair_blocks(first)
    if first.n_queries > 1:
        blocks.append(tests_table(first.listed_pairs()))
    for compared in others:
        blocks += [Text(compared.summary), *pair_blocks(compared)]
    return Section("Which differences are real?", [*blocks, Note(_meaning_of_sizes(first.level))])


def pair_blocks(compared: Compared) -> list[Block]:
    """Return the differences of pairs by one metric, and how many pairs are not listed."""
    pairs = compared.listed_pairs()
    columns = [
        Column("pair", Kind.TEXT),
        *_size_columns(f"difference in {compared.metric}"),
        Column("effect size", Kind.EFFECT),
        Column("detectable"),
        Column("queries needed", Kind.COUNT),
    ]
    rows = [(_name(pair), *_size(pair), pair.effect_size, pair.detectable, pair.queries_needed) for pair in pairs]
    interval = f"{percent(compared.level)} interval of the difference alone"
    caption = f"Small: {interval}. Better, equal, worse: numbers of queries."
    hidden = len(compared.pairs) - len(pairs)
    more = [Note(f"{counted(hidden, 'more pair')} not listed; these have the best system.")] if hidden else []
    return [Table(columns, rows, caption), *more]


def _size_columns(title: str) -> list[Column]:
    counts = [Column(name, Kind.COUNT) for name in ("better", "equal", "worse")]
    return [Column(title, Kind.DIFFERENCE), Column("p (Holm)", Kind.P_VALUE), *counts]


def _size(pair: PairComparison) -> tuple[Any, ...]:
    interval = Interval(pair.difference, *pair.interval)
    return (interval, pair.corrected[RANDOMISATION], pair.better, pair.equal, pair.worse)


def _name(pair: PairComparison) -> Cell:
    return Cell(pair.system, f"against {pair.other}")


def _meaning_of_sizes(level: float) -> str:
    return (
        "p: paired randomisation test, corrected for the number of pairs (Holm). Effect size: Cohen's d, the mean "
        "of the queries' differences divided by their standard deviation. Detectable: the difference that so many "
        f"queries show at p < {1 - level:.2g}, corrected for the number of pairs, with probability 0.8. Queries "
        "needed: how many would show the observed difference."
    )


def tests_table(pairs: Sequence[PairComparison]) -> Table:
    """Return the corrected p-values of all tests."""
    columns = [Column("p (Holm)", Kind.TEXT), *(Column(NAMES_OF_TESTS[test], Kind.P_VALUE) for test in TESTS)]
    rows = [(_name(pair), *(pair.corrected[test] for test in TESTS)) for pair in pairs]
    caption = "p-values of four paired tests, each corrected by Holm's method."
    return Table(columns, rows, caption, folded="Other tests: t, Wilcoxon, sign", unfolded=True)


def _crossed(compared: Compared) -> Table:
    """Return a row and a column per system, tinted where the difference is significant."""
    ranked = compared.ranked()
    head = Column(f"{compared.metric}, row minus column", Kind.TEXT)
    rows = [(name, *(_crossed_cell(compared, name, other) for other in ranked)) for name in ranked]
    limit = f"{1 - compared.level:.2g}"
    caption = f"Differences of means; small: p-value after Holm's correction; darker if below {limit}."
    return Table([head, *(Column(name, Kind.DIFFERENCE) for name in ranked)], rows, caption, tiles=True)


def _crossed_cell(compared: Compared, system: str, other: str) -> Cell | None:
    if system == other:
        return None
    pair = compared.pairs.pair(system, other)
    strength = CLEAR if compared.is_significant(pair) else UNCLEAR if pair.difference else 0.0
    tint = strength if pair.difference > 0 else -strength
    return Cell(pair.difference, shown_p_value(pair.corrected[RANDOMISATION]), tint)


def slicing_section(compared: Compared, slicing: Slicing, chart: Callable[[], Chart]) -> Section:
    """Return the means on slices of the queries, and the difference between the two leading systems."""
    title = f"By {slicing.meaning}"
    if len(slicing.slices) == 1:
        only = f"All queries are in one slice, {slicing.slices[0].name}, so there is nothing to compare."
        return Section(title, [Text(only)])
    metric, level = compared.metric, percent(compared.level)
    leading = compared.leading_pair()
    columns = [
        Column(slicing.meaning, Kind.TEXT),
        Column("queries", Kind.COUNT),
        *(Column(f"{metric} of {name}") for name in (leading.system, leading.other)),
        *_size_columns("difference"),
    ]
    rows = []
    for part in slicing.slices:
        means = (part.compared.mean(name) for name in (leading.system, leading.other))
        pair = part.compared.pairs.pair(leading.system, leading.other)
        rows.append((part.name, part.compared.n_queries, *means, *_size(pair)))
    about = (
        f"Slices by difficulty are not tested: they are chosen by {metric} itself."
        if slicing.by == DIFFICULTY
        else "p-values are corrected for the number of pairs and slices; slices of less than "
        f"{FEWEST_QUERIES} queries are not tested."
    )
    figure = Figure(chart, f"Mean {metric} on slices of the queries, with {level} intervals.")
    return Section(
        title, [figure, Table(columns, rows, f"Small: {level} interval of the difference."), Note(about)]
    )


def queries_section(compared: Compared, report: Report) -> Section:
    """Return the differences query by query: of the best system from each other, or of each from the baseline."""
    pairs = compared.against_reference()
    if compared.baseline is None:
        pairs = [pair.turned() for pair in pairs]
    more = f" {MOST_CHARTS} of {len(pairs):,} comparisons are drawn." if len(pairs) > MOST_CHARTS else ""
    figures = [_difference_figure(compared, report, pair, more) for pair in pairs[:MOST_CHARTS]]
    return Section("Query by query", figures)


def _difference_figure(compared: Compared, report: Report, pair: PairComparison, more: str) -> Figure:
    counts = f"better on {counted(pair.better, 'query')} and worse on {pair.worse:,} than {pair.other}"
    return Figure(
        lambda: report.difference_chart(pair.system, pair.other, compared.metric),
        f"{pair.system} is {counts}. Click a bar to open its query.{more}",
        compares=(pair.system, pair.other),
    )
