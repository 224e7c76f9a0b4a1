"""Which queries judge which fits: folds for a few judged queries, one held-out part for very many."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.data.query_times import FIRST_PERIOD, QueryTimes, learned_from
from rankwright.training.training_set import QueryLabels, TrainingSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.metrics.base import Metric

HELD_OUT_FRACTION = 0.2
FOLDS, MORE_FOLDS = 5, 10
FEW_QUERIES, VERY_FEW_QUERIES, FEW_DOCUMENTS = 500, 60, 20_000
"""With few queries and documents there are more folds, so that fits out of fold learn from nearly all queries, and
with very few queries there are repeats."""
HALVED_QUERIES = 30
"""From so many queries on, half of them are enough to learn from."""
MANY_QUERIES, MANY_DOCUMENTS = 3_000, 200_000
"""From so many queries or documents on, one held-out part judges: folds would cost more than they tell."""


class PlanPart(NamedTuple):
    """Queries to learn from, with their rows in the whole data, and the other queries, which judge."""

    train: TrainingSet
    rows: NDArray[np.int64]
    judges: TrainingSet


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The judging documents of all parts, one part after the other; with repeats a query judges several times.

    Parameters
    ----------
    labels
        Labels and query groups. Each time that a query judges is a group of its own, a judgement.
    query, part
        For each judgement, the number of its query in the whole data, and the number of its part.
    """

    labels: QueryLabels
    query: NDArray[np.int64]
    part: NDArray[np.int64]

    @property
    def everyone(self) -> NDArray[np.bool_]:
        """All judgements."""
        return np.ones(len(self.query), dtype=bool)

    def values(self, metric: Metric, scores: Doubles, n_threads: int) -> Doubles:
        """Return the metric of every judgement."""
        ranking = Ranking.of(scores, self.labels.groups, n_jobs=n_threads)
        return metric.per_query(self.labels.y, ranking, n_jobs=n_threads)

    def by_query(self, values: Doubles, judgements: NDArray[np.bool_] | None = None) -> Doubles:
        """Return one value per judging query, the mean over its judgements; None for all judgements."""
        query = self.query if judgements is None else self.query[judgements]
        _, number = np.unique(query, return_inverse=True)
        chosen = values if judgements is None else values[judgements]
        return np.asarray(np.bincount(number, chosen) / np.bincount(number))


class Halves(NamedTuple):
    """Two parts, each of which learns from half of the queries and is judged by the other half."""

    parts: tuple[PlanPart, ...]
    held_out: HeldOut


@dataclass(frozen=True, eq=False)
class FitPlan:
    """The parts that members are judged on, and the whole data that they are then fitted on.

    The whole data are in canonical order, so that neither the order of the rows nor the names of the queries
    matter. The halves tell what is gained by learning from more queries; None if there are too few queries, or so
    many that it does not matter. If `standardise`, the scores of members are standardised within each query before
    they are mixed; if not, they are divided by one number for all queries, which every export target can do.
    `periods` has the times of each fold's judging queries, if folds are in time order.
    """

    whole: TrainingSet
    parts: tuple[PlanPart, ...]
    held_out: HeldOut
    folds: int
    repeats: int
    halves: Halves | None = None
    standardise: bool = True
    periods: tuple[str, ...] = ()

    @property
    def all_parts(self) -> tuple[PlanPart, ...]:
        """The parts, then the halves."""
        return self.parts if self.halves is None else self.parts + self.halves.parts

    @property
    def is_large(self) -> bool:
        """Whether there are so many queries or documents that one held-out part is enough."""
        return division_for(len(self.whole.data.groups), len(self.whole))[0] == 1

    @property
    def judging_rows(self) -> NDArray[np.int64]:
        """The row of every judging document; in canonical order the documents of a query are adjacent."""
        offsets = self.whole.data.groups.offsets
        return np.concatenate([np.arange(offsets[query], offsets[query + 1]) for query in self.held_out.query])

    @classmethod
    def of(
        cls,
        whole: TrainingSet,
        random_state: int,
        *,
        repeats: int | None = None,
        time_column: str | None = None,
    ) -> FitPlan:
        """Divide the queries of data in canonical order; by default there are more repeats of fewer queries.

        With a `time_column` folds are in time order, and each is judged by fits on earlier queries.
        """
        n_queries = len(whole.data.groups)
        if n_queries < 2:
            raise InputError("AutoRanker needs at least 2 judged queries: some to learn from and others to judge.")
        if whole.labels.varied.sum() < 2:  # then the part that it judges in has nothing to learn from
            raise InputError("AutoRanker needs at least 2 queries whose labels differ.")
        if time_column is not None:
            return cls._in_time_order(whole, QueryTimes.of(whole.data, time_column))
        folds, usual = division_for(n_queries, len(whole))
        repeats = usual if repeats is None else repeats
        random = np.random.default_rng(random_state)
        judging = _judging(whole.labels.varied, folds, repeats, random)
        halves = None
        if folds > 1 and whole.labels.varied.sum() >= HALVED_QUERIES:
            halves = Halves(*_divided(whole, _judging(whole.labels.varied, 2, 1, random)))
        return cls(whole, *_divided(whole, judging), folds, repeats, halves)

    @classmethod
    def _in_time_order(cls, whole: TrainingSet, times: QueryTimes) -> FitPlan:
        """Divide the queries by their times; nothing tells what would be gained by learning from all of them."""
        one_part = division_for(len(whole.data.groups), len(whole))[0] == 1
        n_folds = 1 if one_part else max(1, min(FOLDS, len(np.unique(times.values)) - 1))
        fold = times.folds(n_folds, first=1 - HELD_OUT_FRACTION if one_part else FIRST_PERIOD)
        judging = [fold == number for number in range(n_folds)]
        learning = [learned_from(fold, number, in_time_order=True) for number in range(n_folds)]
        if not whole.labels.varied[learning[0]].any():
            raise InputError(
                "AutoRanker needs a query whose labels differ among the earliest ones, from which the first fold "
                f"learns: {times.span(learning[0])}."
            )
        periods = tuple(map(times.span, judging))
        return cls(whole, *_divided(whole, judging, learning), n_folds, repeats=1, periods=periods)

    def with_folds(self, folds: int, random_state: int) -> FitPlan:
        """Return a plan of so many folds and no halves, in which each query judges once; 1: a held-out part."""
        judging = _judging(self.whole.labels.varied, folds, 1, np.random.default_rng(random_state))
        parts, held_out = _divided(self.whole, judging)
        return replace(self, parts=parts, held_out=held_out, folds=folds, repeats=1, halves=None)

    def __str__(self) -> str:
        if self.periods:
            queries, folds = counted(len(self.held_out.query), "later query"), counted(self.folds, "fold")
            return f"judged by {queries} in {folds} in time order, each by fits on earlier queries"
        queries = counted(len(np.unique(self.held_out.query)), "query")
        if self.folds == 1:
            return f"judged by {queries} held out"
        repeated = f", {self.repeats} times" if self.repeats > 1 else ""
        return f"judged out of fold by {queries} in {self.folds} folds{repeated}"


