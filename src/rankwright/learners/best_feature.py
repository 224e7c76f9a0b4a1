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
    from rankwright.arrays import Doubles
    from rankwright.data import RankingData
    from rankwright.metrics import Metric


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
    repeats
        What may be chosen again: any feature (`"allow"`), none (`"once"`), or one that still lowers the ensemble's
        loss (`"aside"`).
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
        repeats: str = "allow",
        n_threads: int,
    ) -> None:
        self.train = train
        self.metric = metric
        self.repeats = repeats
        self.n_threads = n_threads
        self._taken: set[int] = set()
        self._candidates = [
            FeatureScorer(feature, direction, n_features=train.n_features, missing=missing[feature])
            for feature in range(train.n_features)
            for direction in directions
        ]

    def fit(self, signal: QueryWeights) -> Weak:
        """Return the feature that does best on the queries with weight."""
        best_first = np.argsort(-self._worth(signal), kind="stable")
        chosen = next((one for one in best_first if self._may_be_taken(one, signal)), best_first[0])
        self._taken.add(self._candidates[chosen].feature)
        return self._weak(int(chosen))

    def _worth(self, signal: QueryWeights) -> Doubles:
        """Return what the choice maximises, of every candidate."""
        return np.asarray(signal.mean(self.quality))

    def _may_be_taken(self, candidate: int, signal: QueryWeights) -> bool:
        if self.repeats == "allow" or self._candidates[candidate].feature not in self._taken:
            return True
        if self.repeats == "once":
            return False
        step = float(signal.half_log_odds(self.quality[candidate]))
        return self._loss(signal, step, self._candidates[candidate]) < signal.loss

    @cached_property
    def quality(self) -> Doubles:
        """The metric of every candidate (row) on every query (column)."""
        return np.stack([self._measure(one.predict(self.train)) for one in self._candidates])

    def _measure(self, scores: Doubles) -> Doubles:
        ranking = Ranking.of(scores, self.train.groups, n_threads=self.n_threads)
        return self.metric.per_query(self.train.y, ranking, n_threads=self.n_threads)

    def _loss_with(self, signal: QueryWeights) -> Doubles:
        """Return the ensemble's loss with each candidate in it."""
        steps = signal.half_log_odds(self.quality)
        return np.array([self._loss(signal, *pair) for pair in zip(steps, self._candidates, strict=True)])

    def _loss(self, signal: QueryWeights, step: float, candidate: FeatureScorer) -> float:
        if step <= 0.0:
            return np.inf
        quality = self._measure(signal.scores + step * candidate.predict(self.train))
        return fsum(np.exp(-quality))

    def _weak(self, candidate: int) -> Weak:
        model = self._candidates[candidate]
        return Weak(model, model.predict(self.train))


class LeastLossFeature(BestFeature):
    """The feature whose addition leaves the least loss: min over k of sum_i exp(-E(f + alpha_k x_k on query i)).

    That is equation 8 of Xu & Li (2007) itself. The weighted measure approximates it, and since weights differ
    by a factor of e at the most, it soon chooses the same feature again and again.
    """

    def _worth(self, signal: QueryWeights) -> Doubles:
        return -self._loss_with(signal)
