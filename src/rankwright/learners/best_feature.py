"""Single features as weak rankers (Xu & Li 2007, section 3.6)."""

from __future__ import annotations

from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from rankwright.data import Ranking
from rankwright.learners.signal import QueryWeights, Weak
from rankwright.models import FeatureScorer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.data import RankingData
    from rankwright.metrics import Metric

    Doubles = NDArray[np.float64]


class BestFeature:
    """The feature with the best weighted measure: max over k of sum_i P(i) E(x_k on query i).

    How well a feature ranks a query never changes, so it is measured once for all rounds; a round is then one
    product of a small matrix with the weights.

    Parameters
    ----------
    train
        The documents to rank.
    metric
        The measure E.
    missing
        What a missing value of each feature counts as.
    directions
        1 lets a feature rank as it is, -1 reversed.
    n_threads
        Threads to use.
    """

    def __init__(
        self,
        train: RankingData,
        metric: Metric,
        *,
        missing: Doubles,
        directions: tuple[int, ...] = (1,),
        n_threads: int,
    ) -> None:
        self.train = train
        self.metric = metric
        self.n_threads = n_threads
        self._candidates = [
            FeatureScorer(feature, direction, n_features=train.n_features, missing=missing[feature])
            for feature in range(train.n_features)
            for direction in directions
        ]

    def fit(self, signal: QueryWeights) -> Weak:
        """Return the feature that does best on the queries with weight."""
        return self._weak(int(np.argmax(signal.mean(self.quality))))

    @cached_property
    def quality(self) -> Doubles:
        """The metric of every candidate (row) on every query (column)."""
        return np.stack([self._measure(one.predict(self.train)) for one in self._candidates])

    def _measure(self, scores: Doubles) -> Doubles:
        ranking = Ranking.of(scores, self.train.groups, n_threads=self.n_threads)
        return self.metric.per_query(self.train.y, ranking, n_threads=self.n_threads)

    def _weak(self, candidate: int) -> Weak:
        model = self._candidates[candidate]
        return Weak(model, model.predict(self.train))


class LeastLossFeature(BestFeature):
    """The feature whose addition leaves the least loss: min over k of sum_i exp(-E(f + alpha_k x_k on query i)).

    That is equation 8 of Xu & Li (2007) itself. The weighted measure approximates it, and since weights differ
    by a factor of e at the most, it soon chooses the same feature again and again.
    """

    def fit(self, signal: QueryWeights) -> Weak:
        """Return the feature that the ensemble gains most from."""
        steps = signal.half_log_odds(self.quality)
        losses = [self._loss(signal, *pair) for pair in zip(steps, self._candidates, strict=True)]
        return self._weak(int(np.argmin(losses)))

    def _loss(self, signal: QueryWeights, step: float, candidate: FeatureScorer) -> float:
        if step <= 0.0:
            return np.inf
        quality = self._measure(signal.scores + step * candidate.predict(self.train))
        return fsum(np.exp(-quality))
