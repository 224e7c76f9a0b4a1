"""Writes a report as one self-contained HTML page, without scripts or other files."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from rankwright.chart import Chart
from rankwright.data.files import write_whole

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.evaluation.report import Report
    from rankwright.training import History

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 760px; margin: 2rem auto; padding: 0 1rem;
  color: #1d2530; background: #fff; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; } tr { border-bottom: 1px solid #e3e7ec; }
th, td { padding: .4rem 0 .4rem 1rem; text-align: right; font-variant-numeric: tabular-nums; vertical-align: top; }
th:first-child, td:first-child { padding-left: 0; text-align: left; overflow-wrap: anywhere; }
th { font-weight: 600; border-bottom: 2px solid #c8d0d9; } td small { display: block; }
small, .note { color: #5c6773; } .note { font-size: .9rem; }
svg { width: 100%; height: auto; } svg text { font-size: 12px; fill: #5c6773; }
.grid { stroke: #e3e7ec; } .zero { stroke: #5c6773; } .kept { stroke: #1d2530; stroke-dasharray: 4 3; }
.better { fill: #2a7f62; } .worse { fill: #b5483a; }
polyline { fill: none; stroke-width: 2; } .training { stroke: #d08a2e; } .validation { stroke: #2458a6; }
.misordered { stroke: #b5483a; } .bound { stroke: #5c6773; stroke-dasharray: 6 4; }
b.training { color: #a8660f; } b.validation { color: #2458a6; } b.misordered { color: #b5483a; }
b.better { color: #2a7f62; } b.worse { color: #b5483a; }
"""


def write_page(
    report: Report, path: str | os.PathLike[str], *, histories: Mapping[str, History] | None = None
) -> None:
    """Write a report as an HTML page: means with intervals, comparisons with the first system, learning curves."""
    curves = [
        _learning_curve(name, history) + _bound_curve(name, history)
        for name, history in (histories or {}).items()
        if len(history)
    ]
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>rankwright report</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body><h1>rankwright report</h1>"
        f"{_note(escape(report.footnote()) + '.')}"
        f"{_means(report)}{''.join(_comparisons(report))}{''.join(curves)}</body></html>\n"
    )
    with write_whole(path) as file:
        file.write(page.encode())


def _means(report: Report) -> str:
    rows = [(escape(system), *(_mean(report, system, one) for one in report.metrics)) for system in report.systems]
    table = _table(("system", *map(escape, report.metrics)), rows)
    return f"<h2>Means over queries</h2>{table}{_note('Small: 95 % bootstrap interval over queries.')}"


def _mean(report: Report, system: str, metric: str) -> str:
    low, high = report.interval(system, metric)
    return f"{report.mean(system, metric):.4f}<small>{low:.3f} to {high:.3f}</small>"


def _comparisons(report: Report) -> Iterator[str]:
    """Yield a table and charts that compare the first system with each of the others by the first metric."""
    metric, (first, *others) = report.metrics[0], report.systems
    if not others:
        return
    head = (f"{escape(first)} against", f"difference in {escape(metric)}", "p", "better", "equal", "worse")
    table = _table(head, [_comparison(report, first, other) for other in others])
    meaning = (
        "p: fraction of random sign flips of the queries' differences whose mean is at least as far from 0 "
        "(paired randomisation test)."
    )
    yield f"<h2>Is the difference real?</h2>{table}{_note(meaning)}"
    for other in others:
        differences = report.per_query(first, metric) - report.per_query(other, metric)
        legend = f'Queries where {escape(first)} is <b class="better">better</b> or <b class="worse">worse</b>.'
        bars = _bars(differences[~np.isnan(differences)], metric)
        yield f"<h2>{escape(first)} against {escape(other)}, query by query</h2>{bars}{_note(legend)}"


def _comparison(report: Report, first: str, other: str) -> tuple[str, ...]:
    found = report.compare(first, other, report.metrics[0])
    low, high = found.interval
    difference = f"{found.difference:+.4f}<small>{low:+.3f} to {high:+.3f}</small>"
    p_value = "&lt; 0.001" if found.p_value < 0.001 else f"{found.p_value:.3f}"
    return escape(other), difference, p_value, *map(str, (found.better, found.equal, found.worse))


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
    return f"<h2>Learning curve of {escape(name)}</h2>{chart.drawn(marks)}{_note(legend)}"


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
    return f"<h2>Bound of {escape(name)}</h2>{chart.drawn(lines)}{_note(legend)}"


def _note(html: str) -> str:
    return f'<p class="note">{html}</p>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    header = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>"
