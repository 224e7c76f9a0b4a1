"""Importances of features: by the gain of trees, by contributions to the score, or by permutation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import capitalised
from rankwright.reports.blocks import Column, Figure, Kind, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Floats
    from rankwright.data.dataset import RankingData
    from rankwright.metrics.base import Metric
    from rankwright.models.scorer import Scorer
    from rankwright.reports.charts.chart import Chart

REPEATS = 3
MAX_NAMED = 5  # features in the summary and in the description of a chart


def feature_importances(model: Scorer, sample: RankingData | None, metric: Metric, n_threads: int) -> Doubles:
    """Return one non-negative number per feature; their sum is 1, or 0 if the model uses no feature."""
    values = model.total_gain
    if values is None:
        if sample is None:
            raise InputError("This ranker kept no documents; fit it again to compute importances of its features.")
        try:
            values = _spread_within_queries(model.contributions(sample, n_jobs=n_threads)[:, :-1], sample)
        except InputError:  # not every kind of scorer has contributions
            values = _mean_drops(model, sample, metric, n_threads)
    total = values.sum()
    return values / total if total > 0.0 else values


class Importances(dict[str, float], Result):
    """One number per name of a feature, the highest first."""

    @property
    def summary(self) -> str:
        return self._described("importance")

    def blocks(self) -> list[Figure | Table]:
        columns = [Column("feature", Kind.TEXT), Column("importance", Kind.NUMBER, bar=True)]
        return [Figure(self.chart, "Importance of each feature."), Table(columns, list(self.items()))]

    def to_dict(self) -> dict[str, float]:
        return dict(self)

    def chart(self, label: str = "importance") -> Chart:
        """Return one bar per feature."""
        from rankwright.reports.charts.bars import bar_chart  # a fit draws nothing

        return bar_chart(self, label, description=self._described(label))

    def _described(self, label: str) -> str:
        first = ", ".join(f"{name} {value:.3g}" for name, value in list(self.items())[:MAX_NAMED])
        more = f", and {len(self) - MAX_NAMED} more" if len(self) > MAX_NAMED else ""
        return f"{capitalised(label)} of features: {first}{more}."


def by_name(values: Doubles, names: Sequence[str] | None) -> Importances:
    """Return values by the names of their features, the highest first; without names, by number from 1."""
    known = names or [str(number) for number in range(1, len(values) + 1)]
    return Importances((known[index], float(values[index])) for index in np.argsort(-values, kind="stable"))


def permutation_drops(
    value_of: Callable[[Floats], float], X: Floats, features: NDArray[np.int64], *, repeats: int, random_state: int
) -> tuple[float, Doubles]:
    """Return the value for these features, and how far it falls if one is shuffled: by feature and repeat.

    Features that are not listed have a fall of exactly 0. Each feature has its own random stream.
    """
    value, drops, shuffled = value_of(X), np.zeros((X.shape[1], repeats)), X.copy()
    for feature in features:
        generator = np.random.default_rng([random_state, int(feature)])
        for repeat in range(repeats):
            shuffled[:, feature] = generator.permutation(X[:, feature])
            drops[feature, repeat] = value - value_of(shuffled)
        shuffled[:, feature] = X[:, feature]
    return value, drops


def _spread_within_queries(contributions: Doubles, sample: RankingData) -> Doubles:
    """Return the standard deviation within queries of each feature's contribution: what it changes in a ranking.

    For a weighted sum of features this is |weight| x standard deviation of the feature within queries.
    """
    groups = sample.groups
    spread = np.zeros(contributions.shape[1])
    for rows in groups:
        part = contributions[rows]
        spread += ((part - part.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(spread / len(sample)))


def _mean_drops(model: Scorer, sample: RankingData, metric: Metric, n_threads: int) -> Doubles:
    """Return how far the mean of the metric falls if a feature is shuffled; 0 where it does not fall."""

    def value_of(X: Floats) -> float:
        shuffled = sample.with_features(X, sample.feature_names, sample.categories)
        scores = model.predict(shuffled, n_jobs=n_threads)
        return metric.mean(sample.y, scores, sample.groups, n_jobs=n_threads)

    _, drops = permutation_drops(value_of, sample.X, model.used_features, repeats=REPEATS, random_state=0)
    return np.asarray(np.maximum(drops.mean(axis=1), 0.0))
