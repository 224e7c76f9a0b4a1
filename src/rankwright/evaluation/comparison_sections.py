"""The sections of a comparison's page: means, which differences are real, slices, and query by query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.base.wording import counted
from rankwright.evaluation.comparison_charts import differences_chart, means_chart, slices_chart
from rankwright.evaluation.comparison_text import (
    NAMES_OF_TESTS,
    in_percent,
    leading_pair,
    remarks_on,
    shown_pairs,
)
from rankwright.evaluation.slices import DIFFICULTY, FEWEST_QUERIES
from rankwright.reports.pages.blocks import Cell, Column, Figure, Note, Section, Table, Text
from rankwright.reports.pages.cells import mean_cell, number, p_value, shown, shown_p_value, words
from rankwright.statistics.significance import RANDOMISATION, TESTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwright.evaluation.system_comparison import Compared, Division, SystemComparison
    from rankwright.reports.pages.blocks import Block, Row
    from rankwright.statistics.paired_tests import PairComparison

MOST_CHARTS = 6  # of differences query by query
MOST_CROSSED = 12  # systems of a table with a row and a column per system
CLEAR, UNCLEAR = 0.6, 0.12  # tints of significant differences and of others


def comparison_sections(found: SystemComparison) -> list[Section]:
    """Return means, differences, slices and differences query by query; all but means by the first metric."""
    metric = found.metrics[0]
    sections = [
        _means(found),
        _differences(found, metric),
        *(_division(found, metric, one) for one in found.slices(metric)),
        _query_by_query(found, metric),
    ]
    return [section for section in sections if section.blocks]


def _means(found: SystemComparison) -> Section:
    metric, percent = found.metrics[0], in_percent(found.level)
    figure = Figure(means_chart(found, metric), f"Mean {metric} over queries, with its {percent} interval.")
    columns = [Column("system", is_text=True), *map(Column, found.metrics)]
    rows: list[Row] = [
        (
            words(system, "baseline" if system == found.baseline else ""),
            *(mean_cell(found.by(one).mean(system), *found.by(one).interval(system)) for one in found.metrics),
        )
        for system in found.by(metric).ranked()
    ]
    table = Table(columns, rows, f"Means over queries; small: {percent} bootstrap interval.")
    notes = [f"{found.report.footnote()}.", *remarks_on(found)]
    return Section("Means over queries", [figure, table, *map(Note, notes)])


def _differences(found: SystemComparison, metric: str) -> Section:
    pairs = shown_pairs(found, metric)
    others = [one for one in found.metrics if one != metric]
    blocks: list[Block] = [Text(found.summary(one)) for one in others]
    if others:
        blocks.append(Note(f"All that follows is measured by {metric}."))
    if len(found.systems) > 2:
        reference = found.baseline or f"the best system, {found.by(metric).ranked()[0]}"
        caption = f"Differences from {reference}, with their {in_percent(found.level)} intervals."
        blocks.append(Figure(differences_chart(found, metric), caption))
    if found.baseline is None and 2 < len(found.systems) <= MOST_CROSSED:
        blocks.append(_crossed(found, metric))
    blocks += [_sizes(found, metric, pairs), Note(_what_sizes_mean(found))]
    if found.by(metric).n_queries > 1:
        blocks.append(_tests(pairs))
    hidden = len(found.by(metric).pairs) - len(pairs)
    if hidden:
        blocks.append(Note(f"{counted(hidden, 'more pair')} not listed; these have the best system."))
    return Section("Which differences are real?", blocks)


def _crossed(found: SystemComparison, metric: str) -> Table:
    """Return a row and a column per system, tinted where the difference is significant."""
    compared = found.by(metric)
    ranked = compared.ranked()
    columns = [Column(f"{metric}, row minus column", is_text=True), *map(Column, ranked)]
    rows = [(words(one), *(_cross(found, compared, one, other) for other in ranked)) for one in ranked]
    caption = (
        f"Differences of means; small: p-value after Holm's correction; darker if below {1 - found.level:.2g}."
    )
    return Table(columns, rows, caption, tiles=True)


def _cross(found: SystemComparison, compared: Compared, one: str, other: str) -> Cell:
    if one == other:
        return Cell("")
    pair = compared.pairs.pair(one, other)
    p = pair.corrected[RANDOMISATION]
    strength = CLEAR if p < 1.0 - found.level else UNCLEAR if pair.difference else 0.0
    tint = strength if pair.difference > 0 else -strength
    return number(pair.difference, "+.3f", small=shown_p_value(p), shade=tint)


def _sizes(found: SystemComparison, metric: str, pairs: Sequence[PairComparison]) -> Table:
    titles = (f"difference in {metric}", "p (Holm)", "better", "equal", "worse", "effect size")
    columns = [Column("pair", is_text=True), *map(Column, (*titles, "detectable", "queries needed"))]
    rows = [_size(pair) for pair in pairs]
    caption = (
        f"Small: {in_percent(found.level)} interval of the difference alone. p: paired randomisation test, "
        "corrected for the number of pairs by Holm's method. Better, equal, worse: numbers of queries."
    )
    return Table(columns, rows, caption)


def _size(pair: PairComparison) -> Row:
    low, high = pair.interval
    return (
        _name(pair),
        number(pair.difference, "+.4f", small=f"{shown(low, '+.3f')} to {shown(high, '+.3f')}"),
        p_value(pair.corrected[RANDOMISATION]),
        *(number(count, ",") for count in (pair.better, pair.equal, pair.worse)),
        number(pair.effect_size, "+.2f"),
        number(pair.detectable),
        number(pair.queries_needed, ",.0f"),
    )


def _name(pair: PairComparison) -> Cell:
    return words(pair.one, f"against {pair.other}")


def _what_sizes_mean(found: SystemComparison) -> str:
    return (
        "Effect size: Cohen's d, the mean of the queries' differences divided by their standard deviation. "
        f"Detectable: the difference that so many queries show at p < {1 - found.level:.2g}, corrected for the "
        "number of pairs, with probability 0.8. Queries needed: how many would show the observed difference."
    )


def _tests(pairs: Sequence[PairComparison]) -> Table:
    columns = [Column("pair", is_text=True), *(Column(NAMES_OF_TESTS[test]) for test in TESTS)]
    rows = [
        (words(pair.one, f"against {pair.other}"), *(p_value(pair.corrected[test]) for test in TESTS))
        for pair in pairs
    ]
    caption = "p-values of four paired tests, each corrected by Holm's method."
    return Table(columns, rows, caption, folded="Other tests: t, Wilcoxon, sign")


def _division(found: SystemComparison, metric: str, division: Division) -> Section:
    """Return the means on slices of the queries, and the difference between the two leading systems."""
    if len(division.slices) == 1:
        only = f"All queries are in one slice, {division.slices[0].name}, so there is nothing to compare."
        return Section(f"By {division.meaning}", [Text(only)])
    caption = f"Mean {metric} on slices of the queries, with {in_percent(found.level)} intervals."
    blocks: list[Block] = [Figure(slices_chart(found, metric, division), caption)]
    leading = leading_pair(found, found.by(metric))
    titles = (
        "queries",
        f"{metric} of {leading.one} minus {leading.other}",
        "p (Holm)",
        "better",
        "equal",
        "worse",
    )
    rows = []
    for one in division.slices:
        pair = one.compared.pairs.pair(leading.one, leading.other)
        rows.append((words(one.name), number(one.compared.n_queries, ","), *_size(pair)[1:6]))
    about = (
        f"Slices by difficulty are not tested: they are chosen by {metric} itself."
        if division.by == DIFFICULTY
        else "p-values are corrected for the number of pairs and slices; slices of less than "
        f"{FEWEST_QUERIES} queries are not tested."
    )
    blocks.append(Table([Column("slice", is_text=True), *map(Column, titles)], rows, about))
    return Section(f"By {division.meaning}", blocks)


def _query_by_query(found: SystemComparison, metric: str) -> Section:
    pairs = list(_drawn_pairs(found, metric))
    charts: list[Block] = [_difference_figure(found, metric, pair) for pair in pairs[:MOST_CHARTS]]
    if len(pairs) > MOST_CHARTS:
        charts.append(Note(f"{MOST_CHARTS} of {len(pairs):,} comparisons are drawn."))
    return Section("Query by query", charts)


def _drawn_pairs(found: SystemComparison, metric: str) -> Iterator[PairComparison]:
    """Yield the best system against each other, or each against the baseline."""
    compared = found.by(metric)
    reference = found.baseline or compared.ranked()[0]
    for one in compared.ranked():
        if one != reference:
            pair = compared.pairs.pair(one, reference)
            yield pair if found.baseline else pair.turned()


def _difference_figure(found: SystemComparison, metric: str, pair: PairComparison) -> Figure:
    counts = f"better on {counted(pair.better, 'query')} and worse on {pair.worse:,} than {pair.other}"
    chart = found.report.difference_chart(pair.one, pair.other, metric)
    caption = f"{pair.one} is {counts}. Click a bar to open its query."
    return Figure(chart, caption, compares=(pair.one, pair.other))
