"""How the members of an AutoRanker stand: a live table on a terminal, otherwise a line for every new member."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rankwright.base.wording import counted
from rankwright.cli.output.console import live, note, notes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType
    from rich.table import Table

    from rankwright.auto.standings import FitProgress


SECONDS_BETWEEN_LINES = 30.0  # at most, as long as fits end


@contextmanager
def standings_shown(metric: str, model: str = "mixture") -> Iterator[Callable[[FitProgress], None]]:
    """Show standings on standard error; yields the function to call with the state of the run.

    `model` names what the members so far give: a mixture, or the best of them.
    """
    if not notes().is_terminal:
        yield NewMembers(metric, model)
        return
    standings = LiveStandings(metric, model)
    with live(standings.shown) as refresh:

        def update(progress: FitProgress) -> None:
            standings.take(progress)
            refresh()

        yield update


class NewMembers:
    """Prints a line for every member that joins, and one from time to time if none does."""

    def __init__(self, metric: str, model: str = "mixture") -> None:
        self._metric, self._model, self._known = metric, model, set[str]()
        self._last = 0.0  # seconds at the last line

    def __call__(self, progress: FitProgress) -> None:
        """Print the members that are new."""
        new = [one for one in progress.standings if one.name not in self._known]
        for one in new:
            self._known.add(one.name)
            values = f"{self._metric} {one.value:.4f}, {self._model} {progress.value:.4f}"
            note(f"{one.name}: {values}; {_fits_and_clock(progress)}")
        if not new and progress.seconds >= self._last + SECONDS_BETWEEN_LINES:
            note(_fits_and_clock(progress))
        elif not new:
            return
        self._last = progress.seconds


class LiveStandings:
    """The state of a run as a table; its clock goes on between the reports of the run."""

    def __init__(self, metric: str, model: str = "mixture") -> None:
        self._metric, self._model = metric, model
        self._progress: FitProgress | None = None
        self._taken = monotonic()

    def take(self, progress: FitProgress) -> None:
        """Show this state from now on."""
        self._progress, self._taken = progress, monotonic()

    def shown(self) -> RenderableType:
        """Return members, entries under way, the mixture and the clock."""
        from rich.console import Group
        from rich.text import Text

        since = monotonic() - self._taken
        if self._progress is None:
            return Text(f"first fits, {clock(since)}")
        return Group(self._table(self._progress), Text(self._state(self._progress, since)))

    def _table(self, progress: FitProgress) -> Table:
        from rich.table import Table

        table = Table("member", box=None, pad_edge=False)
        for name in (self._metric, "weight", "rounds", "seconds of fits"):
            table.add_column(name, justify="right")
        for one in progress.standings:
            rounds = f"{one.rounds:,}" if one.rounds else ""
            table.add_row(one.name, f"{one.value:.4f}", f"{one.weight:.3f}", rounds, f"{one.seconds:,.1f}")
        for name, ended in progress.ended.items():
            table.add_row(name, *[""] * 3, f"{counted(ended, 'fit')} ended")
        if progress.value is not None:
            table.add_row(self._model, f"{progress.value:.4f}", *[""] * 3, style="bold")
        return table

    def _state(self, progress: FitProgress, since: float) -> str:
        fits = _fits_and_clock(progress, since)
        if progress.fits == progress.total:  # Ctrl-C would now end the command without a model
            return f"{fits}; estimating and timing the {self._model}"
        return f"{fits}; Ctrl-C keeps the {self._model} so far" if progress.standings else fits


def _fits_and_clock(progress: FitProgress, since: float = 0.0) -> str:
    """Return fits, time and, with a limit, the time left, some seconds after a report."""
    fits = f"{progress.fits:,} of {counted(progress.total, 'fit')}, {clock(progress.seconds + since)}"
    left = progress.seconds_left
    if left is None or progress.fits == progress.total:
        return fits
    return f"{fits}, {clock(max(0.0, left - since))} left"


def clock(seconds: float) -> str:
    """Return a time as minutes and seconds, with hours if there are any."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
