"""SVMmap (Yue, Finley, Radlinski & Joachims, SIGIR 2007): a margin that grows with the average precision lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright import _native
from rankwright.data import Ranking
from rankwright.errors import InputError
from rankwright.margins import Plane, cutting_planes
from rankwright.margins.solution import finite
from rankwright.metrics import AP, Metric
from rankwright.rankers.margin import MarginRanker, ScaledQueries
from rankwright.rankers.parameters import require_finite, require_number, require_whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rankwright.arrays import Doubles
    from rankwright.data import QueryGroups
    from rankwright.models import Scorer
    from rankwright.training import FitTask, History, QueryLabels, TrainingSet


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
        ranking = Ranking.of(finite(self.X @ w), self.groups, n_threads=self.n_threads)
        crossings, lost = _native.most_violated_precision(ranking.native, self.relevant, self.n_threads)
        n_relevant = self.groups.reduce(np.add, self.relevant.astype(np.int64))
        n_pairs = (n_relevant * (self.groups.sizes - n_relevant))[self.groups.query_of_row]
        pull = np.where(self.relevant, -2.0, 2.0) * crossings / n_pairs
        return Plane(pull @ self.X / len(self.groups), float(lost.mean()))


class SVMmap(MarginRanker):
    """Learns a weighted sum of features for mean average precision, margins as large as the precision at stake.

    Minimises half |w|^2 + C times the mean over queries of the largest violation of a margin, by cutting planes,
    to a proved gap. Its `grid` for tuning: C.

    Parameters
    ----------
    metric
        What `score`, and a validation part that chooses C, judge by; training always maximises average precision.
    C
        What violated margins cost against large weights.
    threshold
        The label from which a document is relevant; None takes all labels above the lowest of the training data.
        The model's facts say which it was, as `relevant_from`.
    scaling
        How features are made comparable: `"query-minmax"`, `"query-zscore"`, `"global"` or `"none"`.
    tolerance
        How far the objective may be above its optimum, as a share of it.
    max_iterations
        Where to stop, with a warning, if that is not reached.
    n_threads
        Threads to use, None for all that this process may; the model does not depend on it.
    """

    name: ClassVar[str] = "svmmap"
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {"C": (1.0, 3.0, 10.0, 30.0, 100.0)}

    def __init__(
        self,
        metric: Metric = AP(),  # noqa: B008  # a frozen value
        *,
        C: float = 10.0,
        threshold: float | None = None,
        scaling: str = "query-minmax",
        tolerance: float = 1e-3,
        max_iterations: int = 1000,
        n_threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.C = C
        self.threshold = threshold
        self.scaling = scaling
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.n_threads = n_threads

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        self._check_parameters()
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

    def _check_parameters(self) -> None:
        require_number("C", self.C, above=0.0)
        require_finite("threshold", self.threshold, optional=True)
        require_number("tolerance", self.tolerance, above=0.0)
        require_whole_number("max_iterations", self.max_iterations, least=1)


def _both_kinds(judged: QueryLabels, threshold: float) -> NDArray[np.bool_]:
    """Return which queries have relevant and irrelevant documents."""
    lowest, highest = judged.groups.reduce(np.minimum, judged.y), judged.groups.reduce(np.maximum, judged.y)
    return np.asarray((lowest < threshold) & (threshold <= highest))
