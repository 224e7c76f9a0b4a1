"""Evaluates systems on judged documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypedDict

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.threads import resolve_threads
from rankwright.data.dataset import RankingData
from rankwright.data.groups import QueryGroups
from rankwright.data.query_filters import QueryFilter, any_of, relevant_documents
from rankwright.data.ranking import checked_scores
from rankwright.data.readers.trec import Judgements, Run
from rankwright.evaluation.ranked_lists import (
    CompleteLists,
    RetrievedLists,
    judged_by,
    judgements_of,
    measured_queries,
    scores_of_judged,
)
from rankwright.evaluation.report import Report
from rankwright.metrics.conventions import Convention, find_convention
from rankwright.metrics.parse import as_metrics
from rankwright.models.fitted import name_of, scores_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.judged_runs import JudgedRun
    from rankwright.evaluation.ranked_lists import RankedLists
    from rankwright.metrics.base import Metric
    from rankwright.metrics.parse import MetricLike


class Predicts(Protocol):
    """A scorer, a fitted ranker, or another library's model: anything with `predict`."""

    def predict(self, X: Any) -> Any:
        """Return one score per document."""


def evaluate(
    systems: Mapping[str, Predicts | ArrayLike | Run] | Sequence[Run] | Predicts | ArrayLike | Run,
    data: RankingData | Judgements | tuple[Any, Any, Any],
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
        or runs (`read_run`): several by name, or a single one. Runs may be a list, named by their tags.
    data
        The judged documents: RankingData, (X, y, qid), or for runs the judgements alone (`read_judgements`).
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
    """
    judged = judged_documents(data)
    named = named_systems(systems)
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


class JudgedScores(NamedTuple):
    """Labels and scores of judged documents of some queries, and how many of them each run did not retrieve."""

    labels: Doubles
    groups: QueryGroups
    scores: dict[str, Doubles]
    not_retrieved: dict[str, int]


def judged_scores(systems: Any, data: Any, *, queries: str | None, n_jobs: int | None) -> JudgedScores:
    """Return the scores that systems, as `evaluate` takes them, give the judged documents.

    A document that a run did not retrieve has the score minus infinity, so that it is below all others. Retrieved
    documents without a judgement have no label, and are left out.
    """
    judged = judged_documents(data)
    judgements, runs = None, {}
    scores: dict[str, ArrayLike] = {}
    for name, system in named_systems(systems).items():
        if isinstance(system, Run):
            judgements = judgements or judgements_of(judged)
            runs[name] = judged_by(name, system, judgements)
            scores[name] = scores_of_judged(runs[name])
        else:
            scores[name] = scores_of(name, system, judged, n_jobs)
    kept = measured_queries(runs, len(judged.groups), queries)
    rows = np.flatnonzero(kept[judged.groups.query_of_row])
    chosen = {name: np.asarray(column, dtype=np.float64)[rows] for name, column in scores.items()}
    missing = {name: int(np.isneginf(chosen[name]).sum()) for name in runs}
    return JudgedScores(labels_of(judged)[rows], QueryGroups.of(judged.qid[rows]), chosen, missing)


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


def judged_documents(data: Any) -> RankingData | Judgements:
    """Return judgements as they are, and judged documents given as RankingData or (X, y, qid)."""
    return data if isinstance(data, Judgements) else checked_judged(data)


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


def scores_of(name: str, system: Any, data: RankingData | Judgements, n_jobs: int | None) -> ArrayLike:
    """Return the scores that a system, named `name` in messages, gives the documents."""
    if not hasattr(system, "predict"):
        try:
            return checked_scores(system, len(data))
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
    if isinstance(data, Judgements):
        raise InputError(f"{name} needs features, which judgements do not have; give RankingData, or its run.")
    try:
        return np.asarray(scores_by(system, data, n_threads=resolve_threads(n_jobs)))
    except InputError as error:
        raise InputError(f"{name} cannot score the documents: {error}") from error
