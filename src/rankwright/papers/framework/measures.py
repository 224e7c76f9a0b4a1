"""What experiments measure of a model; each measure returns arrays by name."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.analyses.pair_errors import misordered
from rankwright.base.errors import InputError
from rankwright.evaluation.evaluate import evaluate
from rankwright.models.scorer import scorer_of
from rankwright.tuning.trials import configured

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.papers.framework.experiment import DataTrial
    from rankwright.training.history import History

FIT_SECONDS = "fit seconds"
TEST, TRAIN, VALID = "test", "train", "valid"
PAIRS, QUERIES = "pairs", "queries"


@dataclass(frozen=True)
class PerQuery:
    """Metrics of every query, named by the metric; on another part than the test part, `train map`.

    `queries` of the part tells which query each value is of, for queries that are in several trials.
    """

    metrics: tuple[str, ...]
    convention: str = "standard"
    part: str = TEST
    drop_one_label: bool = False

    def __call__(self, model: Any, trial: DataTrial, threads: int) -> dict[str, Doubles]:
        """Measure a model."""
        data = part_of(trial, self.part)
        options: dict[str, Any] = {"convention": self.convention, "drop_one_label": self.drop_one_label}
        report = evaluate({"": model.predict(data)}, data, metrics=self.metrics, n_jobs=threads, **options)
        values = {named(metric, self.part): report.per_query("", metric) for metric in report.metrics}
        return values | {named(QUERIES, self.part): np.array(report.queries).astype(np.float64)}


@dataclass(frozen=True)
class MeanOverCuts:
    """The mean of a metric over cut-offs, of every query; `metric` has {} in place of the cut-off."""

    name: str
    metric: str
    cuts: tuple[int, ...]

    def __call__(self, model: Any, trial: DataTrial, threads: int) -> dict[str, Doubles]:
        """Measure a model."""
        metrics = tuple(self.metric.format(k) for k in self.cuts)
        values = PerQuery(metrics)(model, trial, threads)
        return {self.name: np.mean([values[metric] for metric in metrics], axis=0)}


@dataclass(frozen=True)
class ByRound:
    """A metric of the model cut to numbers of rounds: `ndcg@5 by round`, one row per number, and `rounds`.

    A model of fewer rounds stays as it is.
    """

    metric: str
    rounds: tuple[int, ...]
    convention: str = "standard"
    part: str = TEST
    drop_one_label: bool = False

    def __call__(self, model: Any, trial: DataTrial, threads: int) -> dict[str, Doubles]:
        """Measure a model."""
        data, scorer = part_of(trial, self.part), scorer_of(model)
        if scorer is None or not scorer.n_rounds:
            return {}
        cuts = [min(number, scorer.n_rounds) for number in self.rounds]
        scores = {str(number): scorer.first(number).predict(data) for number in sorted(set(cuts))}
        options: dict[str, Any] = {"convention": self.convention, "drop_one_label": self.drop_one_label}
        report = evaluate(scores, data, metrics=[self.metric], n_jobs=threads, **options)
        values = np.array([report.per_query(str(number), report.metrics[0]) for number in cuts])
        return {f"{named(self.metric, self.part)} by round": values, "rounds": np.array(self.rounds, dtype=float)}


@dataclass(frozen=True)
class LabelErrors:
    """Misordered pairs of every query by pair of labels: `wrong 2 > 0`, and how many there are, `pairs 2 > 0`.

    Pairs with equal scores count one half.
    """

    labels: tuple[int, ...] = (0, 1, 2)

    def __call__(self, model: Any, trial: DataTrial, threads: int) -> dict[str, Doubles]:
        """Measure a model."""
        data = trial.test
        level = np.searchsorted(np.array(self.labels, dtype=float), data.y)
        counts = np.stack(
            [data.groups.reduce(np.add, (level == grade).astype(float)) for grade in range(len(self.labels))]
        )
        wrong = list(misordered(model.predict(data), level, data.groups, len(self.labels), threads))
        result: dict[str, Doubles] = {}
        for low in range(len(self.labels)):
            for high in range(low + 1, len(self.labels)):
                pair = f"{self.labels[high]} > {self.labels[low]}"
                result[f"wrong {pair}"] = wrong[low][:, high]
                result[f"{PAIRS} {pair}"] = counts[low] * counts[high]
        return result


@dataclass(frozen=True)
class NumberOfPairs:
    """The number of document pairs of different labels of every test query."""

    def __call__(self, _model: Any, trial: DataTrial, _threads: int) -> dict[str, Doubles]:
        """Count pairs; the model does not matter."""
        return {PAIRS: trial.test.groups.count_pairs(trial.test.y).astype(float)}


@dataclass(frozen=True)
class FitSeconds:
    """The processor time of a fit: the median of several further ones, since the first warms the machine up."""

    fits: int = 5

    def __call__(self, model: Any, trial: DataTrial, threads: int) -> dict[str, Doubles]:
        """Fit a ranker again, as often as that."""
        seconds = []
        for _ in range(self.fits):
            ranker = configured(model, {"n_jobs": threads})
            started = time.thread_time()
            ranker.fit(trial.train, validation=trial.valid)
            seconds.append(time.thread_time() - started)
        return {FIT_SECONDS: np.array([np.median(seconds)])}


@dataclass(frozen=True)
class Rounds:
    """What a ranker recorded of its rounds: `round train`, `round validation`, `round weight`, or a diagnostic."""

    names: tuple[str, ...]

    def __call__(self, model: Any, _trial: DataTrial, _threads: int) -> dict[str, Doubles]:
        """Return the curves; nothing for a model without rounds."""
        history = getattr(model, "history_", None)
        if history is None:
            return {}
        curves = {name: _recorded(history, name) for name in self.names}
        return {f"round {name}": curve for name, curve in curves.items() if np.isfinite(curve).any()}


def _recorded(history: History, name: str) -> Doubles:
    if name in (TRAIN, "validation", "weight"):
        return np.array([getattr(record, name) for record in history], dtype=np.float64)
    return history.curve(name)


def part_of(trial: DataTrial, part: str) -> RankingData:
    """Return a part of a trial by name."""
    data = {TEST: trial.test, TRAIN: trial.train, VALID: trial.valid}[part]
    if data is None:
        raise InputError(f"{trial.name} has no validation part.")
    return data


def named(metric: str, part: str) -> str:
    """Return the name under which the values of a metric on a part are kept."""
    return metric if part == TEST else f"{part} {metric}"
