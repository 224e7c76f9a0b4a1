"""The base class of RankBoost and MPBoost: boosting over pairs of documents under the exponential loss."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError
from rankwright.rankers.parameters.checks import OneOf
from rankwright.rankers.parameters.declaration import StoppingParameters, ThresholdParameters, parameter
from rankwright.rankers.parameters.search_space import Choices
from rankwright.rankers.ranker import Ranker
from rankwright.training.boosting_loop import Rule, boost, weighted_trees
from rankwright.training.learners.pair_signal import LabelPairs, PairSignal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.models.trees import TreeEnsemble
    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import History
    from rankwright.training.learners.pair_signal import Strength
    from rankwright.training.learners.signal import WeakLearner


class PairRanker(StoppingParameters, ThresholdParameters, Ranker):
    """Boosts trees over pairs of documents; a subclass defines strength, rule and learner."""

    rounds: int = parameter(default=300)
    pair_weights: str = parameter(
        OneOf(("uniform", "query")),
        "Initial weights of pairs: 'uniform' gives every pair the same weight, 'query' every query.",
        default="uniform",
        tune=("uniform", "query"),
        search=Choices("uniform", "query"),
    )

    def _fit(self, task: FitTask) -> tuple[TreeEnsemble, History]:
        train = task.train
        pairs = LabelPairs.of(
            train.labels,
            self._strength(train.labels.y),
            weights=task.weights,
            by_query=self.pair_weights == "query",
            n_threads=task.n_threads,
        )
        monitor = task.monitor(self.metric, train.labels, patience=self.patience)
        start = np.zeros(len(train))
        members = boost(self._rule(pairs), self._learner(task), start=start, rounds=self.rounds, monitor=monitor)
        if not members:
            raise InputError("There is nothing to learn: no feature tells better documents from worse ones.")
        return weighted_trees(members), monitor.history

    @abstractmethod
    def _strength(self, labels: NDArray[np.float64]) -> Strength:
        """Return how strongly documents of two labels should be separated."""

    @abstractmethod
    def _rule(self, pairs: LabelPairs) -> Rule[PairSignal]:
        """Return the rule that weights pairs and weak rankers."""

    @abstractmethod
    def _learner(self, task: FitTask) -> WeakLearner[PairSignal]:
        """Return the learner of weak rankers."""
