"""Systems compared by one metric: means with intervals and the tests of all pairs, on all queries or by slices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.wording import capitalised, counted, metric_value, percent, said_p_value, shown_p_value
from rankwright.evaluation.slices import DIFFICULTY, FEWEST_QUERIES, MEANINGS
from rankwright.reports.blocks import Cell, Column, Figure, Figures, Interval, Kind, Note, Section, Table, Text
from rankwright.statistics.paired_tests import RANDOMISATION, SIGN, TESTS, WILCOXON, T

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.evaluation.report import Report
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart
    from rankwright.statistics.paired_tests import Comparison, PairComparison, PairedTests


MAX_PAIRS = 45  # listed in a table: all pairs of ten systems


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
        if len(self.pairs) > MAX_PAIRS:
            return [self.pairs.pair(ranked[0], name) for name in ranked[1 : MAX_PAIRS + 1]]
        return [self.pairs.pair(name, other) for rank, name in enumerate(ranked) for other in ranked[rank + 1 :]]

    @property
    def summary(self) -> str:
        """The main result in a sentence: the best system against the next, or against the baseline."""
        pair, metric = self.leading_pair(), self.metric
        system = f"The baseline ({pair.system})" if pair.system == self.baseline else pair.system
        other = f"the baseline ({pair.other})" if pair.other == self.baseline else pair.other
        if self.n_queries == 1:
            first, second = (metric_value(self.mean(name)) for name in (pair.system, pair.other))
            return f"On the only query, the {metric} of {pair.system} is {first}, that of {pair.other} {second}."
        if pair.equal == self.n_queries:
            finding = f"{system} and {other} have the same {metric} on every query"
        elif pair.difference == 0:
            counts = f"the first is better on {counted(pair.better, 'query')}, the second on {pair.worse:,}"
            finding = f"{system} and {other} have the same mean {metric}: {counts}"
        else:
            amount, chance = f"{_amount(pair.difference)} {metric}", said_p_value(pair.corrected[RANDOMISATION])
            sure = f"{system} beats {other} by {amount} ({chance})"
            unsure = f"{system} is ahead of {other} by {amount}, which may be chance ({chance})"
            finding = sure if self.is_significant(pair) else unsure
        return f"{finding}{self._other_systems(pair)}."

    def _other_systems(self, pair: PairComparison) -> str:
        """Return the end of the summary: which other systems differ significantly from the reference."""
        leading = {pair.system, pair.other}
        rest = [each for each in self.against_reference() if {each.system, each.other} != leading]
        certain = [each.difference for each in rest if self.is_significant(each)]
        n_ahead = sum(each > 0 for each in certain)
        ahead, behind = _some(n_ahead, len(rest)), _some(len(certain) - n_ahead, len(rest))
        is_sure = self.is_significant(pair)
        if not rest or self.reference == pair.system:
            if rest and pair.difference and not certain and not is_sure:
                return f", as may its lead over {_some(len(rest), len(rest))}"
            return behind and (f" and also {behind}" if is_sure else f", but beats {behind}")
        beaten = behind and f", while the baseline beats {behind}"
        if is_sure:
            verb = "does" if n_ahead == 1 else "do"
            return (f", as {verb} {ahead}" if ahead else ", and no other system does") + beaten
        nothing = ", and no other system differs from it significantly"
        return (ahead and f", but it is beaten by {ahead}") + beaten or nothing

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
        description = f"{capitalised(label)}, with its {percent(self.level)} interval: {described(rows)}."
        return interval_chart(rows, label, description=description, mark=0.0)


def _some(count: int, total: int) -> str:
    """Return how many of the other systems are meant, as in "2 of the 3 other systems"; nothing for none."""
    if count < total:
        return f"{count:,} of the {total:,} other systems" if count else ""
    return {0: "", 1: "the other system", 2: "both other systems"}.get(total, f"all {total:,} other systems")


def _amount(difference: float) -> str:
    """Return a positive difference; one that is too small for the digits shown is not 0."""
    shown = metric_value(difference)
    return "less than 0.0001" if shown == metric_value(0.0) else shown


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


MAX_CHARTS = 12  # of differences query by query, of which a page shows one at a time
MAX_CROSSED = 12  # systems of a table with a row and a column per system
MAX_MEANS = 9  # systems of a table with a column per system and a row per slice
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
    return [figure, Table(columns, rows, f"Means over queries, with {level} bootstrap intervals.")]


def differences_section(results: Sequence[Compared]) -> Section:
    """Return the differences of pairs by several metrics; charts by the first one."""
    first, *others = results
    blocks: list[Block] = []
    if len(first.systems) > 2:
        reference = first.baseline or f"the best system, {first.reference}"
        caption = f"Differences from {reference}, with their {percent(first.level)} intervals."
        blocks.append(Figure(first.differences_chart, caption))
    if first.baseline is None and 2 < len(first.systems) <= MAX_CROSSED:
        blocks.append(_crossed(first))
    blocks += pair_blocks(first)
    for compared in others:
        blocks += [Text(compared.summary), *pair_blocks(compared)]
    return Section("Which differences are real?", [*blocks, Note(_meaning_of_sizes(first.level))])


def pair_blocks(compared: Compared) -> list[Block]:
    """Return the differences of pairs by one metric with all tests, and how many pairs are not listed."""
    pairs = compared.listed_pairs()
    columns = [
        Column("pair" if compared.baseline is None else "system", Kind.TEXT),
        *_size_columns(f"difference in {compared.metric}"),
        Column("effect size", Kind.EFFECT),
        Column("detectable"),
        Column("queries needed", Kind.COUNT),
    ]
    names = [pair.system if compared.baseline else Cell(pair.system, f"against {pair.other}") for pair in pairs]
    sizes = [(*_size(pair), pair.effect_size, pair.detectable, pair.queries_needed) for pair in pairs]
    rows = [(name, *size) for name, size in zip(names, sizes, strict=True)]
    interval = f"with the {percent(compared.level)} interval of each alone"
    of_baseline = f" from {compared.baseline}" if compared.baseline else ""
    caption = (
        f"Differences{of_baseline} in {compared.metric}, {interval}. Better, equal, worse: numbers of queries."
    )
    hidden = len(compared.pairs) - len(pairs)
    more = [Note(f"{counted(hidden, 'more pair')} not listed; these have the best system.")] if hidden else []
    tests = [_tests_table(compared.metric, names, pairs)] if compared.n_queries > 1 else []
    return [Table(columns, rows, caption), *tests, *more]


def _size_columns(title: str) -> list[Column]:
    counts = [Column(name, Kind.COUNT) for name in ("better", "equal", "worse")]
    return [Column(title, Kind.DIFFERENCE), Column("p (Holm)", Kind.P_VALUE), *counts]


def _size(pair: PairComparison) -> tuple[Any, ...]:
    interval = Interval(pair.difference, *pair.interval)
    return (interval, pair.corrected[RANDOMISATION], pair.better, pair.equal, pair.worse)


def _meaning_of_sizes(level: float) -> str:
    return (
        "p: paired randomisation test, corrected for the number of pairs (Holm). Effect size: mean difference "
        "divided by the standard deviation (Cohen's d). Detectable: the difference that so many queries show with "
        f"probability 0.8 at p < {1 - level:.2g}, corrected. Queries needed: as many show the observed one."
    )


def _tests_table(metric: str, names: Sequence[str | Cell], pairs: Sequence[PairComparison]) -> Table:
    """Return the corrected p-values of all tests."""
    columns = [
        Column(f"{metric}: p (Holm)", Kind.TEXT),
        *(Column(NAMES_OF_TESTS[test], Kind.P_VALUE) for test in TESTS),
    ]
    rows = [(name, *(pair.corrected[test] for test in TESTS)) for name, pair in zip(names, pairs, strict=True)]
    caption = f"p-values of four paired tests by {metric}, each corrected by Holm's method."
    return Table(columns, rows, caption, folded=f"Other tests by {metric}: t, Wilcoxon, sign", unfolded=True)


def _crossed(compared: Compared) -> Table:
    """Return a row and a column per system, tinted where the difference is significant."""
    ranked = compared.ranked()
    head = Column(f"{compared.metric}, row minus column", Kind.TEXT)
    rows = [(name, *(_crossed_cell(compared, name, other) for other in ranked)) for name in ranked]
    limit = f"{1 - compared.level:.2g}"
    caption = f"Differences of means with p-values after Holm's correction; darker if these are below {limit}."
    return Table([head, *(Column(name, Kind.DIFFERENCE) for name in ranked)], rows, caption, tiles=True)


def _crossed_cell(compared: Compared, system: str, other: str) -> Cell | None:
    if system == other:
        return None
    pair = compared.pairs.pair(system, other)
    strength = CLEAR if compared.is_significant(pair) else UNCLEAR if pair.difference else 0.0
    tint = strength if pair.difference > 0 else -strength
    return Cell(pair.difference, shown_p_value(pair.corrected[RANDOMISATION]), tint)


def slicing_section(results: Sequence[tuple[Compared, Slicing]], chart: Callable[[], Chart]) -> Section:
    """Return the means on slices of the queries, and the difference between the two leading systems.

    `results` has one slicing by the same property per metric; a page folds the tables of all but the first.
    """
    (compared, slicing), *others = results
    title = f"By {slicing.meaning}"
    if len(slicing.slices) == 1:
        only = f"All queries are in one slice, {slicing.slices[0].name}, so there is nothing to compare."
        return Section(title, [Text(only)])
    about = (
        "Slices by difficulty are not tested: they are chosen by the metric itself."
        if slicing.by == DIFFICULTY
        else "p-values are corrected for the number of pairs and slices; slices of less than "
        f"{FEWEST_QUERIES} queries are not tested."
    )
    level = percent(compared.level)
    figure = Figure(chart, f"Mean {compared.metric} on slices of the queries, with {level} intervals.")
    folded = [
        replace(table, folded=table.caption.rstrip("."), unfolded=True)
        for other, parts in others
        for table in _slicing_tables(other, parts)
    ]
    return Section(title, [figure, *_slicing_tables(compared, slicing), *folded, Note(about)])


def _slicing_tables(compared: Compared, slicing: Slicing) -> tuple[Table, Table]:
    metric, leading, slices = compared.metric, compared.leading_pair(), slicing.slices
    systems = compared.ranked()[:MAX_MEANS]
    heading, queries = Column(slicing.meaning, Kind.TEXT), Column("queries", Kind.COUNT)
    means = Table(
        [heading, queries, *map(Column, systems)],
        [(part.name, part.compared.n_queries, *map(part.compared.mean, systems)) for part in slices],
        f"Mean {metric} by {slicing.meaning}.",
    )
    names = f"{leading.system} minus {leading.other}"
    differences = Table(
        [heading, *_size_columns(names)],
        [(part.name, *_size(part.compared.pairs.pair(leading.system, leading.other))) for part in slices],
        f"Difference in {metric} by {slicing.meaning}, with {percent(compared.level)} intervals.",
    )
    return means, differences.without_empty_columns()


def queries_section(compared: Compared, report: Report) -> Section:
    """Return the differences query by query: of the best system from each other, or of each from the baseline."""
    pairs = [pair for pair in compared.against_reference() if pair.better or pair.worse]
    if compared.baseline is None:
        pairs = [pair.turned() for pair in pairs]
    drawn = pairs[:MAX_CHARTS]
    figures = [
        Figure(
            partial(report.difference_chart, pair.system, pair.other, compared.metric),
            better_and_worse(pair, pair.system, pair.other),
            compares=(pair.system, pair.other),
        )
        for pair in drawn
    ]
    if len(figures) < 2:
        return Section("Query by query", figures)
    more = f"{MAX_CHARTS} of {len(pairs):,} comparisons are drawn." if len(pairs) > len(drawn) else ""
    choices = [f"{pair.system} against {pair.other}" for pair in drawn]
    return Section("Query by query", [Figures(figures, more, choices)])


def better_and_worse(pair: Comparison, system: str, other: str) -> str:
    """Return on how many queries a system is better and worse than another, in a sentence."""
    better = f"better than {other} on {counted(pair.better, 'query')}"
    return f"{system} is {better} and worse on {pair.worse:,}."
