"""Learning curves of several fits, and the bounds that their papers prove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankwright.reports.blocks import Section
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.training.history import History

MOST_FITS = 6  # that are drawn


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurves(Result):
    """The histories of fits, by the name of the ranker or system."""

    histories: Mapping[str, History]

    @property
    def summary(self) -> str:
        """How many rounds each fit kept."""
        kept = [f"{name} keeps {history.best_round} of {len(history)}" for name, history in self.histories.items()]
        return f"Rounds: {', '.join(kept) or 'none'}."

    def blocks(self) -> list[Section]:
        """Return the metric by round of each fit, and its bound if its ranker has one."""
        fits = list(self.histories.items())[:MOST_FITS]
        return [Section("Learning curves", [figure for name, history in fits for figure in history.curves(name)])]
