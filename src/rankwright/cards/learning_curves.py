"""Learning curves of several fits, and the bounds that their papers prove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.wording import counted
from rankwright.reports.blocks import Figure, Note, Section
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankwright.training.history import History

MOST_CHARTS = 6


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurves(Result):
    """The histories of fits, by the name of the ranker or system."""

    histories: Mapping[str, History]

    @property
    def summary(self) -> str:
        """How many rounds each fit kept."""
        kept = [f"{name} keeps {history.best_round} of {len(history)}" for name, history in self.histories.items()]
        return f"Rounds: {', '.join(kept) or 'none'}."

    def blocks(self) -> Iterator[Section]:
        """Yield the metric by round of each fit, and its bound if its ranker has one."""
        drawn = [(name, history) for name, history in self.histories.items() if len(history)][:MOST_CHARTS]
        yield Section("Learning curves", [_curve(*fit) for fit in drawn if _was_measured(fit[1])])
        yield Section("Bounds", [_bound(*fit) for fit in drawn if fit[1].has_bound])


def _bound(name: str, history: History) -> Figure | Note:
    useful, rounds = history.useful_bounds, counted(len(history), "round")
    if useful < 2:
        return Note(
            f"{name}: the bound of its theorem is non-trivial in {useful} of {rounds}, so it is not drawn."
        )
    where = "" if useful == len(history) else f"; it is non-trivial in {useful:,} of {rounds}"
    return Figure(history.bound_chart, f"{name}, with its bound (dashed){where}.")


def _was_measured(history: History) -> bool:
    values = [value for each in history for value in (each.train, each.validation)]
    return any(value is not None and np.isfinite(value) for value in values)


def _curve(name: str, history: History) -> Figure:
    kept = f"round {history.best_round} of {len(history)} was kept"
    return Figure(history.chart, f"{name}: {history.metric} by round; {kept}.")
