"""Chooses the number of rounds by training queries held out in turn, where there are no validation data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.data.splitting import deal_folds
from rankwright.metrics.base import mean_over_queries
from rankwright.training.concurrent_fits import run_all
from rankwright.training.monitor import RoundChoice, is_as_good_as

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.training.concurrent_fits import OnRound
    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import Round

FOLDS = 3
ENOUGH_QUERIES = 200
"""Once so many queries were held out, no further fold is fitted."""
LEAST_QUERIES = 10
"""Fewer queries with different labels say nothing about the number of rounds."""
TOLERANCE = 0.5
"""Standard errors below the best value that still count as good. With 1, clean data that need many more rounds
often keep the usual number."""


def held_out_rounds(fit: Callable[[FitTask], Any], task: FitTask, *, usual: int) -> RoundChoice:
    """Return the number of rounds that is as good as the best for held-out queries and nearest to the usual one.

    As good means within half a standard error. The usual number was right for other data of this size, so held-out
    queries must show that they need fewer or more.
    """
    n_queries = int(task.train.labels.varied.sum())
    if n_queries < LEAST_QUERIES:
        return RoundChoice(usual, f"the usual number, because only {counted(n_queries, 'query')} can be held out")
    try:
        values = _values_by_round(fit, _folds(task), n_threads=task.n_threads)
    except InputError:  # of a fold without anything to learn
        return RoundChoice(usual, "the usual number, because too few queries can be held out")
    return _nearest(values, usual)


def _folds(task: FitTask) -> Sequence[FitTask]:
    """Return the tasks of learning from all queries but one fold each, which judges."""
    train = task.train
    queries, groups = train.canonical_queries, train.data.groups
    fold_of_query = deal_folds(queries, FOLDS, np.random.default_rng(0))
    n_folds = int(np.clip(np.ceil(ENOUGH_QUERIES * FOLDS / len(queries)), 1, FOLDS))
    weights, fold_of_row = task.row_weights, fold_of_query[groups.query_of_row]
    return [
        replace(
            task,
            train=train.take_queries(fold_of_query != fold),
            validation=train.take_queries(fold_of_query == fold),
            row_weights=None if weights is None else weights[fold_of_row != fold],
            n_threads=max(1, task.n_threads // n_folds),
        )
        for fold in range(n_folds)
    ]


def _values_by_round(fit: Callable[[FitTask], Any], folds: Sequence[FitTask], n_threads: int) -> Doubles:
    """Return the values of the held-out queries after every round; a fold that stopped keeps its last values."""

    def values_of(fold: FitTask, check_stop: OnRound) -> list[Doubles]:
        values: list[Doubles] = []

        def record(ended: Round) -> None:
            check_stop(ended)
            assert ended.values is not None
            values.append(ended.values)

        fit(replace(fold, on_round=record))
        return values

    by_fold = run_all(values_of, folds, workers=min(n_threads, len(folds)), on_done=lambda: None)
    n_rounds = max(map(len, by_fold))
    return np.hstack([np.stack(values + values[-1:] * (n_rounds - len(values))) for values in by_fold])


def _nearest(values: Doubles, usual: int) -> RoundChoice:
    means = [mean_over_queries(of_round) for of_round in values]
    best = int(np.argmax(means))
    good = 1 + np.flatnonzero(is_as_good_as(values[best], values, TOLERANCE))
    kept = int(good[np.argmin(np.abs(np.log(good / usual)))])
    if kept == usual:
        return RoundChoice(kept, "the usual number, which is as good as any for training queries held out in turn")
    return RoundChoice(
        kept, f"as good as any for training queries held out in turn, and the nearest such number to {usual}"
    )
