"""Evaluates systems on judged documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rankwright.data.dataset import RankingData
from rankwright.errors import InputError
from rankwright.evaluation.report import Report
from rankwright.metrics import Convention, Metric, find_convention, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


class Predicts(Protocol):
    """A scorer, a fitted ranker, or any other object with the same `predict`."""

    def predict(self, X: Any, qid: Any = None, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return one score per document."""


def evaluate(
    systems: Mapping[str, Predicts | ArrayLike],
    data: RankingData | tuple[Any, Any, Any],
    *,
    metrics: Sequence[Metric | str] = ("ndcg@10", "map"),
    convention: str | Convention = "standard",
    n_jobs: int | None = None,
) -> Report:
    """Evaluate systems on judged documents, query by query.

    Parameters
    ----------
    systems
        By name: rankers, scorers, or arrays with one score per document.
    data
        The judged documents: RankingData or (X, y, qid).
    metrics
        Metrics, or their names.
    convention
        The tool whose definitions of the metrics to use: `standard`, `letor3`, `letor4`, `trec`, `lightgbm` or
        `sklearn`.
    """
    counting = _convention(convention)
    data = _judged(data)
    require_systems(systems)
    asked = checked_metrics(metrics, counting)
    values, empty = {}, {}
    for system, scores in ((name, _scores(one, data, n_jobs)) for name, one in systems.items()):
        ranking = counting.rank(scores, data.groups, data.document_ids, n_jobs=n_jobs)
        for metric in asked:
            counted = counting.apply(metric)
            raw = counted.per_query_with_empty(data.y, ranking, n_jobs=n_jobs)
            values[system, str(metric)] = counted.count_empty(raw)
            empty[str(metric)] = int(np.isnan(raw).sum())
    return Report(
        systems=tuple(systems),
        metrics=tuple(map(str, asked)),
        queries=tuple(data.groups.ids.tolist()),
        values=values,
        empty=empty,
        convention=counting.name,
    )


def checked_metrics(metrics: Sequence[Metric | str], counting: Convention) -> list[Metric]:
    """Return the metrics; refuse those that the convention does not have."""
    asked = [parse(metric) if isinstance(metric, str) else metric for metric in metrics]
    if not asked:
        raise InputError("There is nothing to measure: give at least one metric.")
    for metric in asked:
        counting.apply(metric)
    return asked


def require_systems(systems: Any) -> None:
    """Refuse what is not one or more systems by name."""
    if not isinstance(systems, Mapping):
        raise InputError("evaluate takes systems by name, such as {'mine': ranker}.")
    if not systems:
        raise InputError("There is nothing to evaluate: give at least one system.")


def _judged(data: Any) -> RankingData:
    if isinstance(data, tuple) and len(data) == 3:
        return RankingData(*data)
    if not isinstance(data, RankingData):
        raise InputError(f"data must be RankingData or (X, y, qid), not {type(data).__name__}.")
    return data


def _convention(one: str | Convention) -> Convention:
    return find_convention(one) if isinstance(one, str) else one


def _scores(system: Any, data: RankingData, n_jobs: int | None) -> ArrayLike:
    if not hasattr(system, "predict"):
        scores: ArrayLike = np.asanyarray(system)  # keeps a masked array, so that it is refused later
        return scores
    return np.asarray(system.predict(data, n_jobs=n_jobs))
