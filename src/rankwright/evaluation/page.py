"""Writes a report as one self-contained HTML page, without scripts or other files."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from rankwright.chart import Chart
from rankwright.evaluation.html import note, shown_p_value, table, write_html

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from rankwright.evaluation.report import Report
    from rankwright.training import History


def write_page(
    report: Report, path: str | os.PathLike[str], *, histories: Mapping[str, History] | None = None
) -> None:
    """Write a report as an HTML page: means with intervals, comparisons with the first system, learning curves."""
    curves = [
        _learning_curve(name, history) + _bound_curve(name, history)
        for name, history in (histories or {}).items()
        if len(history)
    ]
    footnote = note(escape(report.footnote()) + ".")
    write_html(path, "rankwright report", [footnote, _means(report), *_comparisons(report), *curves])


def _means(report: Report) -> str:
    rows = [(escape(system), *(_mean(report, system, one) for one in report.metrics)) for system in report.systems]
    means = table(("system", *map(escape, report.metrics)), rows)
    return f"<h2>Means over queries</h2>{means}{note('Small: 95 % bootstrap interval over queries.')}"


def _mean(report: Report, system: str, metric: str) -> str:
    low, high = report.interval(system, metric)
    return f"{report.mean(system, metric):.4f}<small>{low:.3f} to {high:.3f}</small>"


def _comparisons(report: Report) -> Iterator[str]:
    """Yield a table and charts that compare the first system with each of the others by the first metric."""
    metric, (first, *others) = report.metrics[0], report.systems
    if not others:
        return
    head = (f"{escape(first)} against", f"difference in {escape(metric)}", "p", "better", "equal", "worse")
    compared = table(head, [_comparison(report, first, other) for other in others])
    meaning = (
        "p: fraction of random sign flips of the queries' differences whose mean is at least as far from 0 "
        "(paired randomisation test)."
    )
    yield f"<h2>Is the difference real?</h2>{compared}{note(meaning)}"
    for other in others:
        differences = report.per_query(first, metric) - report.per_query(other, metric)
        legend = f'Queries where {escape(first)} is <b class="better">better</b> or <b class="worse">worse</b>.'
        bars = _bars(differences[~np.isnan(differences)], metric)
        yield f"<h2>{escape(first)} against {escape(other)}, query by query</h2>{bars}{note(legend)}"


def _comparison(report: Report, first: str, other: str) -> tuple[str, ...]:
    found = report.compare(first, other, report.metrics[0])
    low, high = found.interval
    difference = f"{found.difference:+.4f}<small>{low:+.3f} to {high:+.3f}</small>"
    counts = map(str, (found.better, found.equal, found.worse))
    return escape(other), difference, shown_p_value(found.p_value), *counts


def _bars(differences: NDArray[np.float64], metric: str) -> str:
    """Return a chart with one bar per query, from the largest gain to the largest loss."""
    values = np.sort(differences)[::-1].tolist()
    chart = Chart(
        (0, len(values)),
        (min([0.0, *values]), max([0.0, *values])),
        "queries, best first",
        f"difference in {metric}",
    )
    return chart.drawn(chart.bar(place, value) for place, value in enumerate(values))


def _learning_curve(name: str, history: History) -> str:
    measured = {
        "training": [one.train for one in history if one.train is not None],
        "validation": [one.validation for one in history if one.validation is not None],
    }
    curves = {kind: curve for kind, curve in measured.items() if curve and np.isfinite(curve).all()}
    values = [value for curve in curves.values() for value in curve]
    if not values:  # not measured, or all queries were left out
        return ""
    chart = Chart((1, len(history)), (min(values), max(values)), "round", "metric")
    marks = [chart.upright("kept", history.best_round)]
    marks += [chart.line(kind, list(enumerate(curve, start=1))) for kind, curve in curves.items()]
    kinds = " and ".join(f'<b class="{kind}">{kind}</b>' for kind in curves)
    legend = f"The metric on {kinds} queries; round {history.best_round} of {len(history)} was kept (dashed)."
    return f"<h2>Learning curve of {escape(name)}</h2>{chart.drawn(marks)}{note(legend)}"


def _bound_curve(name: str, history: History) -> str:
    """Return a chart of the bound that a ranker's paper proves, and of the bounded quantity.

    That is the fraction of misordered pairs, bounded from above, or the metric, bounded from below.
    """
    bound, misordered = history.curve("bound"), history.curve("misordered")
    if not np.isfinite(bound).all():
        return ""
    above = bool(np.isfinite(misordered).all())
    kind, words = (
        ("misordered", "fraction of misordered pairs") if above else ("training", "metric on training queries")
    )
    bounded = misordered if above else np.array([one.train for one in history], dtype=np.float64)
    if not np.isfinite(bounded).all():  # not measured
        return ""
    shown = bound if above else np.maximum(bound, -1.0)  # -1 is the lowest value of a metric with such a bound
    values = [*shown, *bounded]
    chart = Chart((1, len(history)), (min(0.0, *values), max(values)), "round", words)
    lines = [
        chart.line(one, list(enumerate(curve, start=1))) for one, curve in ((kind, bounded), ("bound", shown))
    ]
    legend = f'The <b class="{kind}">{words}</b> and its {"upper" if above else "lower"} bound (dashed).'
    return f"<h2>Bound of {escape(name)}</h2>{chart.drawn(lines)}{note(legend)}"
