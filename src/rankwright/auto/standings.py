"""How members stand, during a run and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.auto.mixing import Mix


class MemberStanding(NamedTuple):
    """One row of `AutoRanker.standings_`.

    Parameters
    ----------
    name
        The member.
    value
        The metric of the member alone, out of fold.
    weight
        Its weight in the mixture; 0 if it is left out.
    rounds
        The number of rounds that it was cut to; 0 if it has none to choose.
    seconds
        The time of all its fits, each on one thread.
    microseconds
        The time to score one document on one thread; None as long as fits run.
    """

    name: str
    value: float
    weight: float
    rounds: int
    seconds: float
    microseconds: float | None = None


class FitProgress(NamedTuple):
    """The state of a run.

    Parameters
    ----------
    standings
        The members so far, by weight and then by value, highest first.
    value
        The metric of their mixture, out of fold; None before the first member.
    fits, total
        How many fits have ended, and how many there are.
    ended
        How many of its fits have ended, for every entry that has begun and is not a member yet.
    seconds, seconds_left
        The time so far; what is left of the time limit, None without a limit.
    """

    standings: Sequence[MemberStanding]
    value: float | None
    fits: int
    total: int
    ended: Mapping[str, int]
    seconds: float
    seconds_left: float | None


def standings_of(chosen: Mix, microseconds: Mapping[str, float] | None = None) -> tuple[MemberStanding, ...]:
    """Return the entries of a mixture, by weight and then by value, highest first."""
    rows = [
        MemberStanding(
            entry.name,
            entry.curve[index],
            float(weight),
            entry.rounds[index],
            entry.seconds,
            None if microseconds is None else microseconds[entry.name],
        )
        for entry, index, weight in zip(chosen.entries, chosen.round_indices, chosen.weights, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: (-row.weight, -row.value)))
