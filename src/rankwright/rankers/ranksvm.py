"""RankSVM (Herbrich, Graepel & Obermayer 2000; Joachims 2002): a linear model with a margin between pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright.metrics.gain import NDCG
from rankwright.rankers.parameters.checks import OneOf
from rankwright.rankers.parameters.declaration import (
    MarginLossParameters,
    MetricParameter,
    SolverParameters,
    parameter,
)
from rankwright.rankers.parameters.search_space import Choices
from rankwright.rankers.shared.click_lambdas import click_weights
from rankwright.rankers.shared.scaled_rankers import MarginRanker, ScaledQueries
from rankwright.training.margins import MarginPairs

if TYPE_CHECKING:
    from rankwright.models.scorer import Scorer
    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import History


class RankSVM(MarginLossParameters, SolverParameters, MarginRanker):
    """A linear model that separates the better of any two documents of a query from the worse by a margin.

    Minimises `|w|^2 / 2` + C times the mean loss of pairs. The loss of a pair is h or, by default, h^2, where h is
    max(0, 1 - (score of the better - score of the worse)). With `balance="queries"`, the default, it is the mean
    over queries of the mean over each query's pairs; with `"pairs"`, the mean over all pairs.

    Examples
    --------
    >>> qid = ["hats", "hats", "shoes", "shoes"]
    >>> judged = rw.RankingData([[1, 5], [2, 3], [4, 4], [6, 4]], [0, 1, 1, 1], qid)
    >>> ranker = rw.RankSVM(C=1.0).fit(judged)
    >>> ranker.skipped_queries_  # all shoes have the same label
    1
    """

    name: ClassVar[str] = "ranksvm"
    takes_exposure: ClassVar[tuple[str, ...]] = ("propensity",)

    metric: MetricParameter = parameter(
        meaning="Metric of `score`, and of tuning `C` on validation data; training does not use it.",
        default=NDCG(k=10),
        kw_only=False,
    )
    balance: str = parameter(
        OneOf(("queries", "pairs")),
        "'queries': every query has the same total weight. 'pairs': every pair has the same weight.",
        default="queries",
        search=Choices("queries", "pairs"),
    )
    tolerance: float = parameter(default=1e-4)

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        queries = ScaledQueries.of(task.train, self.scaling, informative=lambda judged: judged.varied)
        pairs = self._pairs(queries, task)
        solutions = pairs.solutions(self.loss, np.zeros(task.train.n_features), self.C)
        return self._converged(solutions, queries, task, tolerance=self.tolerance, most=self.max_iterations)

    def _pairs(self, queries: ScaledQueries, task: FitTask) -> MarginPairs:
        labels, groups = queries.judged
        counts = queries.judged.pair_divisors
        factors = (
            1.0 / (len(counts) * counts) if self.balance == "queries" else np.full(len(counts), 1 / counts.sum())
        )
        # A pair's weight is the geometric mean of its documents' weights.
        weights = np.ones(len(labels)) if task.weights is None else np.sqrt(task.weights[queries.rows])
        if (
            task.exposure is not None
        ):  # a pair counts 1 / propensity of its clicked document (Joachims et al. 2017)
            weights = weights * np.where(labels > 0, click_weights(task.exposure)[queries.rows], 1.0)
        return MarginPairs(queries.X, labels, groups, weights, factors[groups.query_of_row], task.n_threads)
