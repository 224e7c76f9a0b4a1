"""The state of a long run on standard error: the members of `auto`, and the trials of `tune`.

On a terminal it is a table that is drawn anew; otherwise a line is printed for what is new.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from rankwright.base.wording import counted, metric_value, percent, seconds
from rankwright.cli.output.console import live, note, notes
from rankwright.rankers.parameters.spelling import setting_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from rankwright.auto.mixing import FitProgress
    from rankwright.tuning.optuna_search import SearchProgress
    from rankwright.tuning.trials import Trial

SECONDS_BETWEEN_LINES = 30.0  # at most, as long as fits end
SHOWN = 8  # settings of the table of a search


@contextmanager
def shown(table: LiveTable, lines: Callable[[Any], None]) -> Iterator[Callable[[Any], None]]:
    """Show a run by the table on a terminal, otherwise by lines; yields the function to call with its state."""
    if not notes().is_terminal:
        yield lines
        return
    with live(table.shown) as refresh:

        def update(progress: Any) -> None:
            table.take(progress)
            refresh()

        yield update


class LiveTable(ABC):
    """The state of a run as a table; its clock goes on between the reports of the run."""

    def __init__(self) -> None:
        self._progress: Any = None
        self._taken = monotonic()

    def take(self, progress: Any) -> None:
        """Show this state from now on."""
        self._progress, self._taken = progress, monotonic()

    def shown(self) -> RenderableType:
        """Return the table, with the counts and the clock below it."""
        from rich.console import Group
        from rich.text import Text

        since = monotonic() - self._taken
        if self._progress is None or self.is_empty(self._progress):
            return Text(f"{self.before}, {clock(since)}")
        return Group(self.table(self._progress), Text(self.state(self._progress, since)))

    before: str
    """The text before the first result."""

    def is_empty(self, _progress: Any) -> bool:
        """Return whether a state has no result yet."""
        return False

    @abstractmethod
    def table(self, progress: Any) -> Table:
        """Return the table of a state."""

    @abstractmethod
    def state(self, progress: Any, since: float) -> str:
        """Return the line below the table, some seconds after the state was reported."""


class LiveStandings(LiveTable):
    """The members of an AutoRanker; `model` names what they give so far: a mixture, or the best of them."""

    before = "first fits"

    def __init__(self, metric: str, model: str = "mixture") -> None:
        super().__init__()
        self._metric, self._model = metric, model

    def table(self, progress: FitProgress) -> Table:
        """Return members, entries under way and the mixture."""
        table = _table("member", (self._metric, "weight", "rounds", "time of fits"))
        for member in progress.standings:
            rounds = f"{member.rounds:,}" if member.rounds else ""
            value, weight = metric_value(member.value), percent(round(member.weight, 3))
            table.add_row(member.name, value, weight, rounds, seconds(member.seconds))
        for name, ended in progress.ended.items():
            table.add_row(name, *[""] * 3, f"{counted(ended, 'fit')} ended")
        if progress.value is not None:
            table.add_row(self._model, metric_value(progress.value), *[""] * 3, style="bold")
        return table

    def state(self, progress: FitProgress, since: float) -> str:
        """Return fits and clock, and what Ctrl-C would do."""
        fits = _fits_and_clock(progress, since)
        if progress.fits == progress.total:  # Ctrl-C would now end the command without a model
            return f"{fits}; estimating and timing the {self._model}"
        return f"{fits}; Ctrl-C keeps the {self._model} so far" if progress.standings else fits


class NewMembers:
    """Prints a line for every member that joins, and one from time to time if none does."""

    def __init__(self, metric: str, model: str = "mixture") -> None:
        self._metric, self._model, self._known = metric, model, set[str]()
        self._last = 0.0  # seconds at the last line

    def __call__(self, progress: FitProgress) -> None:
        """Print the members that are new."""
        new = [member for member in progress.standings if member.name not in self._known]
        for member in new:
            self._known.add(member.name)
            value, mixed = metric_value(member.value), metric_value(progress.value)
            note(f"{member.name}: {self._metric} {value}, {self._model} {mixed}; {_fits_and_clock(progress)}")
        if not new and progress.seconds >= self._last + SECONDS_BETWEEN_LINES:
            note(_fits_and_clock(progress))
        elif not new:
            return
        self._last = progress.seconds


class LiveSearch(LiveTable):
    """The best settings of a search by `tune`."""

    before = "first trial, the ranker's own setting"

    def __init__(self, metric: str) -> None:
        super().__init__()
        self._metric = metric

    def is_empty(self, progress: SearchProgress) -> bool:
        """Return whether no trial has ended."""
        return not progress.trials

    def table(self, progress: SearchProgress) -> Table:
        """Return the best settings."""
        table = _table("trial", (self._metric, "rounds"))
        table.add_column("setting")
        for trial in best_trials(progress.trials)[:SHOWN]:
            setting = setting_text(trial.parameters) if trial.number else "the ranker's own"
            table.add_row(str(trial.number + 1), metric_value(trial.value), f"{trial.rounds:,}", setting)
        return table

    def state(self, progress: SearchProgress, since: float) -> str:
        """Return counts and clock."""
        pruned = sum(trial.state == "pruned" for trial in progress.trials)
        ended = f"{len(progress.trials):,} of {counted(progress.total, 'trial')}, {pruned:,} of them pruned"
        return f"{ended}, {clock(progress.seconds + since)}; Ctrl-C keeps the best setting so far"


class NewTrials:
    """Prints a line for every trial of a search that ends."""

    def __init__(self, metric: str) -> None:
        self._metric = metric
        self._known: set[int] | None = None

    def __call__(self, progress: SearchProgress) -> None:
        """Print the trials that are new; the first report has those of an earlier run."""
        if self._known is None:
            self._known = {trial.number for trial in progress.trials}
            if self._known:
                note(f"resumes after {counted(len(self._known), 'trial')} of an earlier run")
        for trial in progress.trials:
            if trial.number not in self._known:
                self._known.add(trial.number)
                note(f"trial {trial.number + 1:,} of {progress.total:,}: {self._line(trial, progress)}")

    def _line(self, trial: Trial, progress: SearchProgress) -> str:
        best = "".join(f"; best {metric_value(first.value)}" for first in best_trials(progress.trials)[:1])
        return f"{self._result(trial)}, {setting_text(trial.parameters)}{best}, {clock(progress.seconds)}"

    def _result(self, trial: Trial) -> str:
        if trial.state == "failed":
            return f"failed: {trial.reason.rstrip('.')}"
        value = f"{self._metric} {metric_value(trial.value)}"
        return value if trial.state == "complete" else f"{value} on the first folds, pruned"


def best_trials(trials: Sequence[Trial]) -> list[Trial]:
    """Return the complete trials, the best first."""
    complete = [trial for trial in trials if trial.state == "complete"]
    return sorted(complete, key=lambda trial: (-trial.value, trial.number))


def clock(seconds: float) -> str:
    """Return a time as minutes and seconds, with hours if there are any."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _fits_and_clock(progress: FitProgress, since: float = 0.0) -> str:
    """Return fits, time and, with a limit, the time left, some seconds after a report."""
    fits = f"{progress.fits:,} of {counted(progress.total, 'fit')}, {clock(progress.seconds + since)}"
    left = progress.seconds_left
    if left is None or progress.fits == progress.total:
        return fits
    return f"{fits}, {clock(max(0.0, left - since))} left"


def _table(first: str, others: Sequence[str]) -> Table:
    from rich.table import Table

    table = Table(first, box=None, pad_edge=False)
    for name in others:
        table.add_column(name, justify="right")
    return table
