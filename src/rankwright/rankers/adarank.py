"""AdaRank (Xu & Li, SIGIR 2007): boosting that maximises a ranking metric directly."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import exp, fsum, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.groups import Ranking
from rankwright.metrics.gain import NDCG
from rankwright.models.feature import FeatureScorer
from rankwright.models.linear import LinearScorer
from rankwright.rankers.parameters.checks import Flag, Integer, OneOf
from rankwright.rankers.parameters.declaration import (
    DIRECTIONS,
    DirectionParameters,
    MetricParameter,
    RandomParameters,
    StoppingParameters,
    parameter,
)
from rankwright.rankers.parameters.search_space import Choices
from rankwright.rankers.ranker import Ranker, require_metric_range
from rankwright.training.boosting_loop import boost, weighted_trees
from rankwright.training.learners.query_learners import BestFeature, DrawnTrees, DrawnVotes, LeastLossFeature
from rankwright.training.learners.signal import QueryWeights, WeakLearner
from rankwright.training.training_set import QueryLabels, TrainingSet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.metrics.base import Metric
    from rankwright.models.scorer import Scorer
    from rankwright.models.trees import TreeEnsemble
    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import History
    from rankwright.training.monitor import WeightedModel

CHOICES = {"loss": LeastLossFeature, "measure": BestFeature}

# Whether a round improved the ensemble, given the query weights before and after it.
STOPS: dict[str, Callable[[QueryWeights, QueryWeights], bool]] = {
    "loss": lambda before, after: after.loss < before.loss,
    "measure": lambda before, after: np.mean(after.quality) > np.mean(before.quality),
    "rounds": lambda _before, _after: True,
}


@dataclass
class AdaRankRule:
    """Weights queries by how badly the ensemble ranks them (figure 1 of the paper)."""

    remedy: ClassVar[str] = "use fewer rounds or features of a smaller scale"
    train: QueryLabels
    metric: Metric
    improves: Callable[[QueryWeights, QueryWeights], bool]
    n_threads: int
    shortfall: float = 1.0  # the product in Theorem 1
    # The last two scores and their quality: a round needs those of the weak ranker and of the ensemble twice.
    measured: deque[tuple[Doubles, Doubles]] = field(default_factory=lambda: deque(maxlen=2))

    def first_signal(self, scores: Doubles) -> QueryWeights:
        """P_1(i) = 1 / m."""
        n_queries = len(self.train.groups)
        return QueryWeights(np.full(n_queries, 1.0 / n_queries), scores, loss=np.inf)

    def step(self, signal: QueryWeights, outputs: Doubles) -> float | None:
        """alpha_t = 1/2 ln of sum P_t(i)(1 + E(h_t)) over sum P_t(i)(1 - E(h_t)).

        None if alpha_t is not positive, or if the round does not improve the ensemble (`stop`). The paper's
        experiments use `stop="measure"`.
        """
        alpha = float(signal.half_log_odds(self.quality(outputs)))
        if alpha <= 0.0 or not self.improves(signal, self.signal(signal.scores + alpha * outputs)):
            return None
        return alpha

    def signal(self, scores: Doubles) -> QueryWeights:
        """P_t+1(i) = exp(-E(f_t on query i)), normalised to sum 1."""
        quality = self.quality(scores)
        losses = np.exp(-quality)
        loss = fsum(losses)
        return QueryWeights(losses / loss, scores, loss, quality)

    def diagnostics(
        self, before: QueryWeights, outputs: Doubles, step: float, after: QueryWeights
    ) -> dict[str, float]:
        """phi(t), delta_min(t) and Theorem 1's bound: 1 - product of exp(-delta_min(t)) sqrt(1 - phi(t)^2)."""
        quality = self.quality(outputs)
        phi = float(before.mean(quality))
        delta_min = float(np.min(after.quality - before.quality - step * quality))
        self.shortfall *= exp(-delta_min) * sqrt(max(0.0, 1.0 - phi**2))
        return {"phi": phi, "delta_min": delta_min, "bound": 1.0 - self.shortfall}

    def quality(self, scores: Doubles) -> Doubles:
        """E of every query."""
        for before, quality in self.measured:
            if np.array_equal(before, scores):
                return quality
        ranking = Ranking.of(scores, self.train.groups, n_jobs=self.n_threads)
        quality = self.metric.per_query(self.train.y, ranking, n_jobs=self.n_threads)
        self.measured.append((scores, quality))
        return quality


