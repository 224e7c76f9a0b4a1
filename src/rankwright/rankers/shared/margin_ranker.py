"""The base class of margin rankers: scaled queries, and a solver followed until it converges."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups
from rankwright.models.linear import linear_of_columns
from rankwright.models.query_features import over_columns
from rankwright.rankers.parameters.checks import Real
from rankwright.rankers.parameters.declaration import parameter
from rankwright.rankers.parameters.search_space import Range
from rankwright.rankers.shared.scaled_ranker import ScaledRanker
from rankwright.training.scaling_fit import learned_scaling, scaled_features
from rankwright.training.training_set import QueryLabels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.scaling import Scaling
    from rankwright.models.linear import LinearScorer
    from rankwright.models.scorer import Scorer
    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import History
    from rankwright.training.margins.solution import Solution
    from rankwright.training.monitor import Monitor
    from rankwright.training.training_set import TrainingSet

    Informative = Callable[[QueryLabels], NDArray[np.bool_]]  # which queries to learn from


@dataclass(frozen=True, eq=False)
class ScaledQueries:
    """The informative training queries, in canonical order, with scaled features.

    Only differences within a query matter to a ranking, so each feature is centred within the query: a large
    number that all documents of a query share would drown the differences. `rows` are
    their places in the canonical order of the training set.
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
        """Run a solver until its gap is at most `tolerance`; warn with the gap if `most` iterations do not do."""
        monitor = self._watch(queries, task, patience=None, converging=True)
        weights, gap = np.zeros(queries.X.shape[1]), np.inf
        with monitor:
            for found in islice(solutions, most):
                monitor.observe_model(queries.scorer_of_columns(found.weights), queries.X @ found.weights)
                weights, gap = found.weights, found.gap
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
