"""The base class of margin rankers: scaled queries, and a solver followed until it converges."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.data import QueryGroups
from rankwright.errors import InputError
from rankwright.models.scaled import linear_of_columns, over_columns
from rankwright.rankers.checks import Real
from rankwright.rankers.parameters import parameter
from rankwright.rankers.scaled import ScaledRanker
from rankwright.training import QueryLabels
from rankwright.training.scaling import learned_scaling, scaled_features

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rankwright.arrays import Doubles
    from rankwright.data.scaling import Scaling
    from rankwright.margins import Solution
    from rankwright.models import LinearScorer, Scorer
    from rankwright.training import FitTask, History, Monitor, TrainingSet


@dataclass(frozen=True, eq=False)
class ScaledQueries:
    """The informative training queries in canonical order, their features scaled.

    Only differences within a query matter to a ranking, so each feature is centred there: large numbers that all
    of a query's documents share would drown them. `rows` are the places of these documents in the canonical order
    of the training set.
    """

    X: Doubles
    judged: QueryLabels
    rows: NDArray[np.int64]
    scaling: Scaling
    skipped: int

    @classmethod
    def of(cls, train: TrainingSet, scaling: str, informative: Callable[[Doubles], bool]) -> ScaledQueries:
        """Scale and take the queries whose labels teach something."""
        learned, (y, groups) = learned_scaling(scaling, train), train.labels
        kept = [rows for rows in groups if informative(y[rows])]
        if not kept:
            return cls(
                np.zeros((0, train.n_features)),
                QueryLabels(np.zeros(0), QueryGroups.of_sizes([])),
                np.zeros(0, dtype=np.int64),
                learned,
                len(groups),
            )
        rows = np.concatenate(kept)
        queries = QueryGroups.of_sizes([len(one) for one in kept])
        X = scaled_features(learned, train)[rows]
        X -= (np.add.reduceat(X, queries.offsets[:-1]) / queries.sizes[:, None])[queries.query_of_row]
        return cls(X, QueryLabels(y[rows], queries), rows, learned, len(groups) - len(kept))

    def __len__(self) -> int:
        return len(self.judged.groups)

    def scorer_of_columns(self, weights: Doubles) -> LinearScorer:
        """Return the scorer of what `scaling` makes of the features before it shifts and shrinks them."""
        return linear_of_columns(weights, self.scaling)

    def scorer(self, weights: Doubles) -> Scorer:
        """Return the scorer of the features as they come."""
        return over_columns(self.scorer_of_columns(weights), self.scaling)


class MarginRanker(ScaledRanker):
    """A linear model of scaled features that separates good rankings from bad ones by a margin."""

    C: float = parameter(
        Real(above=0.0),
        "Weight of the loss against the L2 penalty on the weights: smaller values regularise more.",
        default=10.0,
        tune=(1.0, 3.0, 10.0, 30.0, 100.0),
    )
    scaling: str = parameter(default="query-minmax")

    def _watch(self, queries: ScaledQueries, task: FitTask, **options: Any) -> Monitor:
        """Return what watches the rounds, and take note of the queries that were skipped."""
        self.skipped_queries_ = queries.skipped
        return self._monitor(queries.judged, queries.scaling, task, **options)

    def _converged(
        self, solutions: Iterator[Solution], queries: ScaledQueries, task: FitTask, *, tolerance: float, most: int
    ) -> tuple[Scorer, History]:
        """Follow a solver until the gap is small enough; say how large it is if that never happens."""
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
