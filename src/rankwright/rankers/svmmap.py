"""SVMmap (Yue, Finley, Radlinski & Joachims, SIGIR 2007): a structural SVM for mean average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.errors import InputError
from rankwright.margins import Plane, cutting_planes
from rankwright.metrics import AP, Metric
from rankwright.rankers.checks import Real
from rankwright.rankers.families import SolverParameters
from rankwright.rankers.margin import MarginRanker, ScaledQueries
from rankwright.rankers.parameters import parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.arrays import Doubles
    from rankwright.data import QueryGroups
    from rankwright.models import Scorer
    from rankwright.training import FitTask, History, TrainingSet


@dataclass(frozen=True, eq=False)
class PrecisionRisk:
    """The mean over queries of the slack: by how much the most violated ranking violates its margin.

    A ranking's score is F = sum over relevant i and irrelevant j of z_ij (s_i - s_j) / (their number), z_ij = 1
    where i comes before j and -1 where not. A perfect ranking should beat any other by the average precision that
    the other loses.
    """

    X: Doubles
    relevant: NDArray[np.bool_]
    groups: QueryGroups

    def plane(self, w: Doubles) -> Plane:
        """Return the plane that touches the risk at w: the 1-slack constraint of the most violated rankings."""
        scores, pull, lost = self.X @ w, np.zeros(len(self.X)), 0.0
        for rows in self.groups:
            ranked = rows[np.argsort(-scores[rows], kind="stable")]
            good, bad = ranked[self.relevant[ranked]], ranked[~self.relevant[ranked]]
            at_stake, n_pairs = lost_precision(len(good), len(bad)), len(good) * len(bad)
            before = most_violated(scores[good], scores[bad], at_stake)
            lost += at_stake[before].sum()
            pull[good] = -2.0 * before.sum(axis=1) / n_pairs
            pull[bad] = 2.0 * before.sum(axis=0) / n_pairs
        return Plane(pull @ self.X / len(self.groups), float(lost / len(self.groups)))


def most_violated(good: Doubles, bad: Doubles, at_stake: Doubles) -> NDArray[np.bool_]:
    """Return which bad document (column) comes before which good one (row) in the most violated ranking.

    Both kinds have their scores, best first. Within a kind that order is the most violated one, too, and the best
    place of each bad document among the good ones owes nothing to where the others go: it passes good documents,
    the last first, as long as what all of them together lose is worth it.
    """
    gains = at_stake - 2.0 * np.subtract.outer(good, bad) / at_stake.size
    passed = np.zeros((len(good) + 1, len(bad)))  # the gain from passing all good documents from this one on
    passed[:-1] = np.cumsum(gains[::-1], axis=0)[::-1]
    places = np.maximum.accumulate(passed.argmax(axis=0))
    return np.asarray(places <= np.arange(len(good))[:, None])


def lost_precision(n_good: int, n_bad: int) -> Doubles:
    """Return the average precision that good document i (row) loses as bad document j (column) comes before it."""
    i, j = np.arange(1, n_good + 1)[:, None], np.arange(1, n_bad + 1)
    return np.asarray(i / ((i + j - 1) * (i + j)) / n_good)


class SVMmap(SolverParameters, MarginRanker):
    """A linear model for mean average precision, with margins proportional to the precision at stake.

    Minimises |w|^2 / 2 + C times the mean over queries of the largest violation of a margin, by cutting planes,
    to a proved gap.
    """

    name: ClassVar[str] = "svmmap"

    metric: Metric = parameter(
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
            raise InputError("SVMmap takes no weights: every query counts alike.")
        threshold = self._threshold(task.train)
        queries = ScaledQueries.of(
            task.train, self.scaling, informative=lambda labels: bool(labels.min() < threshold <= labels.max())
        )
        if not len(queries):
            raise InputError(
                "There is nothing to learn: no query has documents "
                f"both below threshold={threshold:g} and from it up."
            )
        labels, groups = queries.judged
        risk = PrecisionRisk(queries.X, labels >= threshold, groups)
        solutions = cutting_planes(risk.plane, np.zeros(task.train.n_features), self.C)
        return self._converged(solutions, queries, task, tolerance=self.tolerance, most=self.max_iterations)

    def _about(self, task: FitTask, history: History) -> dict[str, Any]:
        return super()._about(task, history) | {"relevant_from": self._threshold(task.train)}

    def _threshold(self, train: TrainingSet) -> float:
        return float(np.unique(train.labels.y)[1]) if self.threshold is None else float(self.threshold)
