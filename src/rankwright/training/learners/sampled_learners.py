"""Weak rankers fitted on queries drawn by their weights (Xu & Li 2007, section 3.2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from rankwright.training.binning import MOST_BINS
from rankwright.training.learners.pair_signal import LabelPairs, count_pairs, equal_strength
from rankwright.training.learners.signal import Gradients, QueryWeights, Weak
from rankwright.training.learners.stump import VoteLearner
from rankwright.training.learners.tree import TreeLearner, TreeLimits, TreeSampling

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.training.training_set import TrainingSet

MIN_DOCUMENTS = 5  # of a leaf


class DrawnQueries(ABC):
    """Draws as many queries as there are, with replacement, and fits another learner to the sample.

    Parameters
    ----------
    train
        The documents to rank; outputs are in canonical order.
    random
        Generator of the draws.
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
        self._alike = 1.0 / count_pairs(train.labels)[train.labels.groups.query_of_row]
        self._learner = VoteLearner(train.binned(MOST_BINS, n_threads), directions=directions, n_threads=n_threads)

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
            train.binned(MOST_BINS, n_threads),
            groups,
            limits=TreeLimits(max_leaves, MIN_DOCUMENTS, min_hessian=1.0, l2=1.0),
            sampling=TreeSampling(1.0, "documents", 1.0),
            monotone=np.zeros(0, dtype=np.int8),
            random=random,
            n_threads=n_threads,
        )

    def _fit_to(self, times: Doubles) -> Weak:
        return self._learner.fit(Gradients(times * self._targets, times))
