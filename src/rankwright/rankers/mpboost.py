"""MPBoost (Zhu, Chen, Zhu, Wang, Wang & Chen, CIKM 2009): boosting that preserves how far labels are apart."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.errors import InputError
from rankwright.learners import Pairs, PairSignal, StumpLearner, TreeLearner, TreeLimits, TreeSampling
from rankwright.metrics import NDCG, Metric
from rankwright.rankers.distances import (
    CLOSE_TO_ONE,
    Binary,
    Distance,
    Linear,
    Logarithmic,
    Logistic,
    require_distance,
)
from rankwright.rankers.pair_ranker import PairRanker
from rankwright.rankers.parameters import require_number, require_whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.arrays import Doubles
    from rankwright.learners.pairs import Strength
    from rankwright.training import FitTask


TINY = 1e-9  # of the pairs' weights, which sum to one; keeps a leaf without pairs from dividing by zero


@dataclass(frozen=True)
class MPBoostRule:
    """Weighs pairs by the exponential loss with directed distances (Algorithm 1 of the paper)."""

    remedy: ClassVar[str] = "use a lower learning_rate"
    pairs: Pairs
    learning_rate: float

    def first_signal(self, scores: Doubles) -> PairSignal:
        """w_ij(1) = 1 / |I|, or as much for every query together."""
        return self.pairs.signal(scores)

    def signal(self, scores: Doubles) -> PairSignal:
        """w_ij(t + 1) = w_ij(t) exp(-dist(r_i, r_j) (f_t(x_i) - f_t(x_j))) / Z_t."""
        with np.errstate(over="ignore", invalid="ignore"):
            signal = self.pairs.signal(scores)
        if not np.isfinite(signal.log_loss):
            raise InputError("The loss is no longer finite; learning_rate, or the distance, must be lower.")
        return signal

    def step(self, _signal: PairSignal, outputs: Doubles) -> float | None:
        """Return the learning rate, 1 in the paper; None where no weak ranker lowers the squared error."""
        return self.learning_rate if np.ptp(outputs) > 0.0 else None

    def diagnostics(
        self, before: PairSignal, _outputs: Doubles, _step: float, after: PairSignal
    ) -> dict[str, float]:
        """Z_t, the bound of Theorem 1 (the product of all Z so far) and the share of misordered pairs."""
        return after.diagnostics(before)


class MPBoost(PairRanker):
    """Boosts stumps over pairs of documents, each pair the more urgent the farther apart its labels are.

    Its `grid` for tuning: the paper's three distances, and both ways to weigh pairs.

    Parameters
    ----------
    metric
        What the validation part judges rounds by.
    distance
        The directed distance between labels: `Linear(alpha)`, `Logarithmic(lambda_)`, `Logistic(beta)`,
        `Binary()` or one of your own.
    rounds
        Most weak rankers to add.
    learning_rate
        The shrinkage of every weak ranker; 1 is the paper's.
    newton
        Whether a stump's value divides by the sum of w dist^2, the exact second derivative, rather than by the
        sum of w, as the paper does where |dist| is about 1.
    pair_weights
        What pairs weigh at first: `"uniform"` as much for every pair, `"query"` as much for every query.
    max_leaves
        None boosts the paper's stumps. A number boosts trees of so many leaves, a step beyond it: each leaf takes
        the Newton step of its documents' gradients and second derivatives.
    min_documents
        What every leaf of such a tree must hold at least.
    max_bins
        Codes a feature's values are binned to, at most 255; thresholds lie between them.
    patience
        Rounds without a better validation value before stopping; None goes on.
    n_threads
        Threads to use, None for all that this process may; the model does not depend on it.
    """

    name: ClassVar[str] = "mpboost"
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "distance": (Logistic(1.0), Linear(0.5), Logarithmic(1.0)),
        "pair_weights": ("uniform", "query"),
    }

    def __init__(
        self,
        metric: Metric = NDCG(k=10),  # noqa: B008  # a frozen value
        *,
        distance: Distance = Logistic(),  # noqa: B008  # a frozen value
        rounds: int = 300,
        learning_rate: float = 0.1,
        newton: bool = False,
        pair_weights: str = "uniform",
        max_leaves: int | None = None,
        min_documents: int = 10,
        max_bins: int = 255,
        patience: int | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.distance = distance
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.newton = newton
        self.pair_weights = pair_weights
        self.max_leaves = max_leaves
        self.min_documents = min_documents
        self.max_bins = max_bins
        self.patience = patience
        self.n_threads = n_threads

    def _strength(self, labels: Doubles) -> Strength:
        _check_distance(self.distance, labels)
        return self.distance.between

    def _rule(self, pairs: Pairs) -> MPBoostRule:
        return MPBoostRule(pairs, self.learning_rate)

    def _learner(self, task: FitTask) -> StumpLearner | TreeLearner:
        train, n_threads = task.train, task.n_threads
        binned = train.binned(self.max_bins, n_threads)
        if self.max_leaves is None:
            return StumpLearner(binned, newton=self.newton, n_threads=n_threads)
        return TreeLearner(
            binned,
            train.labels.groups,
            limits=TreeLimits(self.max_leaves, self.min_documents, min_hessian=TINY, l2=TINY),
            sampling=TreeSampling(1.0, "documents", 1.0),
            monotone=np.zeros(0, dtype=np.int8),
            random=np.random.default_rng(0),  # never drawn from
            n_threads=n_threads,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number("learning_rate", self.learning_rate, above=0.0)
        if not isinstance(self.newton, bool):
            raise InputError(f"newton must be True or False, not {self.newton!r}.")
        require_whole_number("max_leaves", self.max_leaves, least=2, optional=True)
        require_whole_number("min_documents", self.min_documents, least=1)


def _check_distance(distance: Distance, labels: Doubles) -> None:
    """Refuse what is no directed distance; warn where the paper's condition 9, |dist| about 1, is far off."""
    if not isinstance(distance, Distance):
        raise InputError(f"distance must be a Distance such as Linear(alpha=0.5), not {distance!r}.")
    require_distance(distance, labels)
    farthest = float(distance.between(labels.max(), labels.min()))
    low, high = CLOSE_TO_ONE
    if not isinstance(distance, Binary) and not low <= farthest <= high:
        warnings.warn(
            f"{distance} is {farthest:.2g} between the lowest and the highest label; MPBoost takes it for about 1 "
            "(condition 9). Choose a parameter that brings it there, and small steps by learning_rate.",
            stacklevel=5,
        )
