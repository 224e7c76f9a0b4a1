"""Evaluates systems on judged documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rankwright.data.dataset import RankingData
from rankwright.data.ranking import checked_scores
from rankwright.errors import InputError
from rankwright.evaluation.report import Report
from rankwright.metrics import Convention, Metric, as_metrics, find_convention
from rankwright.models.fitted import name_of, scores_by
from rankwright.threads import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from rankwright.metrics import MetricLike


class Predicts(Protocol):
    """A scorer, a fitted ranker, or another library's model: anything with `predict`."""

    def predict(self, X: Any) -> Any:
        """Return one score per document."""


def evaluate(
    systems: Mapping[str, Predicts | ArrayLike] | Predicts | ArrayLike,
    data: RankingData | tuple[Any, Any, Any],
    *,
    metrics: MetricLike | Sequence[MetricLike] = ("ndcg@10", "map"),
    convention: str | Convention = "standard",
    n_jobs: int | None = None,
) -> Report:
    """Evaluate systems on judged documents, query by query.

    Parameters
    ----------
    systems
        Fitted rankers, scorers, other libraries' fitted models with `predict`, or arrays with one score per
        document: several by name, or a single one.
    data
        The judged documents: RankingData or (X, y, qid).
    metrics
        Metrics, their names, or functions of labels in ranked order: a list, a single one, or a text such as
        `"ndcg@10,map"`.
    convention
        The tool whose definitions of the metrics to use: `standard`, `letor3`, `letor4`, `trec`, `lightgbm` or
        `sklearn`.
    """
    counting = _convention(convention)
    data = checked_judged(data)
    named = named_systems(systems)
    asked = checked_metrics(metrics, counting)
    values, empty = {}, {}
    for system, scores in ((name, scores_of(name, one, data, n_jobs)) for name, one in named.items()):
        ranking = counting.rank(scores, data.groups, data.document_ids, n_jobs=n_jobs)
        for metric in asked:
            counted = counting.apply(metric)
            raw = counted.per_query_with_empty(data.y, ranking, n_jobs=n_jobs)
            values[system, str(metric)] = counted.count_empty(raw)
            empty[str(metric)] = int(np.isnan(raw).sum())
    return Report(
        systems=tuple(named),
        metrics=tuple(map(str, asked)),
        queries=tuple(data.groups.ids.tolist()),
        values=values,
        empty=empty,
        convention=counting.name,
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
    if np.ndim(systems) == 1 and np.asanyarray(systems).dtype.kind in "iufb":
        return {"scores": systems}
    raise InputError("Give a fitted ranker, or several systems by name, such as {'mine': ranker, 'BM25': scores}.")


def checked_judged(data: Any) -> RankingData:
    """Return judged documents, given as RankingData or (X, y, qid)."""
    if isinstance(data, list | tuple) and len(data) == 3:
        return RankingData(*data)
    if isinstance(data, list | tuple) and len(data) == 2:
        raise InputError("Query ids are needed: give (X, y, qid), with one query id per document, or RankingData.")
    if not isinstance(data, RankingData):
        raise InputError(f"data must be RankingData or (X, y, qid), not {type(data).__name__}.")
    return data


def _convention(one: str | Convention) -> Convention:
    return find_convention(one) if isinstance(one, str) else one


def scores_of(name: str, system: Any, data: RankingData, n_jobs: int | None) -> ArrayLike:
    """Return the scores that a system, named `name` in messages, gives the documents."""
    if not hasattr(system, "predict"):
        try:
            return checked_scores(system, len(data))
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
    try:
        return np.asarray(scores_by(system, data, n_threads=resolve_threads(n_jobs)))
    except InputError as error:
        raise InputError(f"{name} cannot score the documents: {error}") from error
