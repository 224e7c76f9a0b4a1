"""AdaRank's weak rankers: single features, or votes and trees fitted to queries drawn by their weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.data.groups import Ranking
from rankwright.models.feature import FeatureScorer
from rankwright.models.linear import LinearScorer
from rankwright.training.binned_features import MAX_BINS
from rankwright.training.learners.pair_signal import LabelPairs, equal_strength
from rankwright.training.learners.signal import Gradients, QueryWeights, Weak
from rankwright.training.learners.stump import VoteLearner
from rankwright.training.learners.tree import TreeLearner, TreeLimits, TreeSampling

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.metrics.base import Metric
    from rankwright.training.training_set import TrainingSet

MIN_DOCUMENTS = 5  # of a leaf of a tree on drawn queries


class BestFeature:
    """The feature with the best weighted measure: max over k of sum_i P(i) E(x_k on query i) (section 3.6).

    The quality of a feature on a query does not change between rounds, so it is computed once; a round is then one
    product of a small matrix with the weights.

    Parameters
    ----------
    metric
        The measure E.
    missing
        Replacement for missing values, one per feature.
    directions
        1: a feature ranks by its values as they are; -1: reversed.
    repeats
        Which features may be chosen again: all (`"allow"`), none (`"once"`), or those that still lower the
        ensemble's loss (`"aside"`).
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
        """Return the feature with the best weighted quality."""
        best_first = np.argsort(-self._criterion(signal), kind="stable")
        chosen = next((number for number in best_first if self._may_be_taken(number, signal)), best_first[0])
        self._taken.add(self._candidates[chosen].feature)
        return self._weak(int(chosen))

    def _criterion(self, signal: QueryWeights) -> Doubles:
        """Return the criterion that the choice maximises, one value per candidate."""
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
        return np.stack([self._measure(candidate.predict(self.train)) for candidate in self._candidates])

    def _measure(self, scores: Doubles) -> Doubles:
        ranking = Ranking.of(scores, self.train.groups, n_jobs=self.n_threads)
        return self.metric.per_query(self.train.y, ranking, n_jobs=self.n_threads)

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

    Equation 8 of Xu & Li (2007), with the alpha of figure 1 for each feature. The weighted measure approximates
    it; but as weights differ by a factor of at most e, it soon chooses the same feature again and again.

    That alpha is not the one of least loss. When no feature lowers the loss any more, all are halved from then on,
    up to `halvings` times: h_t is then the feature times 1/2, which ranks as the feature does, so that its alpha
    stays that of figure 1.
    """

    def __init__(self, *data: Any, halvings: int = 0, **options: Any) -> None:
        super().__init__(*data, **options)
        self._halvings, self._scale = halvings, 1.0

    def fit(self, signal: QueryWeights) -> Weak:
        """Return the feature, halved as often as it takes to lower the loss."""
        while self._halvings > 0 and not self._loss_with(signal).min() < signal.loss:
            self._halvings, self._scale = self._halvings - 1, self._scale / 2
        return super().fit(signal)

    def _criterion(self, signal: QueryWeights) -> Doubles:
        return -self._loss_with(signal)

    def _loss(self, signal: QueryWeights, step: float, candidate: FeatureScorer) -> float:
        return super()._loss(signal, self._scale * step, candidate)

    def _weak(self, candidate: int) -> Weak:
        if self._scale == 1.0:
            return super()._weak(candidate)
        whole = self._candidates[candidate]
        weights, missing = np.zeros(self.train.n_features), np.zeros(self.train.n_features)
        weights[whole.feature], missing[whole.feature] = self._scale * whole.direction, whole.missing
        return Weak(LinearScorer(weights, missing), self._scale * whole.predict(self.train))


class DrawnQueries(ABC):
    """Draws as many queries as there are, with replacement, and fits another learner to them (section 3.2).

    Parameters
    ----------
    train
        The documents to rank; outputs are in canonical order.
    """

    def __init__(self, train: TrainingSet, random: np.random.Generator) -> None:
        self.train, self.random = train, random

    def fit(self, signal: QueryWeights) -> Weak:
        """Return a weak model fitted to a sample of queries."""
        drawn = self.random.multinomial(len(self.train.labels.groups), signal.weights / signal.weights.sum())
        return self._fit_to(drawn[self.train.labels.groups.query_of_row].astype(np.float64))

    @abstractmethod
    def _fit_to(self, times: Doubles) -> Weak:
        """Fit to documents weighted by how often their query was drawn."""


class DrawnVotes(DrawnQueries):
    """RankBoost's vote: the threshold that orders most pairs of the sample correctly."""

    def __init__(
        self, train: TrainingSet, directions: tuple[int, ...], random: np.random.Generator, n_threads: int
    ) -> None:
        super().__init__(train, random)
        self.n_threads = n_threads
        self._alike = 1.0 / train.labels.pair_divisors[train.labels.groups.query_of_row]
        self._learner = VoteLearner(train.binned(MAX_BINS, n_threads), directions=directions, n_threads=n_threads)

    def _fit_to(self, times: Doubles) -> Weak:
        pairs = LabelPairs.of(
            self.train.labels, equal_strength, weights=times * self._alike, n_threads=self.n_threads
        )
        return self._learner.fit(pairs.signal(np.zeros(len(times))))


class DrawnTrees(DrawnQueries):
    """A regression tree on labels, taken as differences from their query's mean."""

    def __init__(self, train: TrainingSet, max_leaves: int, random: np.random.Generator, n_threads: int) -> None:
        super().__init__(train, random)
        y, groups = train.labels
        query = groups.query_of_row
        self._targets = y - (np.bincount(query, y) / groups.sizes)[query]
        self._learner = TreeLearner(
            train.binned(MAX_BINS, n_threads),
            groups,
            limits=TreeLimits(max_leaves, MIN_DOCUMENTS, min_hessian=1.0, l2=1.0),
            sampling=TreeSampling(1.0, "documents", 1.0),
            monotone=np.zeros(0, dtype=np.int8),
            random=random,
            n_threads=n_threads,
        )

    def _fit_to(self, times: Doubles) -> Weak:
        return self._learner.fit(Gradients(times * self._targets, times))
