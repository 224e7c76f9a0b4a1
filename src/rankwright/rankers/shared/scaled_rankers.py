"""Rankers of scaled features: how the scaling is fitted, and the base classes of margin and network rankers."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups
from rankwright.data.query_features import QueryFeature, Scaling
from rankwright.models.linear import linear_of_columns
from rankwright.models.nested_scorers import over_columns
from rankwright.models.network import network_of_columns
from rankwright.rankers.parameters.checks import Integer, ListOf, OneOf, Real
from rankwright.rankers.parameters.declaration import (
    RandomParameters,
    ShrinkageParameters,
    StoppingParameters,
    fitted,
    parameter,
)
from rankwright.rankers.parameters.search_space import Choices, Range
from rankwright.rankers.ranker import Ranker
from rankwright.training.learners.network_learner import Network
from rankwright.training.training_set import QueryLabels, TrainingSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.metrics.protocols import Pull
    from rankwright.models.linear import LinearScorer
    from rankwright.models.scorer import Scorer
    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import History
    from rankwright.training.margins import Solution
    from rankwright.training.monitor import Monitor

    Informative = Callable[[QueryLabels], NDArray[np.bool_]]  # which queries to learn from

WITHIN_QUERY = {"query-minmax": QueryFeature.MINMAX, "query-zscore": QueryFeature.ZSCORE}
SCALINGS = ("none", *WITHIN_QUERY, "global")


class ScaledRanker(Ranker):
    """A ranker of scaled features, which counts the queries that it skips."""

    scaling: str = parameter(
        OneOf(SCALINGS),
        "How features are scaled: 'query-zscore' or 'query-minmax' within each query, 'global' by mean and "
        "standard deviation of the training documents, or 'none'. The scaling is part of the model.",
        default="query-zscore",
        search=Choices("query-zscore", "query-minmax", "global"),
    )
    skipped_queries_: int = fitted("Number of training queries that were not informative and were skipped.")

    def _about(self, task: FitTask, history: History) -> dict[str, Any]:
        return super()._about(task, history) | {"skipped_queries": self.skipped_queries_}

    def _monitor(self, labels: QueryLabels, scaling: Scaling, task: FitTask, **options: Any) -> Monitor:
        """Return the monitor of models that score the columns which the scaling applies to."""
        columns = task if scaling.within is None else task.with_query_features((scaling.within,), raw=False)
        return columns.monitor(self.metric, labels, **options)


@dataclass(frozen=True, eq=False)
class ScaledQueries:
    """The informative training queries, in canonical order, with scaled features.

    Only differences within a query matter to a ranking, so each feature is centred within the query: a large
    number that all documents of a query share would drown the differences. `rows` are their positions in the
    canonical order of the training set.
    """

    X: Doubles
    judged: QueryLabels
    rows: NDArray[np.int64]
    scaling: Scaling
    skipped: int

    @classmethod
    def of(cls, train: TrainingSet, scaling: str, informative: Informative) -> ScaledQueries:
        """Scale the features, and keep the informative queries."""
        learned, labels = learned_scaling(scaling, train), train.labels
        kept = informative(labels)
        rows = np.flatnonzero(kept[labels.groups.query_of_row])
        queries = QueryGroups.of_sizes(labels.groups.sizes[kept])
        X = scaled_features(learned, train)[rows]
        if len(queries):
            X -= (np.add.reduceat(X, queries.offsets[:-1]) / queries.sizes[:, None])[queries.query_of_row]
        return cls(X, QueryLabels(labels.y[rows], queries), rows, learned, int(len(kept) - kept.sum()))

    def __len__(self) -> int:
        return len(self.judged.groups)

    def scorer_of_columns(self, weights: Doubles) -> LinearScorer:
        """Return the scorer of the columns that `scaling` applies centre and spread to."""
        return linear_of_columns(weights, self.scaling)

    def show(self, weights: Doubles, monitor: Monitor, diagnostics: Mapping[str, float] | None = None) -> bool:
        """Let a monitor observe the model with these weights; return whether the fit should stop."""
        return monitor.observe_model(
            lambda: self.scorer_of_columns(weights), lambda: self.X @ weights, diagnostics
        )

    def scorer(self, weights: Doubles) -> Scorer:
        """Return the scorer of the raw features."""
        return over_columns(self.scorer_of_columns(weights), self.scaling)


class MarginRanker(ScaledRanker):
    """A linear model of scaled features that separates good rankings from bad ones by a margin."""

    C: float = parameter(
        Real(above=0.0),
        "Weight of the loss against the L2 penalty on the weights: smaller values regularise more.",
        default=10.0,
        tune=(1.0, 3.0, 10.0, 30.0, 100.0),
        search=Range(0.1, 1000.0, log=True),
    )
    scaling: str = parameter(default="query-minmax")

    def _watch(self, queries: ScaledQueries, task: FitTask, **options: Any) -> Monitor:
        """Return the monitor of the rounds, and set the number of skipped queries."""
        self.skipped_queries_ = queries.skipped
        return self._monitor(queries.judged, queries.scaling, task, **options)

    def _converged(
        self, solutions: Iterator[Solution], queries: ScaledQueries, task: FitTask, *, tolerance: float, most: int
    ) -> tuple[Scorer, History]:
        """Run a solver until its gap is at most `tolerance`, or for `most` iterations with a warning."""
        monitor = self._watch(queries, task, patience=None, converging=True)
        weights, gap = np.zeros(queries.X.shape[1]), np.inf
        with monitor:
            for solution in islice(solutions, most):
                weights, gap = solution.weights, solution.gap
                queries.show(weights, monitor)
                if gap <= tolerance:
                    break
        if gap > tolerance and not monitor.history.interrupted:
            warnings.warn(
                f"{type(self).__name__} stopped after {len(monitor.history)} iterations: its objective may be "
                f"as much as {gap:.2g} of itself above the optimum, more than tolerance={tolerance:g}.",
                stacklevel=4,
            )
        if not weights.any():
            raise InputError("There is nothing to learn: no feature tells better documents from worse ones.")
        return queries.scorer(weights), monitor.history


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
        parameters: list[Doubles] = []  # after each round

        def model(number: int) -> Scorer:
            return network_of_columns(network.widths, parameters[number - 1], scaling)

        with monitor:  # Ctrl-C ends the loop, not the fit
            for number in range(1, self.rounds + 1):
                network.learn(queries, pull, task.weights)
                parameters.append(network.parameters)
                scores = partial(network.scores, n_threads=task.n_threads)
                if monitor.observe_model(partial(model, number), scores):
                    break
        return over_columns(model(monitor.best_round), scaling), monitor.history

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


def learned_scaling(name: str, train: TrainingSet) -> Scaling:
    """Return the scaling of this name, fitted to the training documents.

    `none` leaves features as they are; `query-minmax` and `query-zscore` scale within each query; `global` uses
    the mean and standard deviation of the training documents. A constant column becomes zeros. A missing value is
    replaced by the mean of the training documents (`none`, `global`) or of the query (`query-zscore`), which
    neither raises nor lowers a document; with `query-minmax`, by the query's lowest value, as in the files of
    LETOR.
    """
    zeros, ones = np.zeros(train.n_features), np.ones(train.n_features)
    if name in WITHIN_QUERY:
        return Scaling(WITHIN_QUERY[name], zeros, ones, zeros)
    if name not in SCALINGS:
        raise InputError(f"scaling must be one of {', '.join(map(repr, SCALINGS))}, not {name!r}.")
    mean, spread = _moments(train)
    return Scaling(None, mean, spread, mean) if name == "global" else Scaling(None, zeros, ones, mean)


def columns_of(scaling: Scaling, train: TrainingSet) -> TrainingSet:
    """Return the documents with the columns to which centre and spread apply."""
    return train if scaling.within is None else train.with_query_features((scaling.within,), raw=False)


def scaled_features(scaling: Scaling, train: TrainingSet) -> Doubles:
    """Return the scaled features, rows in the canonical order of the training set."""
    return scaling.apply(columns_of(scaling, train).data.X[train.canonical_rows])


def _moments(train: TrainingSet) -> tuple[Doubles, Doubles]:
    """Return the mean of each feature, 0 if all values are missing, and its standard deviation, 1 if it is 0."""
    mean, spread = np.zeros(train.n_features), np.ones(train.n_features)
    for feature in range(train.n_features):
        # In canonical order, so that sums do not depend on the order of rows.
        column = train.data.X[train.canonical_rows, feature].astype(np.float64)
        known = column[~np.isnan(column)]
        if len(known):
            mean[feature] = known.mean()
            spread[feature] = known.std() or 1.0
    return mean, spread
