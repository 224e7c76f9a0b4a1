"""How much a ranking owes to each feature, by taking the feature away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.errors import InputError
from rankwright.evaluation.measurement import Predicts, evaluate
from rankwright.metrics import parse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.data import RankingData
    from rankwright.metrics import Metric


@dataclass(frozen=True, eq=False)
class PermutationImportance:
    """How far a metric's mean falls when a feature's values are shuffled.

    Parameters
    ----------
    metric
        The metric's name.
    value
        Its mean with nothing shuffled.
    drops
        The fall, a row a feature and a column a repeat; exactly 0 for a feature the model does not use.
    """

    metric: str
    value: float
    drops: NDArray[np.float64]

    @property
    def means(self) -> NDArray[np.float64]:
        """The mean fall for each feature."""
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
    """Shuffle one feature's values over all documents, and measure how far the metric's mean falls.

    Features that stand in for each other share what they are worth: shuffling one leaves the others.

    Parameters
    ----------
    scorer
        A scorer or a fitted ranker.
    data
        Judged documents, best those that the model was not fitted on.
    metric
        What to measure, by value or by name.
    repeats
        How often each feature is shuffled.
    random_state
        Of the shuffling; each feature draws from a stream of its own.
    """
    _require_whole("repeats", repeats, 1)
    _require_whole("random_state", random_state, 0)
    asked = parse(metric) if isinstance(metric, str) else metric

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
    """Return the features that need predictions: all, where what scores does not say which it uses."""
    model = getattr(scorer, "model_", scorer)
    return np.asarray(getattr(model, "used_features", np.arange(data.n_features)))


def _require_whole(name: str, number: int, least: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
        raise InputError(f"{name} must be a whole number from {least}, not {number!r}.")
