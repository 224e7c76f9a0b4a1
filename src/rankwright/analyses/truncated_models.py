"""Boosted models cut to their first rounds: which numbers of rounds to look at."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.evaluation.evaluate import named_systems
from rankwright.evaluation.rounds import checked_rounds, scorer_with_rounds
from rankwright.models.scorer import scorer_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.models.scorer import Scorer

MAX_CUTS = 20


def systems_with_rounds(systems: Any) -> dict[str, Scorer]:
    """Return the scorers of systems that can all be cut; refuse one that cannot."""
    return {name: scorer_with_rounds(name, system) for name, system in named_systems(systems).items()}


def rounds_of(scorer: Scorer, rounds: Sequence[int] | None) -> tuple[int, ...]:
    """Return the numbers of rounds to cut a scorer to: those asked for that it has, and all its rounds.

    None asks for about twenty numbers, evenly spaced.
    """
    if rounds is None:
        return tuple(np.unique(np.linspace(1, scorer.n_rounds, MAX_CUTS).round().astype(int)).tolist())
    return tuple(
        sorted({*(number for number in checked_rounds(rounds) if number < scorer.n_rounds), scorer.n_rounds})
    )


def rounds_with_trees(scorer: Scorer, trees: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of rounds that have at most so many trees: a round of class trees has one per class.

    A number below the trees of the first round is left out; all rounds are always among them.
    """
    wanted = checked_rounds(trees, what="trees")
    every = range(1, scorer.n_rounds + 1)
    numbers = {bisect_right(every, most, key=lambda rounds: scorer.first(rounds).n_trees) for most in wanted}
    return tuple(sorted({*numbers, scorer.n_rounds} - {0}))


def cuts_of(
    name: str, system: Any, rounds: Sequence[int] | None, trees: Sequence[int] | None = None
) -> dict[int, Any]:
    """Return a system by number of rounds: its cuts if it has rounds, otherwise the system itself by 0.

    `trees`, if given, are numbers of trees to cut it to, in place of `rounds`.
    """
    if not hasattr(system, "predict"):
        raise InputError(f"{name} is a list of scores, which cannot be timed; give a model.")
    scorer = scorer_of(system)
    if scorer is None or not scorer.n_rounds:
        return {0: system if scorer is None else scorer}
    numbers = rounds_of(scorer, rounds) if trees is None else rounds_with_trees(scorer, trees)
    return {number: scorer.first(number) for number in numbers}
