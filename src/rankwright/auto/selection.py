"""Greedy selection of members (Caruana et al., ICML 2004), and which of two mixtures is delivered."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rankwright.auto.estimate import crossed
from rankwright.auto.mixing import Mix
from rankwright.ensembling.mixtures import prune_weights, weighted_sum
from rankwright.metrics.base import mean_over_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rankwright.auto.estimate import Choose
    from rankwright.auto.mixing import JudgedEntry
    from rankwright.auto.plan import HeldOut
    from rankwright.base.arrays import Doubles
    from rankwright.metrics.base import Metric

    Counts = tuple[int, ...]

BAGS, MOST_MEMBERS = 10, 12


def select(entries: Sequence[JudgedEntry], metric: Metric, n_threads: int, judgements: NDArray[np.bool_]) -> Mix:
    """Choose rounds by these judgements, and weights by greedy selection with replacement, the mean of ten bags.

    Each bag draws queries with replacement. It begins with the member that is best on them and adds, again and
    again, the member that raises the metric of the sum most. The weights are how often members were added.
    """
    choices = [entry.choice(judgements) for entry in entries]
    columns = [entry.scores[choice.round_index] for entry, choice in zip(entries, choices, strict=True)]
    held_out = entries[0].held_out
    known: dict[Counts, Doubles] = {}

    def values(counts: Counts) -> Doubles:
        if counts not in known:
            of_judgements = held_out.values(metric, weighted_sum(columns, counts), n_threads)
            known[counts] = held_out.by_query(of_judgements, judgements)
        return known[counts]

    counted = np.flatnonzero(~np.isnan(choices[0].values))
    random = np.random.default_rng(0)
    bags = [random.choice(counted, len(counted)) for _ in range(BAGS if len(counted) else 0)]
    totals = [_selected(len(entries), partial(_mean_of, values, bag)) for bag in bags]
    weights = np.mean([np.array(counts) / sum(counts) for counts in totals] or np.eye(len(entries)), axis=0)
    return Mix(tuple(entries), tuple(choice.round_index for choice in choices), prune_weights(weights))


def _selected(n_members: int, value: Callable[[Counts], float]) -> Counts:
    """Return how often each member is added, beginning with the best, until no further one raises the value."""
    selected: Counts = (0,) * n_members
    best = -np.inf
    while sum(selected) < MOST_MEMBERS:
        larger = [_added(selected, member) for member in range(n_members)]
        candidate = max(larger, key=value)
        if value(candidate) <= best:
            break
        selected, best = candidate, value(candidate)
    return selected


def _mean_of(values: Callable[[Counts], Doubles], bag: NDArray[np.int64], counts: Counts) -> float:
    return float(values(counts)[bag].mean())


def _added(counts: Counts, member: int) -> Counts:
    return (*counts[:member], counts[member] + 1, *counts[member + 1 :])


def best_choice(choices: Sequence[Choose], held_out: HeldOut, metric: Metric, n_threads: int) -> Choose:
    """Return the way of choosing that is best for queries that did not choose; the first of equals.

    The way is chosen by the values of the given judgements alone, so that other queries can judge this choice too;
    the mixtures with these values may have been chosen by those. Without them, every pair of parts needs a choice.
    """

    def nested(choose: Choose) -> Doubles:
        return crossed(held_out, lambda choosing: held_out.values(metric, choose(choosing).scores, n_threads))

    values = [nested(choose) for choose in choices]

    def chosen(judgements: NDArray[np.bool_]) -> Mix:
        means = [mean_over_queries(held_out.by_query(own, judgements)) for own in values]
        return choices[0 if np.isnan(means).any() else int(np.argmax(means))](judgements)

    return chosen


def remembered(choose: Choose) -> Choose:
    """Return the same way of choosing, which makes no choice twice."""
    known: dict[bytes, Mix] = {}

    def chosen(judgements: NDArray[np.bool_]) -> Mix:
        key = judgements.tobytes()
        if key not in known:
            known[key] = choose(judgements)
        return known[key]

    return chosen
