"""interleaving: which of two rankers users prefer, with an interval, by impression, session or user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, parameter, require_type
from rankwright.base.wording import counted, interval, listed, metric_value, percent, plain, said_p_value
from rankwright.clicks.experiments.any_time import (
    FIRST_LOOK,
    Path,
    Verdict,
    always_valid,
    running_moments,
    unit_means,
)
from rankwright.clicks.experiments.credits import UNITS, TeamCredits
from rankwright.reports.blocks import Column, Facts, Figure, Interval, Kind, Note, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankwright.base.arrays import Doubles
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

IMPRESSION = "impression"
MAX_POINTS = 500  # of a chart


@dataclass(frozen=True, repr=False, eq=False)
class InterleavingResult(Result):
    """Which of two interleaved rankers users prefer.

    The preference is the fraction of impressions that the second ranker won minus the fraction that the first one
    won; ties count. By session or by user, each counts once, with the mean of its impressions.

    Parameters
    ----------
    names
        The first and the second ranker.
    wins
        Impressions that the first and the second won, and ties.
    verdicts
        The preference by `impression` and, if these are known, by `session` and `user`.
    level, planned
        The level of intervals, and the number of units for which they are narrowest at any time.
    scores
        The score of each unit of the last of these, in the order of time.
    notes
        What was left out.

    Examples
    --------
    >>> credits = rw.clicks.TeamCredits([0, 1, 0] * 100, [1, 0, 1] * 100, names=("old", "new"))
    >>> result = rw.clicks.interleaving(credits)
    >>> isinstance(result, rw.clicks.InterleavingResult), round(result.verdict.difference, 2)
    (True, 0.33)
    """

    names: tuple[str, str]
    wins: tuple[int, int, int]
    verdicts: Mapping[str, Verdict]
    level: float
    planned: int
    scores: Doubles
    notes: tuple[str, ...]

    @property
    def unit(self) -> str:
        """The largest unit: users if they are known, otherwise sessions, otherwise impressions."""
        return list(self.verdicts)[-1]

    @property
    def verdict(self) -> Verdict:
        """The verdict by the largest unit, which alone is right if impressions of it are alike."""
        return self.verdicts[self.unit]

    @property
    def summary(self) -> str:
        size = metric_value(abs(self.verdict.difference))
        return verdict_sentence(self.verdict, self.names, self.unit, "Users prefer {} to {}", size)

    def blocks(self) -> Iterator[Block]:
        first, second, ties = self.wins
        yield Facts({f"won by {self.names[0]}": first, f"won by {self.names[1]}": second, "ties": ties})
        yield verdict_table(self.verdicts, "preference", self.level)
        yield Figure(self.chart, "Preference over time, with the interval that holds at any time.")
        yield Note(f"Positive: {self.names[1]} is preferred. {STOPPING}")
        for note in self.notes:
            yield Note(note)

    def chart(self) -> Chart:
        """Return the preference over time with the interval that holds at any time."""
        path = mean_path(self.scores)
        _, reaches = always_valid(path, 1.0 - self.level, self.planned)
        return path_chart(path, reaches, self.unit, "preference")

    def to_dict(self) -> dict[str, Any]:
        return {
            "first": self.names[0],
            "second": self.names[1],
            "wins_first": self.wins[0],
            "wins_second": self.wins[1],
            "ties": self.wins[2],
            "unit": self.unit,
            "verdicts": plain(dict(self.verdicts)),
            "notes": list(self.notes),
        }


STOPPING = (
    "The p-value and the interval for one look hold if the number was fixed before; those at any time hold "
    "whenever one looks, so that an experiment may stop as soon as they decide."
)


def interleaving(
    credited: TeamCredits, *, by: str | None = None, level: float = 0.95, planned: int = 10_000
) -> InterleavingResult:
    """Tell which of two interleaved rankers users prefer.

    Parameters
    ----------
    credited
        The clicks that each got, impression by impression.
    by
        The largest unit to test by: `impression`, `session` or `user`; by default the largest that there is.
    level
        Level of the intervals.
    planned
        The number of units at which the interval that holds at any time is narrowest: about as many as are
        expected. Choose it before the experiment.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> signs = random.choice([-1, 0, 1], 5000, p=[0.2, 0.5, 0.3])  # one impression of each of 5,000 users
    >>> credits = rw.clicks.TeamCredits(signs < 0, signs > 0, user=range(5000), names=("old", "new"))
    >>> result = rw.clicks.interleaving(credits, planned=5000)
    >>> print(result.summary)
    Users prefer new to old by 0.0920 (0.0616 to 0.1224 at any time, p < 0.001) over 5,000 users.
    >>> result.verdict.decided_at
    308
    """
    require_type(credited, TeamCredits, "interleaving takes TeamCredits")
    if by not in (None, IMPRESSION, *UNITS):
        raise InputError(f"{parameter('by')} must be {listed((IMPRESSION, *UNITS))}, not {by!r}.")
    ids = {IMPRESSION: None, "session": credited.session, "user": credited.user}
    if by in UNITS and ids[by] is None:
        raise InputError(f"The credits have no {by}.")
    wanted = list(ids)[: list(ids).index(by) + 1] if by else list(ids)
    verdicts, scores = {}, credited.signs
    for unit in wanted:
        of_unit = ids[unit]
        if unit == IMPRESSION or of_unit is not None:
            scores = unit_means(credited.signs, None if of_unit is None else list(of_unit))
            if len(scores) < 2:
                raise InputError(f"There is {counted(len(scores), unit)}; a test needs at least two.")
            verdicts[unit] = Verdict.of(mean_path(scores), len(scores) - 1.0, level, planned)
    signs = credited.signs
    wins = int((signs < 0).sum()), int((signs > 0).sum()), int((signs == 0).sum())
    return InterleavingResult(credited.names, wins, verdicts, level, planned, scores, credited.notes)


def mean_path(scores: Doubles) -> Path:
    """Return the mean after each unit."""
    return Path(*(each[1:] for each in running_moments(scores)))


def verdict_sentence(verdict: Verdict, names: tuple[str, str], unit: str, decided: str, size: str) -> str:
    """Return a verdict in words; `decided` says which ranker is ahead of which."""
    ahead, behind = reversed(names) if verdict.difference >= 0 else names
    units, p_value = f"over {counted(verdict.n_units, unit)}", f"{said_p_value(verdict.always_p_value)}"
    if not verdict.is_decided:
        chance = f"which may be chance ({p_value} at any time)"
        if verdict.n_units < FIRST_LOOK:
            chance = f"too few for a verdict at any time, which needs {FIRST_LOOK}"
        return f"Not decided: {ahead} is ahead of {behind} by {size} {units}, {chance}."
    low, high = verdict.always_low, verdict.always_high
    if verdict.difference < 0:
        low, high = -high, -low
    if low <= 0:  # an earlier look decided, but later units disagree with it
        lead = f"{ahead} is ahead of {behind} by {size} ({interval(low, high)} at any time) {units}"
        return f"Decided after {counted(verdict.decided_at or 0, unit)}, but no longer clear: {lead}."
    chance = f"{interval(low, high)} at any time, {p_value}"
    return f"{decided.format(ahead, behind)} by {size} ({chance}) {units}."


def verdict_table(verdicts: Mapping[str, Verdict], title: str, level: float) -> Table:
    """Return one row per unit: the difference with its intervals and p-values, for one look and at any time."""
    columns = [
        Column("by", Kind.TEXT),
        Column("units", Kind.COUNT),
        Column(f"{title}, one look", Kind.DIFFERENCE),
        Column("p", Kind.P_VALUE),
        Column("at any time", Kind.DIFFERENCE),
        Column("p at any time", Kind.P_VALUE),
        Column("decided after", Kind.COUNT),
    ]
    rows = [
        (
            unit,
            each.n_units,
            Interval(each.difference, each.low, each.high),
            each.p_value,
            Interval(each.difference, each.always_low, each.always_high),
            each.always_p_value,
            each.decided_at,
        )
        for unit, each in verdicts.items()
    ]
    return Table(columns, rows, f"{title.capitalize()}, with {percent(level)} intervals")


def path_chart(path: Path, reaches: Doubles, unit: str, label: str) -> Chart:
    """Return an estimate over time with its interval."""
    from rankwright.reports.charts.lines import line_chart

    known = np.flatnonzero(np.isfinite(reaches))
    kept = known[np.unique(np.linspace(0, len(known) - 1, min(MAX_POINTS, len(known))).astype(np.int64))]
    columns = (
        each[kept].tolist() for each in (path.units, path.value, path.value - reaches, path.value + reaches)
    )
    points = list(zip(*columns, strict=True))
    lines = {"": [(x, value) for x, value, _, _ in points]}
    bands = {"": [(x, low, high) for x, _, low, high in points]}
    description = f"{label.capitalize()} after each {unit}, with the interval that holds at any time."
    return line_chart(lines, f"{unit}s", label, description=description, bands=bands)
