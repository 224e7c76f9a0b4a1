"""What RankBoost and MPBoost share: boosting over pairs of documents under the exponential loss."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from rankwright.boosting import boost, weighted_trees
from rankwright.errors import InputError
from rankwright.learners import Pairs
from rankwright.rankers.parameters import require_one_of, require_whole_number
from rankwright.rankers.ranker import Ranker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.boosting import Rule
    from rankwright.learners import PairSignal, WeakLearner
    from rankwright.learners.pairs import Strength
    from rankwright.models import TreeEnsemble
    from rankwright.training import FitTask, History


class PairRanker(Ranker):
    """Boosts trees over pairs; a subclass gives strength, rule and learner, and has these parameters."""

    rounds: int
    pair_weights: str
    patience: int | None

    def _fit(self, task: FitTask) -> tuple[TreeEnsemble, History]:
        self._check_parameters()
        train = task.train
        pairs = Pairs.of(
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
        """Return how strongly documents of two labels are to be kept apart."""

    @abstractmethod
    def _rule(self, pairs: Pairs) -> Rule[PairSignal]:
        """Return how pairs are weighed and weak rankers added."""

    @abstractmethod
    def _learner(self, task: FitTask) -> WeakLearner[PairSignal]:
        """Return what fits weak rankers."""

    def _check_parameters(self) -> None:
        require_whole_number("rounds", self.rounds, least=1)
        require_one_of("pair_weights", self.pair_weights, ("query", "uniform"))
        require_whole_number("patience", self.patience, least=1, optional=True)
