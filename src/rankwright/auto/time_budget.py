"""What fits into a time limit: first there are fewer seeds, then fewer folds, fewer rounds, and fewer members."""

from __future__ import annotations

import math
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwright.auto.plan import FitPlan
    from rankwright.auto.portfolio import Entry
    from rankwright.training.training_set import TrainingSet

FEWEST_QUERIES = 4  # of a pilot
PILOT = 0.05  # of the time, at most, for a fit on a quarter of the queries
USED = 0.7  # of the time: estimates from a few queries are rough, and rounds may be added
HALVINGS = 3  # of the rounds of trees
FEWER_FOLDS = {5: 0, 3: 0, 1: 500}  # from so many queries on: a fifth of fewer would tell too little


class Affordable(NamedTuple):
    """The division into folds, the entries to fit in it, and the expected seconds of all fits per unit of cost."""

    plan: FitPlan
    entries: list[Entry]
    seconds_per_cost: float = 0.0


def affordable(
    plan: FitPlan, entries: Sequence[Entry], time_limit: float, n_threads: int, seed: int
) -> Affordable:
    """Return the first of ever cheaper runs that is expected to fit into the time; the cheapest if none is.

    If the entry that tells the time cannot be fitted, everything is tried, and its failure is named there.
    """
    dearest = max((entry.single() for entry in entries), key=lambda entry: entry.cost)
    try:
        per_cost = pilot_seconds(dearest, plan.whole, PILOT * time_limit) / max(dearest.cost, 1e-9)
    except InputError:
        return Affordable(plan, list(entries))
    for run in _cheaper_and_cheaper(plan, entries, seed):
        n_fits = len(run.plan.all_parts) + 1
        cost = sum(entry.cost for entry in run.entries)
        if per_cost * n_fits * cost / min(n_threads, n_fits) <= USED * time_limit:
            break
    return run._replace(seconds_per_cost=per_cost * n_fits)


def _cheaper_and_cheaper(plan: FitPlan, entries: Sequence[Entry], seed: int) -> Iterator[Affordable]:
    yield Affordable(plan, list(entries))
    single = [entry.single() for entry in entries]
    yield Affordable(plan, single)
    for folds, least in FEWER_FOLDS.items():
        if folds < plan.folds and len(plan.whole.data.groups) >= least and not plan.periods:
            plan = plan.with_folds(folds, seed)
            yield Affordable(plan, single)
    for _ in range(HALVINGS):
        single = [entry.shorter() for entry in single]
        yield Affordable(plan, single)


def pilot_seconds(entry: Entry, whole: TrainingSet, most: float = math.inf) -> float:
    """Return about how long a fit of an entry on all queries takes, from fits on a sixteenth and on a quarter.

    A quarter that would take more than `most` seconds is not fitted.
    """
    queries = np.flatnonzero(whole.labels.varied)  # from others there is nothing to learn
    sizes, seconds = [], []
    for fraction in (16, 16, 4):  # the first fit also imports modules
        pilot = whole.take_queries(queries[:: min(fraction, max(1, len(queries) // FEWEST_QUERIES))])
        started = monotonic()
        entry.fitted(pilot, 1, lambda _: None)
        sizes.append(len(pilot))
        seconds.append(monotonic() - started)
        if len(seconds) == 2 and 4 * seconds[1] > most:
            return seconds[1] * len(whole) / sizes[1]
    slope = (seconds[2] - seconds[1]) / max(1, sizes[2] - sizes[1])
    return seconds[2] + max(0.0, slope) * (len(whole) - sizes[2])
