"""Base of RankNet, LambdaRank and ListNet: a small network trained on one query after another."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.learners.network import Network
from rankwright.metrics import NDCG, Metric
from rankwright.models.scaled import network_of_columns, over_columns
from rankwright.rankers.parameters import require_number, require_one_of, require_whole_number
from rankwright.rankers.scaled import ScaledRanker
from rankwright.training.scaling import SCALINGS, learned_scaling, scaled_features

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.data.scaling import Scaling
    from rankwright.metrics.lambdas import Pull
    from rankwright.models import Scorer
    from rankwright.training import FitTask, History, QueryLabels


class NetworkRanker(ScaledRanker):
    """Trains a network by gradient descent, one step per query; a subclass gives the loss.

    Queries whose documents all have the same label are not informative; they are skipped and counted.

    Parameters
    ----------
    metric
        What judges the rounds.
    rounds
        Most times to go through the training queries; with a validation part the best number of them is kept.
    learning_rate
        About how far each query's step moves every weight (Adam's rule).
    hidden
        The units of each hidden layer, or of the only one; without any, the score is a weighted sum of the scaled
        features.
    scaling
        `"query-zscore"` or `"query-minmax"` (within the query), `"global"` (by the training documents' mean and
        standard deviation) or `"none"`; it becomes part of the model.
    patience
        Rounds without a better validation value before stopping; None goes on.
    seed
        Of all that is drawn; the same seed gives the same model.
    n_threads
        Threads to use, None for all that this process may; the model does not depend on it.
    """

    def __init__(
        self,
        metric: Metric = NDCG(k=10),  # noqa: B008  # a frozen value
        *,
        rounds: int = 100,
        learning_rate: float = 0.0005,
        hidden: Sequence[int] | int = (),
        scaling: str = "query-zscore",
        patience: int | None = 30,
        seed: int = 0,
        n_threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.hidden = hidden
        self.scaling = scaling
        self.patience = patience
        self.seed = seed
        self.n_threads = n_threads

    @abstractmethod
    def _pull(self, judged: QueryLabels) -> Pull:
        """Return the negative derivative of a query's loss by its scores, as `Network.learn` takes it."""

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        self._check_parameters()
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
        random = np.random.default_rng(self.seed)
        groups, rate = task.train.labels.groups, self.learning_rate
        return Network(X, groups, hidden=_layers(self.hidden), learning_rate=rate, random=random)

    def _check_parameters(self) -> None:
        require_whole_number("rounds", self.rounds, least=1)
        require_number("learning_rate", self.learning_rate, above=0.0)
        for units in _layers(self.hidden):
            require_whole_number("hidden", units, least=1)
        require_one_of("scaling", self.scaling, SCALINGS)
        require_whole_number("patience", self.patience, least=1, optional=True)
        require_whole_number("seed", self.seed, least=0)


def _layers(hidden: Any) -> tuple[int, ...]:
    """Return the number of units of each hidden layer."""
    return tuple(hidden) if isinstance(hidden, list | tuple) else (hidden,)
