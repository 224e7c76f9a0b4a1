"""Models of retrieval as rankers: their parameters are tuned for the metric on the training queries."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.ranking import Ranking
from rankwright.metrics.gain import NDCG
from rankwright.models.retrieval import RetrievalScorer
from rankwright.rankers.parameters.declaration import MetricParameter, parameter
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.shared.settings_search import search_settings
from rankwright.text.retrieval import state_of_model
from rankwright.text.text_documents import TextGroups
from rankwright.training.history import History, Round

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.models.scorer import Scorer
    from rankwright.rankers.shared.settings_search import Axis, Setting
    from rankwright.text.retrieval import RetrievalModel
    from rankwright.training.fit_task import FitTask

WEIGHT = "weight of "  # a field's name follows


class RetrievalRanker(Ranker):
    """A ranker whose documents are text; a subclass says which models it tries.

    Each setting that is tried is a round of the history, with the numbers of the setting as diagnostics.
    """

    needs_text: ClassVar[bool] = True

    metric: MetricParameter = parameter(
        meaning="Metric that parameters are tuned for, on the validation queries if there are any.",
        default=NDCG(k=10),
        kw_only=False,
    )

    @abstractmethod
    def _searches(self, fields: Mapping[str, float]) -> Iterator[Mapping[str, Axis]]:
        """Yield the spaces to search, one after another."""

    @abstractmethod
    def _model(self, setting: Setting) -> RetrievalModel:
        """Return the model of a setting."""

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        trials = _Trials(self, task)
        for space in self._searches(trials.fields):
            search_settings(space, trials.value_of)
        best = trials.best()
        name, parameters = state_of_model(self._model(trials.settings[best]))
        weights = weights_of(trials.settings[best], trials.fields)
        scorer = RetrievalScorer(name, parameters, weights, n_features=task.train.n_features)
        part = "training" if task.validation is None else "validation"
        reason = f"the best of {len(trials.rounds)} settings on the {part} queries"
        return scorer, History(tuple(trials.rounds), best + 1, reason=reason, metric=str(self.metric))


class _Trials:
    """The settings that were tried, with their values."""

    def __init__(self, ranker: RetrievalRanker, task: FitTask) -> None:
        self._ranker = ranker
        self._task = task
        self._parts = [task.train.data, *([] if task.validation is None else [task.validation.data])]
        self.fields = dict(_groups_of(task.train.data).weights)
        self.settings: list[Setting] = []
        self.rounds: list[Round] = []

    def value_of(self, setting: Setting) -> float:
        """Return the metric of a setting on the training queries."""
        train, *validation = (self._values(setting, part) for part in self._parts)
        by_query = None if self._task.row_weights is None else self._query_weights(self._task.row_weights)
        found = Round(
            number=len(self.rounds) + 1,
            weight=1.0,
            train=_mean(train, by_query),
            validation=_mean(validation[0], None) if validation else None,
            diagnostics=dict(setting),
            values=validation[0] if validation else None,
        )
        if self._task.on_round is not None:
            self._task.on_round(found)
        self.settings.append(setting)
        self.rounds.append(found)
        return _mean(train, by_query)

    def best(self) -> int:
        """Return the place of the setting to keep, the first of equal ones."""
        values = [one.train if one.validation is None else one.validation for one in self.rounds]
        return int(np.nanargmax(np.array(values, np.float64)))

    def _values(self, setting: Setting, data: RankingData) -> Doubles:
        groups, threads = _groups_of(data), self._task.n_threads
        weights = weights_of(setting, self.fields)
        scores = groups.scores(self._ranker._model(setting), weights, threads)
        return self._ranker.metric.per_query(data.y, Ranking.of(scores, groups, n_jobs=threads), n_jobs=threads)

    def _query_weights(self, of_rows: Doubles) -> Doubles:
        groups = self._parts[0].groups
        return np.asarray(groups.reduce(np.add, of_rows) / groups.sizes)


def weights_of(setting: Setting, fields: Mapping[str, float]) -> dict[str, float]:
    """Return the weights of fields, those of the setting if it has any."""
    return {name: setting.get(WEIGHT + name, weight) for name, weight in fields.items()}


def _mean(values: Doubles, weights: Doubles | None) -> float:
    counted = ~np.isnan(values)
    if not counted.any():
        return 0.0
    return float(np.average(values[counted], weights=None if weights is None else weights[counted]))


def _groups_of(data: RankingData) -> TextGroups:
    if not isinstance(data.groups, TextGroups):
        raise InputError(
            "This ranker scores text: fit it on TextRankingData, which rankwright.text.FeatureSet.judged makes, "
            f"not on {type(data).__name__} without text."
        )
    return data.groups