class AdaRank(StoppingParameters, DirectionParameters, RandomParameters, Ranker):
    """Boosted single features; each round concentrates on the queries that are still ranked badly.

    Examples
    --------
    >>> X, y = [[3.1, 0.2], [1.0, 0.9], [2.2, 0.5]], [2, 0, 1]
    >>> judged = rw.RankingData(X, y, ["hats"] * 3, feature_names=["bm25", "age"])
    >>> ranker = rw.AdaRank("ndcg@10").fit(judged)
    >>> ranker.importances()
    {'bm25': 1.0, 'age': 0.0}
    """

    name: ClassVar[str] = "adarank"
    printed: ClassVar[Mapping[str, Any]] = {
        "all_queries": True,  # figure 1
        "choose": "measure",  # section 3.6
        "stop": "measure",  # section 4.1
    }

    @classmethod
    def as_in_letor(cls, **changes: Any) -> Self:
        """Return AdaRank as LETOR's baselines were run, with the given parameters changed.

        A feature that is chosen again is set aside where it would change nothing, so that training goes on for all
        rounds, and validation data choose the round. This gives LETOR's published numbers; the paper says nothing
        of it.
        """
        return cls(**{"choose": "measure", "repeats": "aside", "stop": "rounds", **changes})

    metric: MetricParameter = parameter(
        meaning="Metric E to maximise, with values in [-1, 1].", default=NDCG(), kw_only=False
    )
    choose: str = parameter(
        OneOf(tuple(CHOICES)),
        "How the next feature is chosen: by the 'loss' of the ensemble with it (equation 8), or by its own "
        "weighted 'measure' (section 3.6), which soon chooses the same feature again.",
        default="loss",
        tune=("loss", "measure"),
        search=Choices("loss", "measure"),
    )
    repeats: str = parameter(
        OneOf(("allow", "once", "aside")),
        "What happens if a feature is chosen again: 'allow' accepts it, as in the paper; 'once' uses each "
        "feature at most once; 'aside' takes the next best feature unless the repeated one still lowers the "
        "loss.",
        default="allow",
        search=Choices("allow", "once", "aside"),
    )
    stop: str = parameter(
        OneOf(tuple(STOPS)),
        "When to stop early: once the training 'loss' (equation 6) no longer falls, once the mean training "
        "'measure' no longer rises, or only after all 'rounds'.",
        default="loss",
        search=Choices("loss", "measure", "rounds"),
    )
    halvings: int = parameter(
        Integer(0),
        "How often all weights alpha are halved when no feature lowers the loss any more, before training stops: "
        "the weights of figure 1 are coarse steps. Used by choose='loss' only.",
        default=0,
    )
    weak: str = parameter(
        OneOf(("feature", "stump", "tree")),
        "Weak ranker: a single 'feature' as it is; or, fitted each round on queries drawn by their weights "
        "(section 3.2), a 'stump' that votes by one threshold, or a regression 'tree' on labels.",
        default="feature",
    )
    max_leaves: int = parameter(
        Integer(2), "Maximum number of leaves per tree; used by weak='tree' only.", default=8
    )

    all_queries: bool = parameter(
        Flag(),
        "Whether queries in which every ranking is equally good count too, as in the paper: they change P_t, and "
        "so every alpha_t. Queries for which the metric is not defined count with its `empty` value.",
        default=False,
    )

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        if task.weights is not None:
            raise InputError("AdaRank takes no weights: it weights queries itself.")
        judged = _queries_that_count(task.train, self.metric, task.n_threads, all_queries=self.all_queries)
        return self._fit_features(task, judged) if self.weak == "feature" else self._fit_drawn(task, judged)

    def _check_together(self) -> None:
        super()._check_together()
        if self.all_queries and self.weak != "feature":
            raise InputError(
                f"all_queries=True needs weak='feature': a {self.weak} learns nothing from queries of one label."
            )
        if self.halvings and (self.choose != "loss" or self.weak != "feature"):
            raise InputError("halvings needs choose='loss' and weak='feature': it halves steps that gain nothing.")

    def _fit_features(self, task: FitTask, judged: TrainingSet) -> tuple[LinearScorer, History]:
        data, missing = judged.data, _lowest_values(task.train.data)
        learner = CHOICES[self.choose](
            data,
            self.metric,
            missing=missing,
            directions=DIRECTIONS[self.directions],
            repeats=self.repeats,
            n_threads=task.n_threads,
            **({"halvings": self.halvings} if self.halvings else {}),
        )
        rounds = min(self.rounds, judged.n_features) if self.repeats == "once" else self.rounds
        members, history = self._boost(task, QueryLabels(data.y, data.groups), learner, rounds)
        if not members:
            raise InputError(f"There is nothing to learn: no feature alone has {self.metric} above 0.")
        return _as_linear(members, missing), history

    def _fit_drawn(self, task: FitTask, judged: TrainingSet) -> tuple[TreeEnsemble, History]:
        random = np.random.default_rng(self.random_state)
        learner: DrawnVotes | DrawnTrees
        if self.weak == "stump":
            learner = DrawnVotes(judged, DIRECTIONS[self.directions], random, task.n_threads)
        else:
            learner = DrawnTrees(judged, self.max_leaves, random, task.n_threads)
        members, history = self._boost(task, judged.labels, learner, self.rounds)
        if not members:
            raise InputError(f"There is nothing to learn: no {self.weak} alone has {self.metric} above 0.")
        return weighted_trees(members), history

    def _boost(
        self, task: FitTask, judged: QueryLabels, learner: WeakLearner[QueryWeights], rounds: int
    ) -> tuple[list[WeightedModel], History]:
        monitor = task.monitor(self.metric, judged, patience=self.patience)
        rule = AdaRankRule(judged, self.metric, STOPS[self.stop], task.n_threads)
        members = boost(rule, learner, start=np.zeros(len(judged.y)), rounds=rounds, monitor=monitor)
        return members, monitor.history


