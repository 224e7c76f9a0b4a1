"""Permutation importance: how far a metric falls if the values of a feature are shuffled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.resources import resolve_threads
from rankwright.base.wording import counted, metric_value
from rankwright.data.alignment import aligned
from rankwright.evaluation.evaluate import checked_judged
from rankwright.metrics.catalogue import as_metric
from rankwright.models.other_libraries import scores_by
from rankwright.models.scorer import scorer_of
from rankwright.rankers.shared.importances import by_name, permutation_drops
from rankwright.reports.blocks import Column, Figure, Kind, Note, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Floats
    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.evaluate import Predicts
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.rankers.shared.importances import Importances
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart


@dataclass(frozen=True, eq=False, repr=False)
class PermutationImportance(Result):
    """How far the mean of a metric falls if the values of a feature are shuffled.

    Parameters
    ----------
    metric
        Name of the metric.
    value
        Its mean before shuffling.
    drops
        The fall, one row per feature and one column per repeat; exactly 0 for a feature that the model does not
        use.
    feature_names
        Names of the features, if the data have names.
    """

    metric: str
    value: float
    drops: NDArray[np.float64]
    feature_names: tuple[str, ...] | None = None

    @property
    def means(self) -> NDArray[np.float64]:
        """The mean fall of each feature."""
        return np.asarray(self.drops.mean(axis=1))

    @property
    def deviations(self) -> NDArray[np.float64]:
        """The standard deviation of each feature's fall over the repeats."""
        return np.asarray(self.drops.std(axis=1))

    def by_name(self) -> Importances:
        """Return the mean falls by name, the highest first; without names, by number from 1."""
        return by_name(self.means, self.feature_names)

    @property
    def summary(self) -> str:
        """The feature without which the metric falls most."""
        name, fall = next(iter(self.by_name().items()))
        before, after = metric_value(self.value), metric_value(self.value - fall)
        return f"The mean {self.metric} falls most, from {before} to {after}, if feature {name} is shuffled."

    def blocks(self) -> list[Block]:
        """Return one row per feature, the most important first, and the bars."""
        deviations = by_name(self.deviations, self.feature_names)
        columns = [Column("feature", Kind.TEXT), Column(f"fall of {self.metric}"), Column("standard deviation")]
        rows = [(name, fall, deviations[name]) for name, fall in self.by_name().items()]
        about = Note(f"Each feature was shuffled {counted(self.drops.shape[1], 'time')}.")
        return [Table(columns, rows), about, Figure(self.chart)]

    def chart(self) -> Chart:
        """Return one bar per feature, as long as the metric falls."""
        return self.by_name().chart(f"fall of {self.metric}")


def permutation_importance(
    scorer: Predicts,
    data: RankingData,
    *,
    metric: MetricLike = "ndcg@10",
    repeats: int = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> PermutationImportance:
    """Shuffle the values of one feature over all documents, and measure how far the mean of the metric falls.

    Correlated features share their importance: if one is shuffled, the model still has the others.

    Parameters
    ----------
    scorer
        A fitted ranker, a scorer or another library's fitted model.
    data
        Judged documents, preferably not those that the model was fitted on.
    metric
        The metric, its name, or a function of labels in ranked order.
    repeats
        How many times each feature is shuffled.
    random_state
        Seed of the shuffling; each feature has its own random stream.

    Examples
    --------
    >>> judged = rw.synthetic.gaussian_queries(20, spread=(0.2, 5))  # the second feature is noisy
    >>> ranker = rw.RankSVM().fit(judged)
    >>> falls = rw.permutation_importance(ranker, judged, metric="map", repeats=2)
    >>> list(falls.by_name())  # features by how far the metric falls without them
    ['1', '2']
    """
    _require_whole("repeats", repeats, 1)
    _require_whole("random_state", random_state, 0)
    judged, asked, threads = checked_judged(data), as_metric(metric), resolve_threads(n_jobs)
    model = scorer_of(scorer)
    if model is not None:
        judged = aligned(judged, model)  # the features are shuffled by position

    def value_of(X: Floats) -> float:
        shown = judged.with_features(X, judged.feature_names, judged.categories)
        scores = scores_by(scorer, shown, n_threads=threads)
        return asked.mean(judged.y, scores, judged.groups, n_jobs=threads)

    value, drops = permutation_drops(
        value_of, judged.X, _used_features(scorer, judged), repeats=repeats, random_state=random_state
    )
    return PermutationImportance(str(asked), value, drops, judged.feature_names)


def _used_features(scorer: Predicts, data: RankingData) -> NDArray[np.int64]:
    """Return the features that the model uses; all features if it does not report them."""
    model = scorer_of(scorer) or scorer
    return np.asarray(getattr(model, "used_features", np.arange(data.n_features)))


def _require_whole(name: str, number: int, least: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
        expected = "a positive integer" if least == 1 else f"an integer of at least {least}"
        raise InputError(f"{name} must be {expected}, not {number!r}.")
