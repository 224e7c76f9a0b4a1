"""The sections of a report's page: the comparison of its systems, or their means, and learning curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.evaluation.compare import compare_report
from rankwright.reports.pages.blocks import Figure, Note, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankwright.evaluation.report import Report
    from rankwright.evaluation.system_comparison import SystemComparison
    from rankwright.reports import blocks
    from rankwright.training.history import History

MOST_CHARTS = 6  # of learning curves


def report_sections(
    found: SystemComparison | Report, histories: Mapping[str, History] | None = None
) -> list[blocks.Section]:
    """Return means with intervals, comparisons of systems, and learning curves with their bounds."""
    return [section for section in (*found.sections, *learning_sections(histories or {})) if section.blocks]


def compared(report: Report) -> SystemComparison | Report:
    """Return the comparison of the systems, or the report itself if they cannot be compared."""
    try:
        return compare_report(report)
    except InputError:  # one system, or no query with a finite value of all of them
        return report


def learning_sections(histories: Mapping[str, History]) -> Iterator[Section]:
    """Yield the learning curves of several fits, and the bounds that their papers prove."""
    drawn = [(name, history) for name, history in histories.items() if len(history)][:MOST_CHARTS]
    yield Section("Learning curves", [_learning_curve(*one) for one in drawn if _was_measured(one[1])])
    yield Section("Bounds", [_bound(*one) for one in drawn if one[1].has_bound])


def _bound(name: str, history: History) -> Figure | Note:
    useful, rounds = history.useful_bounds, counted(len(history), "round")
    if useful < 2:
        return Note(f"{name}: the bound of its theorem says anything in {useful} of {rounds}, so it is not drawn.")
    some = "" if useful == len(history) else f"; it says anything in {useful:,} of {rounds}"
    return Figure(history.bound_chart(), f"{name}, with its bound (dashed){some}.")


def _was_measured(history: History) -> bool:
    return any(one is not None and np.isfinite(one) for this in history for one in (this.train, this.validation))


def _learning_curve(name: str, history: History) -> Figure:
    kept = f"round {history.best_round} of {len(history)} was kept"
    return Figure(history.chart(), f"{name}: {history.metric} by round; {kept}.")
