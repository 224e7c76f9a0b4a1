"""The ranked lists of a system beside the labels: of all judged documents, or of those that a run retrieved."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import counted
from rankwright.data.groups import QueryGroups
from rankwright.data.judged_runs import judge
from rankwright.data.ranking import Ranking
from rankwright.data.readers.trec import Judgements

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.data.judged_runs import JudgedRun
    from rankwright.data.readers.trec import Run
    from rankwright.metrics.base import Metric
    from rankwright.metrics.conventions import Convention


class RankedLists(Protocol):
    """One ranked list per judged query."""

    def values(self, metric: Metric) -> Doubles:
        """Return one value per judged query; NaN for an empty query."""


@dataclass(frozen=True, eq=False)
class CompleteLists:
    """Lists of all judged documents."""

    labels: Doubles
    ranking: Ranking
    n_jobs: int | None

    @property
    def groups(self) -> QueryGroups:
        """The rows of every query."""
        return self.ranking.groups

    def values(self, metric: Metric) -> Doubles:
        return metric.per_query_with_empty(self.labels, self.ranking, n_jobs=self.n_jobs)


@dataclass(frozen=True, eq=False)
class RetrievedLists:
    """Lists of the documents that a run retrieved, measured as trec_eval measures them.

    A retrieved document without a judgement is irrelevant. A judged one that was not retrieved has no rank, but
    counts among the relevant documents and in the ideal ranking. Metrics without `divisors` rank it last.
    """

    judged: JudgedRun
    counting: Convention
    n_jobs: int | None

    def values(self, metric: Metric) -> Doubles:
        labels, groups = self.counting.labels(self.judged.judgements.labels), self.judged.judgements.groups
        values = np.zeros(len(groups))
        retrieved = self._retrieved
        divisors, own_divisors = (
            metric.divisors(labels, groups),
            metric.divisors(retrieved.labels, retrieved.groups),
        )
        if divisors is None or own_divisors is None:
            values[self._all.groups.ids] = self._all.values(metric)
            return values
        ideal = Ranking.of(labels, groups, n_jobs=self.n_jobs)
        empty = np.isnan(metric.per_query_with_empty(labels, ideal, n_jobs=self.n_jobs))
        sums = np.nan_to_num(retrieved.values(metric)) * own_divisors
        values[retrieved.groups.ids] = sums / np.where(empty, 1.0, divisors)[retrieved.groups.ids]
        return np.where(empty, np.nan, values)

    @cached_property
    def _retrieved(self) -> CompleteLists:
        """The retrieved documents of judged queries; a query is named by its number in the judgements."""
        return self._lists(np.zeros(0, dtype=np.int64))

    @cached_property
    def _all(self) -> CompleteLists:
        """The same, and the judged documents that were not retrieved, in any order below all others."""
        return self._lists(self.judged.not_retrieved)

    def _lists(self, others: NDArray[np.int64]) -> CompleteLists:
        judged, judgements = self.judged, self.judged.judgements
        query_of_row = judged.queries[judged.groups.query_of_row]
        rows = np.flatnonzero(query_of_row >= 0)
        queries = np.append(query_of_row[rows], judgements.groups.query_of_row[others])
        labels = np.append(judged.labels[rows], judgements.labels[others])
        scores = np.append(judged.scores[rows], np.full(len(others), -np.inf))
        names = np.append(judged.document_ids[rows], judgements.document_ids[others])
        ranking = self.counting.rank(scores, QueryGroups.of(queries), names, n_jobs=self.n_jobs)
        return CompleteLists(self.counting.labels(labels), ranking, self.n_jobs)


class UnjudgedRunWarning(UserWarning):
    """No document of a run was judged: probably its ids are others than those of the judgements."""


def judged_by(name: str, run: Run, judgements: Judgements) -> JudgedRun:
    """Give a run its labels; warn if its ids seem to be others than those of the judgements."""
    judged = judge(run, judgements)
    if not judged.judged.any():
        ours, theirs = _first_id(judgements), _first_id(run)
        sentence = (
            f"{name} retrieves no judged document: its ids are like {theirs}, those of the data like {ours}."
        )
        if (judged.queries < 0).all():
            raise InputError(sentence)
        warnings.warn(sentence, UnjudgedRunWarning, stacklevel=2)
    return judged


def scores_of_judged(judged: JudgedRun) -> Doubles:
    """Return a run's score of every judged document; minus infinity for those that it did not retrieve."""
    scores = np.full(len(judged.judgements), -np.inf)
    scores[judged.rows[judged.judged]] = judged.scores[judged.judged]
    return scores


def _first_id(named: Run | Judgements) -> str:
    return f"{named.document_ids[0]!r} in query {str(named.qid[0])!r}" if len(named) else "none"


def judgements_of(data: RankingData | Judgements) -> Judgements:
    """Return the labels of judged documents by query id and document id."""
    if isinstance(data, Judgements):
        return data
    try:
        return Judgements.of(data.qid, data.document_names, data.y)
    except InputError as error:
        raise InputError(f"A run cannot be matched with the data: {error}") from None


def measured_queries(runs: Mapping[str, JudgedRun], n_queries: int, which: str | None) -> NDArray[np.bool_]:
    """Return whether each judged query is measured: all, or those that all runs have.

    Parameters
    ----------
    which
        `shared`, `judged` or None, as the option `queries` of `evaluate`.
    """
    if which not in (None, "shared", "judged"):
        raise InputError(f"{parameter('queries')} must be 'shared' or 'judged', not {which!r}.")
    shared = np.ones(n_queries, dtype=bool)
    for judged in runs.values():
        shared &= np.isin(np.arange(n_queries), judged.queries)
    if which == "judged" or shared.all():
        return np.ones(n_queries, dtype=bool)
    if not shared.any():
        raise InputError(f"No judged query is shared by all systems: {_missing(runs, n_queries)}.")
    if which is None:
        raise InputError(
            f"The systems have different queries: {_missing(runs, n_queries)}, and {shared.sum():,} are shared by "
            f"all systems; set {parameter('queries')} to 'shared' to measure those only, or to 'judged' to count "
            "a query that a run lacks as 0."
        )
    return shared


def _missing(runs: Mapping[str, JudgedRun], n_queries: int) -> str:
    """Return in words how many judged queries the run that lacks most of them lacks."""
    lacking = {name: len(run.coverage.queries_not_retrieved) for name, run in runs.items()}
    worst = max(lacking, key=lacking.__getitem__)
    return f"{worst} has no document for {lacking[worst]:,} of {counted(n_queries, 'judged query')}"