def division_for(n_queries: int, n_documents: int) -> tuple[int, int]:
    """Return the number of folds and of repeats; a single fold is a held-out part."""
    if n_queries >= MANY_QUERIES or (n_documents >= MANY_DOCUMENTS and n_queries >= 10 * FOLDS):
        return 1, 1
    few = n_documents < FEW_DOCUMENTS
    folds = MORE_FOLDS if few and n_queries < FEW_QUERIES else FOLDS
    return min(folds, n_queries), 2 if few and n_queries < VERY_FEW_QUERIES else 1


def _judging(
    informative: NDArray[np.bool_], folds: int, repeats: int, random: np.random.Generator
) -> list[NDArray[np.bool_]]:
    """Return, for every part, whether each query judges.

    Queries with different labels are dealt first, so that every part has some to learn from.
    """
    n_folds = round(1 / HELD_OUT_FRACTION) if folds == 1 else folds
    fold_of_query = np.empty((repeats, len(informative)), dtype=np.int64)
    for repeat in range(repeats):
        shuffled = random.permutation(len(informative))
        dealt = shuffled[np.argsort(~informative[shuffled], kind="stable")]
        fold_of_query[repeat, dealt] = np.arange(len(dealt)) % n_folds
    return [fold_of_query[repeat] == fold for repeat in range(repeats) for fold in range(folds)]


def _divided(
    whole: TrainingSet, judging: Sequence[NDArray[np.bool_]], learning: Sequence[NDArray[np.bool_]] = ()
) -> tuple[tuple[PlanPart, ...], HeldOut]:
    """Return the parts, which learn from all queries that do not judge unless others are given."""
    masks = zip(judging, learning or [~judges for judges in judging], strict=True)
    return tuple(_part(whole, *own) for own in masks), _held_out(whole, judging)


def _part(whole: TrainingSet, judging: NDArray[np.bool_], learning: NDArray[np.bool_]) -> PlanPart:
    rows = np.flatnonzero(learning[whole.data.groups.query_of_row])
    return PlanPart(whole.take_queries(learning), rows, whole.take_queries(judging))


def _held_out(whole: TrainingSet, judging: Sequence[NDArray[np.bool_]]) -> HeldOut:
    groups = whole.data.groups
    queries = [np.flatnonzero(judges) for judges in judging]
    y = np.concatenate([whole.data.y[judges[groups.query_of_row]] for judges in judging])
    query = np.concatenate(queries)
    part = np.repeat(np.arange(len(judging)), [len(own) for own in queries])
    # In canonical order the documents of a query are adjacent.
    return HeldOut(QueryLabels(y, QueryGroups.of_sizes(groups.sizes[query])), query, part)