def _queries_that_count(train: TrainingSet, metric: Metric, n_threads: int, *, all_queries: bool) -> TrainingSet:
    """Return the training set with the informative queries, or with all that the metric has a value for."""
    y, groups = train.data.y, train.data.groups
    rankings = (Ranking.of(scores, groups, n_jobs=n_threads) for scores in (y, -y))
    best, worst = (metric.per_query_with_empty(y, ranking, n_jobs=n_threads) for ranking in rankings)
    informative = best > worst  # never true of an empty query's NaN
    if not informative.any():
        raise InputError(f"There is nothing to learn: every ranking of every query has the same {metric}.")
    best, worst = metric.count_empty(best), metric.count_empty(worst)
    kept = np.flatnonzero(~np.isnan(best) if all_queries else informative)
    require_metric_range("AdaRank", metric, worst[kept], best[kept], least=-1.0)
    return train if len(kept) == len(groups) else train.take_queries(kept)


def _lowest_values(train: RankingData) -> Doubles:
    """Return each feature's lowest training value, which replaces missing values; 0 if all are missing."""
    lowest: Doubles = np.fmin.reduce(train.X, axis=0).astype(np.float64)
    return np.where(np.isnan(lowest), 0.0, lowest)


def _as_linear(members: Sequence[WeightedModel], missing: Doubles) -> LinearScorer:
    """Return the weighted features as one linear scorer: f = sum of alpha_t x_k(t)."""
    weights = np.zeros(len(missing))
    for weight, model in members:
        if isinstance(model, FeatureScorer):
            weights[model.feature] += weight * model.direction
        else:
            assert isinstance(model, LinearScorer)  # a feature times 1/2, 1/4, ...
            weights += weight * model.weights
    return LinearScorer(weights, missing)
