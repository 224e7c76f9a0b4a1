"""MPBoost (Zhu, Chen, Zhu, Wang, Wang & Chen, CIKM 2009): magnitude-preserving boosting over pairs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.metrics.gain import NDCG
from rankwright.rankers.parameters.checks import Flag, Integer, Value
from rankwright.rankers.parameters.declaration import ShrinkageParameters, Spelled, parameter
from rankwright.rankers.parameters.search_space import Choices, Range
from rankwright.rankers.shared.distances import (
    CLOSE_TO_ONE,
    Binary,
    Distance,
    Linear,
    Logarithmic,
    Logistic,
    parse_distance,
    require_distance,
)
from rankwright.rankers.shared.pair_ranker import PairRanker
from rankwright.training.learners.pair_signal import NativePairs
from rankwright.training.learners.stump import StumpLearner
from rankwright.training.learners.tree import TreeLearner, TreeLimits, TreeSampling, levels_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.base.arrays import Doubles
    from rankwright.training.fit_task import FitTask
    from rankwright.training.learners.pair_signal import LabelPairs, PairSignal, Strength


TINY = 1e-9  # relative to the sum of all pairs' weights, 1; avoids division by zero in a leaf without pairs


@dataclass(frozen=True)
class MPBoostRule:
    """Weights pairs by the exponential loss with directed distances (Algorithm 1 of the paper)."""

    remedy: ClassVar[str] = "use a lower learning_rate"
    pairs: LabelPairs
    learning_rate: float

    def first_signal(self, scores: Doubles) -> PairSignal:
        """w_ij(1) = 1 / |I|, or the same total weight for every query."""
        return self.pairs.signal(scores)

    def step(self, _signal: PairSignal, outputs: Doubles) -> float | None:
        """Return the learning rate, 1 in the paper; None if no weak ranker lowers the squared error."""
        return self.learning_rate if np.ptp(outputs) > 0.0 else None

    def signal(self, scores: Doubles) -> PairSignal:
        """w_ij(t + 1) = w_ij(t) exp(-dist(r_i, r_j) (f_t(x_i) - f_t(x_j))) / Z_t."""
        with np.errstate(over="ignore", invalid="ignore"):
            signal = self.pairs.signal(scores)
        if not np.isfinite(signal.log_loss):
            raise InputError("The loss is no longer finite; use a lower learning_rate or a smaller distance.")
        return signal

    def native(self) -> NativePairs | None:
        """Return the rule in native code, unless there are too many labels."""
        return NativePairs.of(self.pairs, self.learning_rate)

    def diagnostics(
        self, before: PairSignal, _outputs: Doubles, _step: float, after: PairSignal
    ) -> dict[str, float]:
        """Z_t, the bound of Theorem 1 (the product of all Z so far) and the fraction of misordered pairs."""
        return after.diagnostics(before)


class MPBoost(ShrinkageParameters, PairRanker):
    """Boosted stumps over pairs of documents; pairs count more the farther apart their labels are.

    Examples
    --------
    >>> ranker = rw.MPBoost(rounds=20).fit(rw.synthetic.gaussian_queries(10))
    >>> last = ranker.history_[-1].diagnostics
    >>> last["misordered"] <= last["bound"] < 1  # pairs in the wrong order, and their bound
    True
    """

    name: ClassVar[str] = "mpboost"
    printed: ClassVar[Mapping[str, Any]] = {
        # Algorithm 1 and its appendix; section 5.2.
        "learning_rate": 1.0,
        "all_thresholds": None,
        "metric": NDCG(k=5),
    }

    distance: Spelled[Distance, Distance | str] = parameter(
        Value(Distance, "Linear(alpha=0.5)", parse_distance, "a distance such as 'linear(0.5)'"),
        "Directed distance between labels: Linear(alpha), `Logarithmic(lambda_)`, Logistic(beta), Binary(), one "
        "of these OnGains(...), or a custom one.",
        default=Logistic(),
        tune=(Logistic(1.0), Linear(0.5), Logarithmic(1.0)),
        search=Choices(
            *(Logistic(beta) for beta in (0.5, 1.0, 2.0, 4.0)),
            *(Linear(alpha) for alpha in (0.1, 0.2, 0.5, 1.0)),
            *(Logarithmic(lambda_) for lambda_ in (0.3, 1.0, 3.0)),
            Binary(),
        ),
    )
    learning_rate: float = parameter(
        meaning="Shrinkage: each weak ranker is multiplied by it. The paper uses 1.", default=0.1
    )
    newton: bool = parameter(
        Flag(),
        "Whether the value of a stump is divided by the sum of w dist^2, the exact hessian, instead of the sum "
        "of w, the paper's approximation for `|dist|` close to 1.",
        default=False,
        search=Choices(False, True),
    )
    max_leaves: int | None = parameter(
        Integer(2, optional=True),
        "None: boost stumps, as in the paper. A number: boost trees with at most this many leaves, each with the "
        "Newton step of its documents.",
        default=None,
        search=Choices(None, 4, 8, 16),
    )
    min_documents: int = parameter(
        Integer(1),
        "Minimum number of documents per leaf; used if `max_leaves` is given.",
        default=10,
        search=Range(1, 100, log=True),
    )

    def _check_together(self) -> None:
        super()._check_together()
        if self.all_thresholds is not False and self.max_leaves is not None:
            raise InputError("all_thresholds is for stumps: give no max_leaves.")

    def _strength(self, labels: Doubles) -> Strength:
        _check_distance(self.distance, labels)
        return self.distance.between

    def _rule(self, pairs: LabelPairs) -> MPBoostRule:
        return MPBoostRule(pairs, self.learning_rate)

    def _learner(self, task: FitTask) -> StumpLearner | TreeLearner:
        train, n_threads = task.train, task.n_threads
        if self.max_leaves is None:
            return StumpLearner(self._binned(task), newton=self.newton, n_threads=n_threads)
        return TreeLearner(
            train.binned(self.max_bins, n_threads),
            train.labels.groups,
            limits=TreeLimits(
                self.max_leaves, self.min_documents, min_hessian=TINY, l2=TINY, levels=levels_for(task.weights)
            ),
            sampling=TreeSampling(1.0, "documents", 1.0),
            monotone=np.zeros(0, dtype=np.int8),
            random=np.random.default_rng(0),  # never drawn from
            n_threads=n_threads,
        )


def _check_distance(distance: Distance, labels: Doubles) -> None:
    """Refuse a distance that is not directed; warn if |dist| is far from 1, the paper's condition 9."""
    require_distance(distance, labels)
    farthest = float(distance.between(labels.max(), labels.min()))
    low, high = CLOSE_TO_ONE
    if not isinstance(distance, Binary) and not low <= farthest <= high:
        warnings.warn(
            f"{distance} is {farthest:.2g} between the lowest and the highest label, but MPBoost assumes about 1 "
            "(condition 9). Choose a parameter that brings it close to 1, and a small learning_rate.",
            stacklevel=5,
        )
