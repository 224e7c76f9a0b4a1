"""SVMmap (Yue, Finley, Radlinski & Joachims, SIGIR 2007): a structural SVM for mean average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.groups import Ranking
from rankwright.metrics.relevance import AP
from rankwright.rankers.parameters.checks import Real
from rankwright.rankers.parameters.declaration import MetricParameter, SolverParameters, parameter
from rankwright.rankers.shared.scaled_rankers import MarginRanker, ScaledQueries
from rankwright.training.margins import Plane, cutting_planes, finite

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups
    from rankwright.models.scorer import Scorer
    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import History
    from rankwright.training.training_set import QueryLabels, TrainingSet


@dataclass(frozen=True, eq=False)
class PrecisionRisk:
    """The mean over queries of the slack: the margin violation of the most violated ranking.

    A ranking's score is F = sum over relevant i and irrelevant j of z_ij (s_i - s_j) / (number of such pairs),
    with z_ij = 1 where i comes before j and -1 otherwise. A perfect ranking should beat any other by the average
    precision that the other loses.
    """

    X: Doubles
    relevant: NDArray[np.bool_]
    groups: QueryGroups
    n_threads: int

    def plane(self, w: Doubles) -> Plane:
        """Return the plane that touches the risk at w: the 1-slack constraint of the most violated rankings."""
        ranking = Ranking.of(finite(self.X @ w), self.groups, n_jobs=self.n_threads)
        crossings, lost = _native.most_violated_precision(ranking.native, self.relevant, self.n_threads)
        n_relevant = self.groups.reduce(np.add, self.relevant.astype(np.int64))
        n_pairs = (n_relevant * (self.groups.sizes - n_relevant))[self.groups.query_of_row]
        pull = np.where(self.relevant, -2.0, 2.0) * crossings / n_pairs
        return Plane(pull @ self.X / len(self.groups), float(lost.mean()))


class SVMmap(SolverParameters, MarginRanker):
    """A linear model for mean average precision, with margins proportional to the precision at stake.

    Minimises `|w|^2 / 2` + C times the mean over queries of the largest violation of a margin, by cutting planes,
    to a proved gap.

    Examples
    --------
    >>> judged = rw.RankingData([[4], [3], [2], [1]], [3, 2, 1, 0], ["hats"] * 4)
    >>> ranker = rw.SVMmap("map(threshold=2)", threshold=2).fit(judged)  # 2 and 3 are relevant
    >>> ranker.score(judged), ranker.model_.about["relevant_from"]
    (1.0, 2.0)
    """

    name: ClassVar[str] = "svmmap"

    metric: MetricParameter = parameter(
        meaning="Metric of `score`, and of tuning `C` on validation data; training always optimises average "
        "precision.",
        default=AP(),
        kw_only=False,
    )
    threshold: float | None = parameter(
        Real(optional=True),
        "Lowest label of a relevant document; the model's facts report it as `relevant_from`. None: the second "
        "lowest label of the training data.",
        default=None,
    )

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        if task.weights is not None:
            raise InputError("SVMmap takes no weights: every query counts the same.")
        threshold = self._threshold(task.train)
        queries = ScaledQueries.of(task.train, self.scaling, lambda judged: _both_kinds(judged, threshold))
        if not len(queries):
            raise InputError(
                "There is nothing to learn: no query has documents "
                f"both below threshold={threshold:g} and from it up."
            )
        labels, groups = queries.judged
        risk = PrecisionRisk(queries.X, labels >= threshold, groups, task.n_threads)
        solutions = cutting_planes(risk.plane, np.zeros(task.train.n_features), self.C)
        return self._converged(solutions, queries, task, tolerance=self.tolerance, most=self.max_iterations)

    def _about(self, task: FitTask, history: History) -> dict[str, Any]:
        return super()._about(task, history) | {"relevant_from": self._threshold(task.train)}

    def _threshold(self, train: TrainingSet) -> float:
        return float(np.unique(train.labels.y)[1]) if self.threshold is None else float(self.threshold)


def _both_kinds(judged: QueryLabels, threshold: float) -> NDArray[np.bool_]:
    """Return which queries have relevant and irrelevant documents."""
    lowest, highest = judged.groups.reduce(np.minimum, judged.y), judged.groups.reduce(np.maximum, judged.y)
    return np.asarray((lowest < threshold) & (threshold <= highest))
