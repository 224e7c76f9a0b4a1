"""RankBoost (Freund, Iyer, Schapire & Singer, JMLR 2003): boosting over pairs of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.learners import MetricVoteLearner, Pairs, PairSignal, VoteLearner
from rankwright.learners.pairs import equal_strength
from rankwright.learners.signal import half_log_odds
from rankwright.learners.stump import NOTHING
from rankwright.metrics import NDCG, Metric
from rankwright.rankers.pair_ranker import PairRanker
from rankwright.rankers.parameters import DIRECTIONS, require_one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.arrays import Doubles
    from rankwright.learners.pairs import Strength
    from rankwright.training import FitTask


@dataclass(frozen=True)
class RankBoostRule:
    """Weighs pairs by how wrongly the ensemble orders them (figure 1 of the paper)."""

    remedy: ClassVar[str] = "use fewer rounds"
    pairs: Pairs

    def first_signal(self, scores: Doubles) -> PairSignal:
        """D_1: every pair alike, or those of every query together."""
        return self.pairs.signal(scores)

    def signal(self, scores: Doubles) -> PairSignal:
        """D_t+1(x0, x1) = D_t(x0, x1) exp(alpha_t (h_t(x0) - h_t(x1))) / Z_t."""
        return self.pairs.signal(scores)

    def step(self, signal: PairSignal, outputs: Doubles) -> float | None:
        """alpha_t = 1/2 ln((1 + r) / (1 - r)), the third method; None where no vote agrees with the pairs."""
        r = float(np.sum(signal.gradient * outputs))
        return float(half_log_odds(r)) if r > NOTHING else None

    def diagnostics(
        self, before: PairSignal, outputs: Doubles, _step: float, after: PairSignal
    ) -> dict[str, float]:
        """r, Z_t, the bound (the product of all Z so far) and what it bounds, the share of misordered pairs."""
        return {"r": float(np.sum(before.gradient * outputs))} | after.diagnostics(before)


class RankBoost(PairRanker):
    """Boosts votes of single features, each round for the pairs of documents that are still in the wrong order.

    Its `grid` for tuning: both ways to weigh pairs, and whether a feature may also vote downwards.

    Parameters
    ----------
    metric
        What the validation part judges rounds by, and what `choose="metric"` looks at.
    rounds
        Most votes to add; it stops earlier where none agrees with the weighted pairs.
    choose
        How the next vote is chosen: `"r"` by its agreement with the weighted pairs, as the paper does, or
        `"metric"` by the metric of the ensemble with it, among each feature's best vote.
    pair_weights
        What pairs weigh at first: `"uniform"` as much for every pair, `"query"` as much for every query.
    directions
        Which way a feature may vote: `"up"` where a higher value is better, as in LETOR, or `"both"`.
    max_bins
        Codes a feature's values are binned to, at most 255; thresholds lie between them.
    patience
        Rounds without a better validation value before stopping; None goes on.
    n_threads
        Threads to use, None for all that this process may; the model does not depend on it.
    """

    name: ClassVar[str] = "rankboost"
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "pair_weights": ("uniform", "query"),
        "directions": ("up", "both"),
    }

    def __init__(
        self,
        metric: Metric = NDCG(k=10),  # noqa: B008  # a frozen value
        *,
        rounds: int = 300,
        choose: str = "r",
        pair_weights: str = "uniform",
        directions: str = "up",
        max_bins: int = 255,
        patience: int | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.rounds = rounds
        self.choose = choose
        self.pair_weights = pair_weights
        self.directions = directions
        self.max_bins = max_bins
        self.patience = patience
        self.n_threads = n_threads

    def _strength(self, _labels: Doubles) -> Strength:
        return equal_strength

    def _rule(self, pairs: Pairs) -> RankBoostRule:
        return RankBoostRule(pairs)

    def _learner(self, task: FitTask) -> VoteLearner:
        train, directions = task.train, DIRECTIONS[self.directions]
        binned = train.binned(self.max_bins, task.n_threads)
        if self.choose == "r":
            return VoteLearner(binned, directions=directions, n_threads=task.n_threads)
        return MetricVoteLearner(
            binned, train.labels, self.metric, directions=directions, n_threads=task.n_threads
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_one_of("choose", self.choose, ("r", "metric"))
        require_one_of("directions", self.directions, tuple(DIRECTIONS))
