"""How a search stands: a live table of its best settings on a terminal, otherwise a line for every trial."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rankwright.base.wording import counted
from rankwright.cli.options.tuning_options import setting_text
from rankwright.cli.output.console import live, note, notes
from rankwright.cli.output.member_table import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from rankwright.tuning.optuna_search import SearchProgress
    from rankwright.tuning.trials import Trial

SHOWN = 8  # settings of the live table


@contextmanager
def search_shown(metric: str) -> Iterator[Callable[[SearchProgress], None]]:
    """Show a search on standard error; yields the function to call with its state."""
    if not notes().is_terminal:
        yield NewTrials(metric)
        return
    search = LiveSearch(metric)
    with live(search.shown) as refresh:

        def update(progress: SearchProgress) -> None:
            search.take(progress)
            refresh()

        yield update


def best_trials(trials: Sequence[Trial]) -> list[Trial]:
    """Return the complete trials, the best first."""
    complete = [one for one in trials if one.state == "complete"]
    return sorted(complete, key=lambda one: (-one.value, one.number))


class NewTrials:
    """Prints a line for every trial that ends."""

    def __init__(self, metric: str) -> None:
        self._metric = metric
        self._known: set[int] | None = None

    def __call__(self, progress: SearchProgress) -> None:
        """Print the trials that are new; the first report has those of an earlier run."""
        if self._known is None:
            self._known = {one.number for one in progress.trials}
            if self._known:
                note(f"goes on with {counted(len(self._known), 'trial')} of an earlier run")
        for one in progress.trials:
            if one.number not in self._known:
                self._known.add(one.number)
                note(f"trial {one.number + 1:,} of {progress.total:,}: {self._line(one, progress)}")

    def _line(self, one: Trial, progress: SearchProgress) -> str:
        best = "".join(f"; best {first.value:.4f}" for first in best_trials(progress.trials)[:1])
        return f"{_result(self._metric, one)}, {setting_text(one.parameters)}{best}, {clock(progress.seconds)}"


class LiveSearch:
    """The state of a search as a table; its clock goes on between the reports."""

    def __init__(self, metric: str) -> None:
        self._metric = metric
        self._progress: SearchProgress | None = None
        self._taken = monotonic()

    def take(self, progress: SearchProgress) -> None:
        """Show this state from now on."""
        self._progress, self._taken = progress, monotonic()

    def shown(self) -> RenderableType:
        """Return the best settings, the counts and the clock."""
        from rich.console import Group
        from rich.text import Text

        since = monotonic() - self._taken
        if self._progress is None or not self._progress.trials:
            return Text(f"first trial, the ranker's own setting, {clock(since)}")
        return Group(self._table(self._progress), Text(_state(self._progress, since)))

    def _table(self, progress: SearchProgress) -> Table:
        from rich.table import Table

        table = Table("trial", box=None, pad_edge=False)
        for name in (self._metric, "rounds"):
            table.add_column(name, justify="right")
        table.add_column("setting")
        for one in best_trials(progress.trials)[:SHOWN]:
            setting = setting_text(one.parameters) if one.number else "the ranker's own"
            table.add_row(str(one.number + 1), f"{one.value:.4f}", f"{one.rounds:,}", setting)
        return table


def _state(progress: SearchProgress, since: float) -> str:
    pruned = sum(one.state == "pruned" for one in progress.trials)
    ended = f"{len(progress.trials):,} of {counted(progress.total, 'trial')}, {pruned:,} of them pruned"
    return f"{ended}, {clock(progress.seconds + since)}; Ctrl-C keeps the best setting so far"


def _result(metric: str, trial: Trial) -> str:
    if trial.state == "failed":
        return f"failed: {trial.reason.rstrip('.')}"
    value = f"{metric} {trial.value:.4f}"
    return value if trial.state == "complete" else f"{value} on the first folds, pruned"
