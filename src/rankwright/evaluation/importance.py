"""Permutation importance: how far a metric falls if the values of a feature are shuffled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.data.alignment import aligned
from rankwright.errors import InputError
from rankwright.evaluation.measurement import Predicts, evaluate
from rankwright.metrics import parse
from rankwright.models.fitted import scorer_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.data import RankingData
    from rankwright.metrics import Metric


@dataclass(frozen=True, eq=False)
class PermutationImportance:
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
    """

    metric: str
    value: float
    drops: NDArray[np.float64]

    @property
    def means(self) -> NDArray[np.float64]:
        """The mean fall of each feature."""
        return np.asarray(self.drops.mean(axis=1))

    @property
    def deviations(self) -> NDArray[np.float64]:
        """The standard deviation of each feature's fall over the repeats."""
        return np.asarray(self.drops.std(axis=1))


def permutation_importance(
    scorer: Predicts,
    data: RankingData,
    *,
    metric: Metric | str,
    repeats: int = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> PermutationImportance:
    """Shuffle the values of one feature over all documents, and measure how far the mean of the metric falls.

    Correlated features share their importance: if one is shuffled, the model still has the others.

    Parameters
    ----------
    scorer
        A scorer or a fitted ranker.
    data
        Judged documents, preferably not those that the model was fitted on.
    metric
        The metric, or its name.
    repeats
        How many times each feature is shuffled.
    random_state
        Seed of the shuffling; each feature has its own random stream.
    """
    _require_whole("repeats", repeats, 1)
    _require_whole("random_state", random_state, 0)
    asked = parse(metric) if isinstance(metric, str) else metric
    model = scorer_of(scorer)
    if model is not None:
        data = aligned(data, model)  # the features are shuffled by position

    def mean_with(X: NDArray[np.float32]) -> float:
        scores = scorer.predict(X, data.qid, n_jobs=n_jobs)
        return evaluate({"": scores}, data, metrics=[asked], n_jobs=n_jobs).mean("", str(asked))

    value = mean_with(data.X)
    drops = np.zeros((data.n_features, repeats))
    shuffled = data.X.copy()
    for feature in _used_features(scorer, data):
        generator = np.random.default_rng([random_state, int(feature)])
        for repeat in range(repeats):
            shuffled[:, feature] = generator.permutation(data.X[:, feature])
            drops[feature, repeat] = value - mean_with(shuffled)
        shuffled[:, feature] = data.X[:, feature]
    return PermutationImportance(str(asked), value, drops)


def _used_features(scorer: Predicts, data: RankingData) -> NDArray[np.int64]:
    """Return the features that the model uses; all features if it does not report them."""
    model = getattr(scorer, "model_", scorer)
    return np.asarray(getattr(model, "used_features", np.arange(data.n_features)))


def _require_whole(name: str, number: int, least: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
        expected = "a positive integer" if least == 1 else f"an integer of at least {least}"
        raise InputError(f"{name} must be {expected}, not {number!r}.")
