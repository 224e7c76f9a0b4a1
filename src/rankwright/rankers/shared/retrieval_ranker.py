"""The base class of BM25 and language models as rankers, and the search that tunes their parameters."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.groups import Ranking
from rankwright.metrics.gain import NDCG
from rankwright.models.retrieval import RetrievalScorer
from rankwright.rankers.parameters.declaration import MetricParameter, parameter
from rankwright.rankers.ranker import Ranker
from rankwright.text.retrieval import RetrievalModel, state_of_model
from rankwright.text.text_documents import TextGroups
from rankwright.training.history import History, Round

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.models.scorer import Scorer
    from rankwright.training.fit_task import FitTask

WEIGHT = "weight of "  # a field's name follows
LEVELS = 3  # how often steps are halved
MAX_MOVES = 4  # per level

Setting = dict[str, float]


@dataclass(frozen=True)
class Axis:
    """The numbers that one parameter may take: those of the grid, then all from `low` to `high`.

    Neighbours on the grid differ by `step`, or by a factor of `step` if `log`.
    """

    grid: tuple[float, ...]
    low: float
    high: float
    step: float = 0.0
    log: bool = False

    @classmethod
    def fixed(cls, value: float) -> Axis:
        """Return an axis with a single number."""
        return cls((value,), value, value)

    def neighbours(self, value: float, level: int) -> list[float]:
        """Return the numbers one step below and above; steps are halved at each level, from 1."""
        part = 0.5**level
        around = (
            [value * self.step**-part, value * self.step**part]
            if self.log
            else [value - self.step * part, value + self.step * part]
        )
        inside = (round(min(max(number, self.low), self.high), 6) for number in around)
        return [number for number in dict.fromkeys(inside) if number != value]


def search_settings(axes: Mapping[str, Axis], value_of: Callable[[Setting], float]) -> None:
    """Call `value_of` with settings, each once: all of the grid, then ever closer neighbours of the best so far.

    The caller remembers the values. Of equal settings the first is the best.
    """
    values: dict[tuple[float, ...], float] = {}

    def try_all(points: Iterator[tuple[float, ...]]) -> None:
        for point in points:
            if point not in values:
                values[point] = value_of(dict(zip(axes, point, strict=True)))

    try_all(product(*(axis.grid for axis in axes.values())))
    for level in range(1, LEVELS + 1):
        for _ in range(MAX_MOVES):
            best = max(values, key=values.__getitem__)
            try_all(_around(best, [*axes.values()], level))
            if max(values, key=values.__getitem__) == best:
                break


def _around(point: Sequence[float], axes: Sequence[Axis], level: int) -> Iterator[tuple[float, ...]]:
    for number, axis in enumerate(axes):
        for neighbour in axis.neighbours(point[number], level):
            yield (*point[:number], neighbour, *point[number + 1 :])


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
        tried = Round(
            number=len(self.rounds) + 1,
            weight=1.0,
            train=_mean(train, by_query),
            validation=_mean(validation[0], None) if validation else None,
            diagnostics=dict(setting),
            values=validation[0] if validation else None,
        )
        if self._task.on_round is not None:
            self._task.on_round(tried)
        self.settings.append(setting)
        self.rounds.append(tried)
        return _mean(train, by_query)

    def best(self) -> int:
        """Return the index of the setting to keep, the first of equal ones."""
        values = [tried.train if tried.validation is None else tried.validation for tried in self.rounds]
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
