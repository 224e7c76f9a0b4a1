"""AdaRank (Xu & Li, SIGIR 2007): boosting that maximises a ranking metric directly."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.boosting import Monitor, boost
from rankwright.data import Ranking, RankingData
from rankwright.errors import InputError
from rankwright.learners import BestFeature, LeastLossFeature, QueryWeights
from rankwright.metrics import NDCG, Metric
from rankwright.models import FeatureScorer, LinearScorer
from rankwright.rankers.parameters import require_one_of, require_whole_number
from rankwright.rankers.ranker import Ranker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.boosting import History, Member
    from rankwright.rankers.ranker import FitTask

    Doubles = NDArray[np.float64]

LEARNERS = {"loss": LeastLossFeature, "measure": BestFeature}
DIRECTIONS = {"up": (1,), "both": (1, -1)}
ROUNDING = 1e-9  # how far a metric of at most 1 may come out above it


@dataclass(frozen=True)
class AdaRankRule:
    """Weights queries by how badly the ensemble ranks them (figure 1 of the paper)."""

    train: RankingData
    metric: Metric
    n_threads: int

    def first_signal(self, scores: Doubles) -> QueryWeights:
        """P_1(i) = 1 / m."""
        n_queries = len(self.train.groups)
        return QueryWeights(np.full(n_queries, 1.0 / n_queries), scores, loss=np.inf)

    def signal(self, scores: Doubles) -> QueryWeights:
        """P_t+1(i) = exp(-E(f_t on query i)), over their sum."""
        losses = np.exp(-self.quality(scores))
        loss = fsum(losses)
        return QueryWeights(losses / loss, scores, loss)

    def step(self, signal: QueryWeights, outputs: Doubles) -> float | None:
        """alpha_t = 1/2 ln of sum P_t(i)(1 + E(h_t)) over sum P_t(i)(1 - E(h_t)).

        None where the loss of equation 8 no longer falls, which is where the paper's experiments stop.
        """
        alpha = float(signal.half_log_odds(self.quality(outputs)))
        if alpha <= 0.0 or self._loss(signal.scores + alpha * outputs) >= signal.loss:
            return None
        return alpha

    def quality(self, scores: Doubles) -> Doubles:
        """E of every query."""
        ranking = Ranking.of(scores, self.train.groups, n_threads=self.n_threads)
        return self.metric.per_query(self.train.y, ranking, n_threads=self.n_threads)

    def _loss(self, scores: Doubles) -> float:
        """Return the sum over queries of exp(-E)."""
        return fsum(np.exp(-self.quality(scores)))


class AdaRank(Ranker):
    """Boosts single features, each round for the queries that are still ranked badly.

    Its `grid` for tuning: both ways to choose a feature, and whether one may also rank downwards.

    Parameters
    ----------
    metric
        The measure E to maximise, in [-1, 1].
    rounds
        Most weak rankers to add; it stops earlier where the measure no longer improves.
    choose
        How the next feature is chosen: `"loss"` by the loss of the ensemble with it (equation 8), `"measure"`
        by its own weighted measure (section 3.6), which soon repeats itself.
    directions
        Which way a feature may rank: `"up"` where a higher value is better, as in LETOR, or `"both"`.
    patience
        Rounds without a better validation value before stopping; None goes on.
    n_threads
        Threads to use, None for all that this process may; the model does not depend on it.
    """

    name: ClassVar[str] = "adarank"
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {"choose": ("loss", "measure"), "directions": ("up", "both")}

    def __init__(
        self,
        metric: Metric = NDCG(),  # noqa: B008  # a frozen value
        *,
        rounds: int = 100,
        choose: str = "loss",
        directions: str = "up",
        patience: int | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.rounds = rounds
        self.choose = choose
        self.directions = directions
        self.patience = patience
        self.n_threads = n_threads

    def _fit(self, task: FitTask) -> tuple[LinearScorer, History]:
        self._check_parameters()
        if task.weights is not None:
            raise InputError("AdaRank takes no weights: it weighs queries itself.")
        judged = _queries_that_count(task.train, self.metric, task.n_threads)
        monitor = Monitor(
            self.metric,
            judged,
            task.validation,
            patience=self.patience,
            on_round=task.on_round,
            n_threads=task.n_threads,
        )
        rule = AdaRankRule(judged, self.metric, task.n_threads)
        missing = _lowest_values(task.train)
        directions = DIRECTIONS[self.directions]
        learner = LEARNERS[self.choose](
            judged, self.metric, missing=missing, directions=directions, n_threads=task.n_threads
        )
        _require_unit_range(self.metric, learner.quality)
        members = boost(rule, learner, start=np.zeros(len(judged)), rounds=self.rounds, monitor=monitor)
        if not members:
            raise InputError(f"There is nothing to learn: no feature alone has {self.metric} above 0.")
        return _as_linear(members, missing), monitor.history

    def _check_parameters(self) -> None:
        require_whole_number("rounds", self.rounds, least=1)
        require_whole_number("patience", self.patience, least=1, optional=True)
        require_one_of("choose", self.choose, tuple(LEARNERS))
        require_one_of("directions", self.directions, tuple(DIRECTIONS))


def _queries_that_count(train: RankingData, metric: Metric, n_threads: int) -> RankingData:
    """Return the training data without the queries that every ranking is equally good at."""
    rankings = (Ranking.of(scores, train.groups, n_threads=n_threads) for scores in (train.y, -train.y))
    best, worst = (metric.per_query_with_empty(train.y, one, n_threads=n_threads) for one in rankings)
    kept = np.flatnonzero(best > worst)  # never true of an empty query's NaN
    if len(kept) == 0:
        raise InputError(f"There is nothing to learn: every ranking of every query has the same {metric}.")
    return train if len(kept) == len(train.groups) else train.take_queries(kept)


def _require_unit_range(metric: Metric, quality: Doubles) -> None:
    if np.abs(quality).max() > 1.0 + ROUNDING:
        raise InputError(
            f"AdaRank needs a metric between -1 and 1; {metric} is {quality.min():g} to {quality.max():g} here."
        )


def _lowest_values(train: RankingData) -> Doubles:
    """Return each feature's lowest value in training, which a missing one counts as; 0 where all are missing."""
    lowest: Doubles = np.fmin.reduce(train.X, axis=0).astype(np.float64)
    return np.where(np.isnan(lowest), 0.0, lowest)


def _as_linear(members: Sequence[Member], missing: Doubles) -> LinearScorer:
    """Return the weighted features as one linear scorer: f = sum of alpha_t x_k(t)."""
    weights = np.zeros(len(missing))
    for weight, model in members:
        assert isinstance(model, FeatureScorer)
        weights[model.feature] += weight * model.direction
    return LinearScorer(weights, missing)
