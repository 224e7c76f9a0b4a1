"""RankSVM (Herbrich, Graepel & Obermayer 2000; Joachims 2002): of two documents the better scores higher by 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.learners.pairs import count_pairs
from rankwright.margins import MarginPairs, cutting_planes, newton_steps
from rankwright.metrics import NDCG, Metric
from rankwright.rankers.margin import MarginRanker, ScaledQueries
from rankwright.rankers.parameters import require_number, require_one_of, require_whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.models import Scorer
    from rankwright.training import FitTask, History


class RankSVM(MarginRanker):
    """Separates the better of any two documents from the worse by a margin, with a weighted sum of features.

    Minimises half |w|^2 + C times the mean over queries of the mean over pairs of max(0, 1 - (score of the better
    - score of the worse)), squared unless `loss` says otherwise. Its `grid` for tuning: C.

    Parameters
    ----------
    metric
        What `score`, and a validation part that chooses C, judge by; training does not look at it.
    C
        What errors cost against large weights.
    loss
        `"squared_hinge"`, which Newton's method minimises quickly, or `"hinge"`, by cutting planes.
    balance
        What counts alike: `"queries"`, however many documents they have, or `"pairs"`.
    scaling
        How features are made comparable: `"query-minmax"`, `"query-zscore"`, `"global"` or `"none"`.
    tolerance
        How far the objective may be above its optimum, as a share of it.
    max_iterations
        Where to stop, with a warning, if that is not reached.
    n_threads
        Threads to use, None for all that this process may; the model does not depend on it.
    """

    name: ClassVar[str] = "ranksvm"
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {"C": (1.0, 3.0, 10.0, 30.0, 100.0)}

    def __init__(
        self,
        metric: Metric = NDCG(k=10),  # noqa: B008  # a frozen value
        *,
        C: float = 10.0,
        loss: str = "squared_hinge",
        balance: str = "queries",
        scaling: str = "query-minmax",
        tolerance: float = 1e-4,
        max_iterations: int = 1000,
        n_threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.C = C
        self.loss = loss
        self.balance = balance
        self.scaling = scaling
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.n_threads = n_threads

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        self._check_parameters()
        queries = ScaledQueries.of(task.train, self.scaling, informative=lambda judged: judged.varied)
        pairs = self._pairs(queries, task)
        start = np.zeros(task.train.n_features)
        if self.loss == "hinge":
            solutions = cutting_planes(pairs.hinge, start, self.C)
        else:
            solutions = newton_steps(pairs.squared_hinge, start, self.C)
        return self._converged(solutions, queries, task, tolerance=self.tolerance, most=self.max_iterations)

    def _pairs(self, queries: ScaledQueries, task: FitTask) -> MarginPairs:
        labels, groups = queries.judged
        counts = count_pairs(queries.judged)
        factors = (
            1.0 / (len(counts) * counts) if self.balance == "queries" else np.full(len(counts), 1 / counts.sum())
        )
        # A pair's weight is the geometric mean of its documents' weights.
        weights = np.ones(len(labels)) if task.weights is None else np.sqrt(task.weights[queries.rows])
        return MarginPairs(queries.X, labels, groups, weights, factors[groups.query_of_row], task.n_threads)

    def _check_parameters(self) -> None:
        require_number("C", self.C, above=0.0)
        require_one_of("loss", self.loss, ("squared_hinge", "hinge"))
        require_one_of("balance", self.balance, ("queries", "pairs"))
        require_number("tolerance", self.tolerance, above=0.0)
        require_whole_number("max_iterations", self.max_iterations, least=1)
