"""The sections of a report's page: means, comparisons with the first system, learning curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.data.counted import counted
from rankwright.pages import Column, Figure, Note, Section, Table
from rankwright.pages.cells import number, p_value, shown, shown_p_value, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankwright.evaluation.pairs import Comparison
    from rankwright.evaluation.report import Report
    from rankwright.pages import Block, Cell, Row
    from rankwright.training import History

MOST_CHARTS = 6  # of differences query by query, and of learning curves
SURE = 0.05  # p-value below which a difference is called one


def summary_of(report: Report) -> str:
    """Return what the report says in one sentence, by its first metric."""
    metric = report.metrics[0]
    means = {system: report.mean(system, metric) for system in report.systems}
    known = [system for system in report.systems if np.isfinite(means[system])]
    if not known:
        return f"No query has a value of {metric}."
    best = max(known, key=lambda system: means[system])
    if len(report.systems) == 1 or len(_both_known(report, metric)) < 2:
        return f"{best} has {shown(means[best])} {metric} on {counted(len(report.queries), 'query')}."
    first, *others = report.systems
    rival = first if best != first else max(others, key=lambda system: means[system])
    return _comparing_sentence(best, rival, report.compare(best, rival, metric), metric)


def _both_known(report: Report, metric: str) -> list[int]:
    values = np.array([report.per_query(system, metric) for system in report.systems])
    return np.flatnonzero(np.isfinite(values).all(axis=0)).tolist()


def _comparing_sentence(best: str, rival: str, found: Comparison, metric: str) -> str:
    chance = f"p = {shown_p_value(found.p_value)}".replace("= <", "<")
    ahead = f"{found.difference:.3f} {metric}"
    worse = f"{counted(found.worse, 'query')} {'is' if found.worse == 1 else 'are'} worse"
    if found.p_value < SURE:
        return f"{best} beats {rival} by {ahead} ({chance}); {worse}."
    return f"{best} is ahead of {rival} by {ahead}, which may be chance ({chance}); {worse}."


def report_sections(report: Report, histories: Mapping[str, History] | None = None) -> list[Section]:
    """Return means with intervals, comparisons with the first system, and learning curves with their bounds."""
    sections = [_means(report), *_comparisons(report), *learning_sections(histories or {})]
    return [section for section in sections if section.blocks]


def _means(report: Report) -> Section:
    metric = report.metrics[0]
    blocks: list[Block] = []
    if len(report.systems) > 1 and np.isfinite([report.mean(one, metric) for one in report.systems]).any():
        blocks.append(Figure(report.chart(), f"Mean {metric} over queries, with its 95 % bootstrap interval."))
    columns = [Column("system", is_text=True), *map(Column, report.metrics)]
    cells = [(words(system), *(_mean(report, system, one) for one in report.metrics)) for system in report.systems]
    caption = "Means over queries; small: 95 % bootstrap interval."
    return Section("Means over queries", [*blocks, Table(columns, cells, caption), Note(f"{report.footnote()}.")])


def _mean(report: Report, system: str, metric: str) -> Cell:
    low, high = report.interval(system, metric)
    return number(report.mean(system, metric), small=f"{shown(low, '.3f')} to {shown(high, '.3f')}")


def _comparisons(report: Report) -> Iterator[Section]:
    """Yield the comparisons of the first system with each of the others, by the first metric."""
    metric, (first, *others) = report.metrics[0], report.systems
    compared = [other for other in others if _shared(report, first, other, metric)]
    if not compared:
        return
    columns = [
        Column(f"{first} against", is_text=True),
        Column(f"difference in {metric}"),
        *map(Column, ("p", "better", "equal", "worse")),
    ]
    caption = (
        "p: the fraction of random sign flips of the queries' differences whose mean is at least as far from 0 "
        "(paired randomisation test). Better, equal, worse: numbers of queries."
    )
    rows = [_comparison(other, report.compare(first, other, metric)) for other in compared]
    yield Section("Is the difference real?", [Table(columns, rows, caption)])
    charts: list[Block] = [_difference_figure(report, first, other) for other in compared[:MOST_CHARTS]]
    if len(compared) > MOST_CHARTS:
        charts.append(Note(f"{MOST_CHARTS} of {len(compared)} comparisons are drawn."))
    yield Section("Query by query", charts)


def _shared(report: Report, one: str, other: str, metric: str) -> bool:
    """Return whether both systems have a value for some query."""
    return bool(np.isfinite(report.per_query(one, metric) - report.per_query(other, metric)).any())


def _comparison(other: str, found: Comparison) -> Row:
    low, high = found.interval
    difference = number(found.difference, "+.4f", small=f"{shown(low, '+.3f')} to {shown(high, '+.3f')}")
    counts = [number(count, ",") for count in (found.better, found.equal, found.worse)]
    return words(other), difference, p_value(found.p_value), *counts


def _difference_figure(report: Report, first: str, other: str) -> Figure:
    metric = report.metrics[0]
    differences = report.per_query(first, metric) - report.per_query(other, metric)
    better, worse = int((differences > 0).sum()), int((differences < 0).sum())
    counts = f"{first} is better on {counted(better, 'query')} and worse on {worse:,} than {other}."
    chart = report.difference_chart(first, other)
    return Figure(chart, f"{counts} Click a bar to open its query.", compares=(first, other))


def learning_sections(histories: Mapping[str, History]) -> Iterator[Section]:
    """Yield the learning curves of several fits, and the bounds that their papers prove."""
    drawn = [(name, history) for name, history in histories.items() if len(history)][:MOST_CHARTS]
    yield Section("Learning curves", [_learning_curve(*one) for one in drawn if _was_measured(one[1])])
    bounds = [
        Figure(history.bound_chart(), f"{name}, with its bound (dashed).")
        for name, history in drawn
        if history.has_bound
    ]
    yield Section("Bounds", bounds)


def _was_measured(history: History) -> bool:
    return any(one is not None and np.isfinite(one) for this in history for one in (this.train, this.validation))


def _learning_curve(name: str, history: History) -> Figure:
    kept = f"round {history.best_round} of {len(history)} was kept"
    return Figure(history.chart(), f"{name}: the metric by round; {kept}.")
