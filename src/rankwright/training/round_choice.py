"""Which round of a fit to keep: the middle of the rounds that the validation queries cannot tell from the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.base.arrays import Doubles


class RoundChoice(NamedTuple):
    """The number of rounds to keep, and why."""

    best_round: int
    reason: str


def last_round(n_rounds: int, why: str) -> RoundChoice:
    """Keep all rounds."""
    return RoundChoice(n_rounds, f"the last round: {why}" if n_rounds else "there is no round")


def middle_round(means: Sequence[float], values: Sequence[Doubles], to_beat: float = -np.inf) -> RoundChoice:
    """Keep the median of the rounds within one standard error of the best; of two middle rounds, the better.

    The highest single value is selection bias for the most part: on a few dozen queries hundreds of rounds differ
    by less than the error. Their middle is as good as any of them, and far from both too few rounds and too many.

    Parameters
    ----------
    means
        The value of every round, the mean over queries; NaN if no query has a value.
    values
        The values of the queries after every round; NaN for a query that is left out.
    to_beat
        The value that rounds must exceed; if none does, no round is kept.
    """
    if np.isnan(means).any():
        return last_round(len(means), "no validation query has a value")
    best = int(np.argmax(means))
    if means[best] <= to_beat:
        return RoundChoice(0, "no round is better on validation than the start")
    rivals = [index for index, mean in enumerate(means) if mean > to_beat]
    good = [index for index in rivals if is_as_good_as(values[best], values[index])]
    lower, upper = good[(len(good) - 1) // 2], good[len(good) // 2]
    kept = lower if means[lower] >= means[upper] else upper
    if len(good) == 1:
        return RoundChoice(
            kept + 1, "the best on validation: all others are more than one standard error below it"
        )
    rounds = counted(len(good), "round")
    reason = (
        f"in the middle of {rounds} whose value on validation is at most one standard error below the best, that "
        f"of round {best + 1}"
    )
    return RoundChoice(kept + 1, reason)


def is_as_good_as(best: Doubles, other: Doubles) -> bool:
    """Return whether a round is worse than the best by at most one standard error of that difference.

    The error is that of the differences query by query, which is much smaller than that of either mean. A single
    query has no standard error; then only an equal value is as good.
    """
    # Sorted, so that the order of the queries changes no bit.
    differences = np.sort((best - other)[~np.isnan(best)])
    if len(differences) == 1:
        return bool(differences[0] <= 0.0)
    return bool(differences.mean() <= differences.std(ddof=1) / np.sqrt(len(differences)))
