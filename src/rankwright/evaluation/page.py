"""Writes a report as one self-contained HTML page, without scripts or other files."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from rankwright.evaluation.html import note, shown_p_value, table, write_html

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

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
        bars = report.difference_chart(first, other).svg()
        yield f"<h2>{escape(first)} against {escape(other)}, query by query</h2>{bars}"


def _comparison(report: Report, first: str, other: str) -> tuple[str, ...]:
    found = report.compare(first, other, report.metrics[0])
    low, high = found.interval
    difference = f"{found.difference:+.4f}<small>{low:+.3f} to {high:+.3f}</small>"
    counts = map(str, (found.better, found.equal, found.worse))
    return escape(other), difference, shown_p_value(found.p_value), *counts


def _learning_curve(name: str, history: History) -> str:
    if not np.isfinite([*history.validation, *(one.train or np.nan for one in history)]).any():
        return ""
    return f"<h2>Learning curve of {escape(name)}</h2>{history.chart().svg()}"


def _bound_curve(name: str, history: History) -> str:
    return f"<h2>Bound of {escape(name)}</h2>{history.bound_chart().svg()}" if history.has_bound else ""
