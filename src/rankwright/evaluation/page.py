"""A report as one page that opens anywhere: no scripts, no files beside it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from rankwright.data.files import write_whole

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.boosting import History
    from rankwright.evaluation.report import Report

WIDTH, HEIGHT, MARGIN = 720, 240, 40

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 760px; margin: 2rem auto; color: #1d2530; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; } th, td { padding: .3rem .9rem .3rem 0; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; } tr + tr { border-top: 1px solid #e3e7ec; }
small, .note { color: #5c6773; } svg { width: 100%; height: auto; } svg text { font-size: 12px; fill: #5c6773; }
.better { fill: #2a7f62; } .worse { fill: #b5483a; } .train { stroke: #8a94a0; } .valid { stroke: #2458a6; }
polyline { fill: none; stroke-width: 2; }
"""


def write_page(
    report: Report, path: str | os.PathLike[str], *, histories: Mapping[str, History] | None = None
) -> None:
    """Write a report as an HTML page: means with intervals, every system against the last, learning curves."""
    sections = [_means(report), *_comparisons(report)]
    sections += [_learning_curve(name, history) for name, history in (histories or {}).items()]
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>rankwright report</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style><h1>rankwright report</h1>{''.join(sections)}</html>"
    )
    with write_whole(path) as file:
        file.write(page.encode())


def _means(report: Report) -> str:
    rows = []
    for system in report.systems:
        cells = [
            f"{report.mean(system, metric):.4f} <small>{low:.3f} to {high:.3f}</small>"
            for metric in report.metrics
            for low, high in [report.interval(system, metric)]
        ]
        rows.append((escape(system), *cells))
    note = f'<p class="note">{escape(report.footnote())}. Small: 95 % bootstrap interval over queries.</p>'
    return "<h2>Means over queries</h2>" + _table(("", *map(escape, report.metrics)), rows) + note


def _comparisons(report: Report) -> Iterable[str]:
    """Yield a table and a picture of the first system against each of the others, by the first metric."""
    metric, (first, *others) = report.metrics[0], report.systems
    if not others:
        return
    rows = []
    for other in others:
        found = report.compare(first, other, metric)
        low, high = found.interval
        difference = f"{found.difference:+.4f} <small>{low:+.3f} to {high:+.3f}</small>"
        counts = f"{found.better} / {found.equal} / {found.worse}"
        rows.append((f"{escape(first)} - {escape(other)}", difference, f"{found.p_value:.4f}", counts))
    head = ("", f"difference in {escape(metric)}", "p", "better / equal / worse")
    yield "<h2>Is the difference real?</h2>" + _table(head, rows)
    yield (
        '<p class="note">p: how often random sign flips of the queries\' differences do as much '
        "(paired randomisation test).</p>"
    )
    for other in others:
        differences = report.per_query(first, metric) - report.per_query(other, metric)
        yield f"<h2>{escape(first)} against {escape(other)}, query by query</h2>" + _bars(differences)


def _learning_curve(name: str, history: History) -> str:
    curves = {"train": [one.train for one in history]}
    if history[0].validation is not None:
        curves["valid"] = [one.validation or 0.0 for one in history]
    best = f"round {history.best_round} of {len(history)} kept"
    legend = "grey: training, blue: validation" if "valid" in curves else "grey: training"
    return f"<h2>Learning curve of {escape(name)}</h2>{_lines(curves)}<p class='note'>{best}; {legend}.</p>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    header = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join(
        f"<tr><td>{first}</td>{''.join(f'<td class=number>{cell}</td>' for cell in cells)}</tr>"
        for first, *cells in rows
    )
    return f"<table><tr>{header}</tr>{body}</table>"


def _bars(differences: NDArray[np.float64]) -> str:
    """Return a bar for each query, from the greatest gain to the greatest loss."""
    values = np.sort(differences[~np.isnan(differences)])[::-1]
    largest = float(np.abs(values).max(initial=1e-9))
    step = WIDTH / max(1, len(values))
    bars = []
    for place, value in enumerate(values):
        length = abs(value) / largest * HEIGHT / 2
        top = HEIGHT / 2 - length if value > 0 else HEIGHT / 2
        kind = "better" if value > 0 else "worse"
        bars.append(
            f'<rect class="{kind}" x="{place * step:.2f}" y="{top:.2f}" width="{step:.2f}" height="{length:.2f}"/>'
        )
    label = f'<text x="4" y="14">{largest:+.2f}</text><text x="4" y="{HEIGHT - 4}">{-largest:+.2f}</text>'
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{"".join(bars)}{label}</svg>'


def _lines(curves: Mapping[str, Sequence[float]]) -> str:
    low = min(min(values) for values in curves.values())
    high = max(max(values) for values in curves.values())
    span = (high - low) or 1.0
    drawn = []
    for kind, values in curves.items():
        step = (WIDTH - 2 * MARGIN) / max(1, len(values) - 1)
        points = " ".join(
            f"{MARGIN + place * step:.1f},{HEIGHT - MARGIN - (value - low) / span * (HEIGHT - 2 * MARGIN):.1f}"
            for place, value in enumerate(values)
        )
        drawn.append(f'<polyline class="{kind}" points="{points}"/>')
    labels = f'<text x="0" y="{MARGIN}">{high:.3f}</text><text x="0" y="{HEIGHT - MARGIN}">{low:.3f}</text>'
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{"".join(drawn)}{labels}</svg>'
