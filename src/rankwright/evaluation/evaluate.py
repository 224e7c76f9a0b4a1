"""Evaluates systems on judged documents, by their ranked lists of all of them or of those that a run retrieved."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.resources import resolve_threads
from rankwright.base.wording import counted
from rankwright.data.dataset import RankingData
from rankwright.data.groups import QueryGroups, Ranking, checked_scores
from rankwright.data.judged_runs import judge
from rankwright.data.query_filters import QueryFilter, any_of, relevant_documents
from rankwright.data.readers.file_documents import FileDocuments
from rankwright.data.readers.trec import Judgements, Run
from rankwright.evaluation.file_scores import scored_files
from rankwright.evaluation.report import Report
from rankwright.metrics.catalogue import Convention, as_metrics, find_convention
from rankwright.metrics.pairwise import PairAccuracy
from rankwright.models.other_libraries import scores_by
from rankwright.models.scorer import name_of, scorer_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import Documents
    from rankwright.data.judged_runs import JudgedRun
    from rankwright.metrics.base import Metric
    from rankwright.metrics.catalogue import Convention, MetricLike


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


class Predicts(Protocol):
    """A scorer, a fitted ranker, or another library's model: anything with `predict`."""

    def predict(self, X: Any) -> Any:
        """Return one score per document."""


def evaluate(
    systems: Mapping[str, Predicts | ArrayLike | Run | str] | Sequence[Run] | Predicts | ArrayLike | Run,
    data: RankingData | FileDocuments | Judgements | tuple[Any, Any, Any],
    *,
    metrics: MetricLike | Sequence[MetricLike] = ("ndcg@10", "map"),
    convention: str | Convention | None = None,
    queries: str | None = None,
    min_relevant: int = 0,
    drop_one_label: bool = False,
    n_jobs: int | None = None,
) -> Report:
    """Evaluate systems on judged documents, query by query.

    Parameters
    ----------
    systems
        Fitted rankers, scorers, other libraries' fitted models with `predict`, arrays with one score per document,
        or runs (`read_run`): several by name, or a single one. Runs may be a list, named by their tags. The name
        of a column, a feature or one of `data.shown`, is the order by it: `position` ascending, `-sales`
        descending.
    data
        The judged documents: RankingData, FileDocuments, (X, y, qid), or for runs `read_judgements`.
    metrics
        Metrics, their names, or functions of labels in ranked order: a list, a single one, or a text such as
        `"ndcg@10,map"`.
    convention
        The tool whose definitions of the metrics to use: `standard`, `letor3`, `letor4`, `trec`, `lightgbm` or
        `sklearn`. By default `trec` if all systems are runs and the data are judgements, otherwise `standard`.
    queries
        What to do if a run has no document for some judged queries: `shared` measures the queries that all systems
        have, `judged` measures all, and such a query counts as 0. By default it is an error.
    min_relevant
        Leave out queries with fewer relevant documents than this: documents with a label of at least 1.
    drop_one_label
        Whether to leave out queries whose documents all have the same label: every ranking of them has the same
        value (Wu et al. 2010, section 5.1). Not for runs, whose lists hold other documents too.

    Examples
    --------
    >>> judged = rw.synthetic.gaussian_queries(20, spread=(0.2, 1.3))
    >>> print(rw.evaluate({"first": judged.X[:, 0], "second": judged.X[:, 1]}, judged))
    first has the highest mean ndcg@10 over 20 queries, 0.9993.
    system  ndcg@10     map
    first    0.9993  0.9975
    second   0.9025  0.8666
    20 queries.
    """
    named, judged = scored_files(named_systems(systems), judged_documents(data), n_jobs)
    left_out = QueryFilter(min_relevant, drop_one_label)
    counting = _convention(convention, named, judged)
    asked = checked_metrics(metrics, counting)
    values: dict[tuple[str, str], Doubles] = {}
    runs: dict[str, JudgedRun] = {}
    for system, lists in _ranked(named, judged, counting, n_jobs):
        if isinstance(lists, RetrievedLists):
            runs[system] = lists.judged
        for metric in asked:
            values[system, str(metric)] = lists.values(counting.apply(metric))
    kept = measured_queries(runs, len(judged.groups), queries)
    if drop_one_label and runs:
        option = parameter("drop_one_label")
        raise InputError(f"{option} is not for runs: their lists hold documents that were not judged too.")
    reasons = left_out.reasons(labels_of(judged), judged.groups)
    dropped = {reason: int((queries & kept).sum()) for reason, queries in reasons.items()}
    kept &= ~any_of(reasons, len(kept))
    of_kept = {name: column[kept] for name, column in values.items()}
    return replace(_report(judged, asked, counting, of_kept, kept, runs), dropped=dropped)


class EvaluationOptions(TypedDict, total=False):
    """The keyword arguments of `evaluate` but `metrics`, for functions that pass them on."""

    convention: str | Convention | None
    queries: str | None
    min_relevant: int
    drop_one_label: bool
    n_jobs: int | None


EvaluationOptions.__doc__ = evaluate.__doc__  # their meaning is said there, once


