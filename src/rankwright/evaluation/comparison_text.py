"""A comparison of systems in words: a sentence with the main result, and tables of text."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING

from rankwright.base.wording import counted, said_p_value, shown_p_value
from rankwright.evaluation.slices import DIFFICULTY
from rankwright.reports.text import aligned
from rankwright.statistics.significance import RANDOMISATION, SIGN, TESTS, WILCOXON, T

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rankwright.evaluation.system_comparison import Compared, Division, SystemComparison
    from rankwright.statistics.paired_tests import PairComparison

MOST_PAIRS = 45  # shown in a table: all pairs of ten systems
UNKNOWN = "-"
NAMES_OF_TESTS = {RANDOMISATION: "randomisation", T: "t", WILCOXON: "Wilcoxon", SIGN: "sign"}


@dataclass(frozen=True)
class TextTable:
    """A table whose cells are text; all columns but the first hold numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def in_percent(level: float) -> str:
    """Return a level as a percentage."""
    return f"{100 * level:.6g} %"


def summary(found: SystemComparison, metric: str) -> str:
    """Return the main result by one metric in a sentence: the best system against the next, or the baseline."""
    compared = found.by(metric)
    pair = leading_pair(found, compared)
    if compared.n_queries == 1:
        values = " and ".join(f"{name} {compared.mean(name):.4f}" for name in (pair.one, pair.other))
        return f"There is only one query, so no test is possible; {metric}: {values}."
    if pair.equal == compared.n_queries:
        return f"{pair.one} and {pair.other} have the same {metric} on every query{_of_others(found, compared)}."
    p_value = pair.corrected[RANDOMISATION]
    chance = said_p_value(p_value)
    holm = " (Holm)" if len(compared.pairs) > 1 else ""
    if p_value < 1.0 - found.level:
        result = f"{pair.one} beats {pair.other} by {pair.difference:.3f} {metric}, {chance}{holm}"
    else:
        result = (
            f"{pair.one} is ahead of {pair.other} by {pair.difference:.3f} {metric}, which may be chance, "
            f"{chance}{holm}"
        )
    worse = f"{counted(pair.worse, 'query')} {'is' if pair.worse == 1 else 'are'} worse"
    return f"{result}; {worse}{_of_others(found, compared)}."


def leading_pair(found: SystemComparison, compared: Compared) -> PairComparison:
    """Return the comparison of the best system with the next one or, if there is a baseline, with that."""
    best, second, *_ = compared.ranked()
    return compared.pairs.pair(best, second if found.baseline in (None, best) else found.baseline)


def _of_others(found: SystemComparison, compared: Compared) -> str:
    """Return how many of three or more systems differ significantly from the best or from the baseline."""
    if len(found.systems) == 2:
        return ""
    reference = found.baseline or compared.ranked()[0]
    against = [compared.pairs.pair(one, reference) for one in found.systems if one != reference]
    certain = [one for one in against if one.corrected[RANDOMISATION] < 1.0 - found.level]
    ahead, behind = (sum(sign * one.difference > 0 for one in certain) for sign in (1, -1))
    if found.baseline is None:
        return f"; {reference} beats {behind:,} of {len(against):,} systems significantly" if behind else ""
    return f"; of {len(against):,} systems, {ahead:,} significantly ahead of {reference}, {behind:,} behind it"


def as_text(found: SystemComparison) -> str:
    """Return sentences and tables of all metrics."""
    tables = [means_table(found), *(table for metric in found.metrics for table in tables_of(found, metric))]
    lines = [found.summary(metric) for metric in found.metrics]
    for table in tables:
        lines += ["", *aligned([table.head, *table.rows])]
    return "\n".join([*lines, "", *remarks(found), found.report.footnote()])


def tables_of(found: SystemComparison, metric: str) -> Iterator[TextTable]:
    """Yield the tables of one metric: pairs, their tests, and slices."""
    pairs = shown_pairs(found, metric)
    yield pairs_table(found, metric, pairs)
    if found.by(metric).n_queries > 1:
        yield tests_table(metric, pairs)
    for division in found.slices(metric):
        yield division_table(found, metric, division)


