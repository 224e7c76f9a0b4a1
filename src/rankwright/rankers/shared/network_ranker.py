"""The base class of RankNet, LambdaRank and ListNet: a small network trained on one query after the other."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.models.network import network_of_columns
from rankwright.models.query_features import over_columns
from rankwright.rankers.parameters.checks import Integer, ListOf, OneOf
from rankwright.rankers.parameters.declaration import parameter
from rankwright.rankers.parameters.search_space import Choices, Range
from rankwright.rankers.parameters.shared_parameters import (
    RandomParameters,
    ShrinkageParameters,
    StoppingParameters,
)
from rankwright.rankers.shared.scaled_ranker import ScaledRanker
from rankwright.training.learners.network_learner import Network
from rankwright.training.scaling_fit import learned_scaling, scaled_features

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.data.scaling import Scaling
    from rankwright.metrics.protocols import Pull
    from rankwright.models.scorer import Scorer
    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import History
    from rankwright.training.training_set import QueryLabels


class NetworkRanker(StoppingParameters, ShrinkageParameters, RandomParameters, ScaledRanker):
    """Trains a neural network by gradient descent, one step per query; a subclass defines the loss of a query.

    Queries whose documents all have the same label are not informative: they are skipped and counted.
    """

    rounds: int = parameter(
        meaning="Maximum number of passes over the training queries. Validation data choose how many are kept.",
        default=100,
    )
    learning_rate: float = parameter(
        meaning="Step size: with Adam, about how far a step moves each weight; with plain descent, the factor of "
        "the gradient.",
        default=0.0005,
        search=Range(1e-5, 1e-2, log=True),
    )
    hidden: Sequence[int] | int = parameter(
        ListOf(Integer(1), or_one=True),
        "Number of units of each hidden layer. Empty: the score is a weighted sum of the scaled features.",
        default=(),
        search=Choices((), (10,), (32,), (32, 16)),
    )
    optimiser: str = parameter(
        OneOf(("adam", "descent")),
        "How a step moves the weights: by 'adam', or by plain gradient 'descent', as in the papers.",
        default="adam",
    )
    patience: int | None = parameter(default=30)

    @abstractmethod
    def _pull(self, judged: QueryLabels) -> Pull:
        """Return the negative derivative of a query's loss by its scores, as `Network.learn` takes it."""

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        scaling, judged = learned_scaling(self.scaling, task.train), task.train.labels
        network = self._network(task, scaling)
        queries, pull = np.flatnonzero(judged.varied), self._pull(judged)
        self.skipped_queries_ = len(judged.groups) - len(queries)
        monitor = self._monitor(judged, scaling, task, patience=self.patience)
        models: list[Scorer] = []
        with monitor:  # Ctrl-C ends the loop, not the fit
            for _ in range(self.rounds):
                network.learn(queries, pull, task.weights)
                models.append(network_of_columns(network.widths, network.parameters, scaling))
                if monitor.observe_model(models[-1], network.scores(n_threads=task.n_threads)):
                    break
        return over_columns(models[monitor.best_round - 1], scaling), monitor.history

    def _network(self, task: FitTask, scaling: Scaling) -> Network:
        # In canonical order, so that neither the order of rows nor the names of queries change the model.
        X = scaled_features(scaling, task.train).astype(np.float32)
        random = np.random.default_rng(self.random_state)
        return Network(
            X,
            task.train.labels.groups,
            hidden=_layers(self.hidden),
            learning_rate=self.learning_rate,
            adam=self.optimiser == "adam",
            random=random,
        )


def _layers(hidden: Any) -> tuple[int, ...]:
    """Return the number of units of each hidden layer."""
    return tuple(hidden) if isinstance(hidden, list | tuple) else (hidden,)