def _ranked(
    named: dict[str, Any], judged: RankingData | Judgements, counting: Convention, n_jobs: int | None
) -> Iterator[tuple[str, RankedLists]]:
    """Yield the ranked lists of each system."""
    labels = counting.labels(labels_of(judged))
    judgements = judgements_of(judged) if any(isinstance(system, Run) for system in named.values()) else None
    for name, system in named.items():
        if judgements is not None and isinstance(system, Run):
            yield name, RetrievedLists(judged_by(name, system, judgements), counting, n_jobs)
        else:
            scores = scores_of(name, system, judged, n_jobs)
            ranking = counting.rank(scores, judged.groups, judged.document_ids, n_jobs=n_jobs)
            yield name, CompleteLists(labels, ranking, n_jobs)


def _report(
    judged: RankingData | Judgements,
    asked: list[Metric],
    counting: Convention,
    raw: dict[tuple[str, str], Doubles],
    kept: NDArray[np.bool_],
    runs: dict[str, JudgedRun],
) -> Report:
    """Make the report of values in which an empty query is NaN."""
    groups, relevant = judged.groups, relevant_documents(labels_of(judged), judged.groups)
    by_name = {str(metric): counting.apply(metric) for metric in asked}
    return Report(
        systems=tuple(dict.fromkeys(system for system, _ in raw)),
        metrics=tuple(by_name),
        queries=tuple(groups.ids[kept].tolist()),
        values={(system, name): by_name[name].count_empty(values) for (system, name), values in raw.items()},
        empty={name: int(np.isnan(values).sum()) for (_, name), values in raw.items()},
        convention=counting.name,
        query_facts={"documents": groups.sizes[kept], "relevant": relevant[kept]},
        coverage={name: run.coverage for name, run in runs.items()},
    )


def checked_metrics(metrics: Any, counting: Convention) -> list[Metric]:
    """Return the metrics; refuse those that the convention does not have."""
    asked = as_metrics(metrics)
    for metric in asked:
        counting.apply(metric)
    return asked


def named_systems(systems: Any) -> dict[str, Any]:
    """Return one or more systems by name; a single one is named after its ranker or class."""
    if isinstance(systems, Mapping):
        if not systems:
            raise InputError("There is nothing to evaluate: give at least one system.")
        return {str(name): system for name, system in systems.items()}
    if hasattr(systems, "predict"):
        return {name_of(systems): systems}
    runs = [systems] if isinstance(systems, Run) else systems
    if isinstance(runs, list | tuple) and runs and all(isinstance(run, Run) for run in runs):
        return _by_tag(runs)
    if np.ndim(systems) == 1 and np.asanyarray(systems).dtype.kind in "iufb":
        return {"scores": systems}
    raise InputError("Give a fitted ranker, or several systems by name, such as {'mine': ranker, 'BM25': scores}.")


def _by_tag(runs: Sequence[Run]) -> dict[str, Run]:
    named = {run.tag: run for run in runs}
    if len(named) < len(runs):
        raise InputError("Two runs have the same tag; give the runs by name, such as {'old': run, 'new': other}.")
    return named


def checked_judged(data: Any) -> RankingData:
    """Return judged documents, given as RankingData or (X, y, qid)."""
    if isinstance(data, list | tuple) and len(data) == 3:
        return RankingData(*data)
    if isinstance(data, list | tuple) and len(data) == 2:
        raise InputError("Query ids are needed: give (X, y, qid), with one query id per document, or RankingData.")
    if not isinstance(data, RankingData):
        raise InputError(f"data must be RankingData or (X, y, qid), not {type(data).__name__}.")
    return data


def judged_documents(data: Any) -> Any:
    """Return judgements and files as they are, and judged documents given as RankingData or (X, y, qid)."""
    return data if isinstance(data, Judgements | FileDocuments) else checked_judged(data)


def labels_of(judged: RankingData | Judgements) -> Doubles:
    """Return the labels of judged documents."""
    return judged.labels if isinstance(judged, Judgements) else judged.y


def _convention(
    given: str | Convention | None, named: Mapping[str, Any], judged: RankingData | Judgements
) -> Convention:
    if given is None:
        are_runs = isinstance(judged, Judgements) and all(isinstance(system, Run) for system in named.values())
        return find_convention("trec" if are_runs else "standard")
    return find_convention(given) if isinstance(given, str) else given


def order_by(column: str, data: RankingData) -> Doubles:
    """Return scores that order documents by a column; warn if the reverse order is better."""
    scores = data.scores_by(column)
    if PairAccuracy(empty=None).mean(data.y, scores, data.groups) < 0.5:
        other = column[1:] if column.startswith("-") else f"-{column}"
        sentence = f"The order by {column!r} ranks most pairs of documents wrongly; its reverse is {other!r}."
        warnings.warn(sentence, stacklevel=2)
    return scores


def scores_of(name: str, system: Any, data: Documents | Judgements, n_jobs: int | None) -> ArrayLike:
    """Return the scores that a system, named `name` in messages, gives the documents."""
    if isinstance(system, str):
        if isinstance(data, Judgements):
            raise InputError(f"There is no column {system!r}: judgements have no columns; give RankingData.")
        return order_by(system, data) if isinstance(data, RankingData) else data.scores_by(system)
    if not hasattr(system, "predict"):
        try:
            return checked_scores(system, len(data))
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
    if isinstance(data, Judgements):
        raise InputError(f"{name} needs features, which judgements do not have; give RankingData, or its run.")
    scorer, threads = scorer_of(system), resolve_threads(n_jobs)
    try:
        if scorer is not None:
            return scorer.predict(data, n_jobs=threads)
        return np.asarray(scores_by(system, data, n_threads=threads))
    except InputError as error:
        raise InputError(f"{name} cannot score the documents: {error}") from error