def remarks(found: SystemComparison) -> Iterator[str]:
    """Yield what a reader of the tables should know."""
    percent = in_percent(found.level)
    yield (
        f"Intervals of {percent}, each for itself: bootstrap for means, paired t for differences. p-values are "
        "corrected for the number of pairs (Holm). d: Cohen's effect size. detectable: the difference that these "
        "queries show with probability 0.8 after the correction; needed: the queries for the observed one."
    )
    for metric in found.metrics:
        hidden = len(found.by(metric).pairs) - len(shown_pairs(found, metric))
        if hidden:
            yield f"{counted(hidden, 'more pair')} by {metric} not shown here, but in the JSON."
        for division in found.slices(metric):
            if division.by == DIFFICULTY:
                yield f"Slices by difficulty are not tested: they are chosen by {metric} itself."
                continue
            few = [one.name for one in division.slices if not one.tested]
            if few:
                yield f"Too few queries to test {metric} by {division.meaning}: {', '.join(few)}."
    yield from remarks_on(found)


def remarks_on(found: SystemComparison) -> Iterator[str]:
    """Yield which queries and documents were left out, or counted as irrelevant."""
    for metric in found.metrics:
        if found.left_out(metric):
            yield f"{counted(found.left_out(metric), 'query')} without a value of {metric} left out."
    yield from (f"{remark}." for remark in found.report.remarks())


def means_table(found: SystemComparison) -> TextTable:
    """Return the means of all metrics with their intervals, the best system first."""
    percent = in_percent(found.level)
    head = ["system", *(word for metric in found.metrics for word in (metric, f"{percent} interval"))]
    rows = [
        [
            system + (" (baseline)" if system == found.baseline else ""),
            *(cell for metric in found.metrics for cell in _mean(found.by(metric), system)),
        ]
        for system in found.by().ranked()
    ]
    return TextTable(head, rows)


def _mean(compared: Compared, system: str) -> tuple[str, str]:
    return f"{compared.mean(system):.4f}", _interval(compared.interval(system), ".4f")


def shown_pairs(found: SystemComparison, metric: str) -> list[PairComparison]:
    """Return the pairs to show, better system first: all, or those with the best system if there are too many."""
    compared = found.by(metric)
    ranked = compared.ranked()
    if found.baseline is not None:
        return [compared.pairs.pair(one, found.baseline) for one in ranked if one != found.baseline]
    if len(compared.pairs) > MOST_PAIRS:
        return [compared.pairs.pair(ranked[0], one) for one in ranked[1 : MOST_PAIRS + 1]]
    return [compared.pairs.pair(one, other) for place, one in enumerate(ranked) for other in ranked[place + 1 :]]


def pairs_table(found: SystemComparison, metric: str, pairs: Iterable[PairComparison]) -> TextTable:
    """Return differences, their intervals and sizes."""
    percent = in_percent(found.level)
    counts = ("better", "equal", "worse")
    head = (metric, "difference", f"{percent} interval", "p (Holm)", *counts, "d", "detectable", "needed")
    rows = [
        (
            _names(pair),
            f"{pair.difference:+.4f}",
            _interval(pair.interval, "+.4f"),
            shown_p_value(pair.corrected[RANDOMISATION]),
            *(f"{getattr(pair, name):,}" for name in counts),
            _number(pair.effect_size, "+.2f"),
            _number(pair.detectable, ".4f"),
            _number(pair.queries_needed, ",.0f"),
        )
        for pair in pairs
    ]
    return TextTable(head, rows)


def tests_table(metric: str, pairs: Iterable[PairComparison]) -> TextTable:
    """Return the corrected p-values of all tests."""
    head = (f"{metric}: p (Holm)", *(NAMES_OF_TESTS[test] for test in TESTS))
    return TextTable(
        head, [(_names(pair), *(shown_p_value(pair.corrected[test]) for test in TESTS)) for pair in pairs]
    )


def division_table(found: SystemComparison, metric: str, division: Division) -> TextTable:
    """Return the means of the systems on each slice, and the difference between the two leading ones."""
    leading = leading_pair(found, found.by(metric))
    systems = found.by(metric).ranked()[: max(2, MOST_PAIRS // 5)]
    head = (f"{metric} by {division.meaning}", "queries", *systems, _names(leading), "p (Holm)")
    rows = []
    for one in division.slices:
        pair = one.compared.pairs.pair(leading.one, leading.other)
        means = (f"{one.compared.mean(system):.4f}" for system in systems)
        p_value = shown_p_value(pair.corrected[RANDOMISATION])
        rows.append((one.name, f"{one.compared.n_queries:,}", *means, f"{pair.difference:+.4f}", p_value))
    return TextTable(head, rows)


def _names(pair: PairComparison) -> str:
    return f"{pair.one} - {pair.other}"


def _interval(interval: tuple[float, float], spec: str) -> str:
    low, high = interval
    return UNKNOWN if isnan(low) else f"[{low:{spec}}, {high:{spec}}]"


def _number(value: float, spec: str) -> str:
    return f"{value:{spec}}" if isfinite(value) else UNKNOWN
