"""How the members of an AutoRanker stand: a live table on a terminal, otherwise a line for every new member."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rankwright.cli.output import live, note, notes
from rankwright.data.counted import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType
    from rich.table import Table

    from rankwright.auto.standings import Progress


@contextmanager
def standings_shown(metric: str) -> Iterator[Callable[[Progress], None]]:
    """Show standings on standard error; yields the function to call with the state of the run."""
    if not notes().is_terminal:
        yield NewMembers(metric)
        return
    standings = LiveStandings(metric)
    with live(standings.shown) as refresh:

        def update(progress: Progress) -> None:
            standings.take(progress)
            refresh()

        yield update


class NewMembers:
    """Prints a line for every member that joins."""

    def __init__(self, metric: str) -> None:
        self._metric, self._known = metric, set[str]()

    def __call__(self, progress: Progress) -> None:
        """Print the members that are new."""
        for one in progress.standings:
            if one.name not in self._known:
                self._known.add(one.name)
                note(
                    f"{one.name}: {self._metric} {one.value:.4f}, mixture {progress.value:.4f}; "
                    f"{progress.fits:,} of {counted(progress.total, 'fit')}, {clock(progress.seconds)}"
                )


class LiveStandings:
    """The state of a run as a table; its clock goes on between the reports of the run."""

    def __init__(self, metric: str) -> None:
        self._metric = metric
        self._progress: Progress | None = None
        self._taken = monotonic()

    def take(self, progress: Progress) -> None:
        """Show this state from now on."""
        self._progress, self._taken = progress, monotonic()

    def shown(self) -> RenderableType:
        """Return members, entries under way, the mixture and the clock."""
        from rich.console import Group
        from rich.text import Text

        since = monotonic() - self._taken
        if self._progress is None:
            return Text(f"first fits, {clock(since)}")
        return Group(self._table(self._progress), Text(_state(self._progress, since)))

    def _table(self, progress: Progress) -> Table:
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
            table.add_row("mixture", f"{progress.value:.4f}", *[""] * 3, style="bold")
        return table


def _state(progress: Progress, since: float) -> str:
    fits = f"{progress.fits:,} of {counted(progress.total, 'fit')}"
    if progress.fits == progress.total:  # Ctrl-C would now end the command without a model
        return f"{fits}, {clock(progress.seconds + since)}; estimating and timing the mixture"
    left = progress.seconds_left
    remaining = "" if left is None else f", {clock(max(0.0, left - since))} left"
    keeps = "; Ctrl-C keeps the mixture so far" if progress.standings else ""
    return f"{fits}, {clock(progress.seconds + since)}{remaining}{keeps}"


def clock(seconds: float) -> str:
    """Return a time as minutes and seconds, with hours if there are any."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
