"""RankBoost (Freund, Iyer, Schapire & Singer, JMLR 2003): boosting over pairs of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rankwright.base.errors import InputError
from rankwright.metrics.gain import NDCG
from rankwright.rankers.parameters.checks import OneOf
from rankwright.rankers.parameters.declaration import DIRECTIONS, DirectionParameters, MetricParameter, parameter
from rankwright.rankers.parameters.search_space import Choices
from rankwright.rankers.shared.pair_ranker import PairRanker
from rankwright.training.learners.pair_signal import LabelPairs, NativePairs, PairSignal, equal_strength
from rankwright.training.learners.signal import half_log_odds
from rankwright.training.learners.stump import NOTHING, MetricVoteLearner, VoteLearner

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.training.fit_task import FitTask
    from rankwright.training.learners.pair_signal import Strength


@dataclass(frozen=True)
class RankBoostRule:
    """Weights pairs by the exponential loss of the ensemble (figure 1 of the paper)."""

    remedy: ClassVar[str] = "use fewer rounds"
    pairs: LabelPairs

    def first_signal(self, scores: Doubles) -> PairSignal:
        """D_1: the same weight for every pair, or the same total weight for every query."""
        return self.pairs.signal(scores)

    def step(self, signal: PairSignal, outputs: Doubles) -> float | None:
        """alpha_t = 1/2 ln((1 + r) / (1 - r)), the third method; None if no vote agrees with the pairs."""
        r = signal.agreement(outputs)
        return half_log_odds(r) if r > NOTHING else None

    def signal(self, scores: Doubles) -> PairSignal:
        """D_t+1(x0, x1) = D_t(x0, x1) exp(alpha_t (h_t(x0) - h_t(x1))) / Z_t."""
        return self.pairs.signal(scores)

    def native(self) -> NativePairs | None:
        """Return the rule in native code, unless there are too many labels."""
        return NativePairs.of(self.pairs)

    def diagnostics(
        self, before: PairSignal, outputs: Doubles, _step: float, after: PairSignal
    ) -> dict[str, float]:
        """r, Z_t, the product of all Z so far, and the fraction of misordered pairs, which it bounds."""
        return {"r": before.agreement(outputs)} | after.diagnostics(before)


class RankBoost(DirectionParameters, PairRanker):
    """Boosted votes of single features; each round concentrates on the pairs that are still in the wrong order.

    Examples
    --------
    >>> judged = rw.RankingData([[2], [float("nan")], [0]], [2, 1, 0], ["hats"] * 3)
    >>> ranker = rw.RankBoost(rounds=2).fit(judged)
    >>> ranker.rank(judged).tolist()  # a missing value moves a document neither up nor down
    [1, 2, 3]
    """

    name: ClassVar[str] = "rankboost"

    metric: MetricParameter = parameter(
        meaning="Metric that chooses the round on the validation data, and the next vote if choose='metric'.",
        default=NDCG(k=10),
        kw_only=False,
    )
    rounds: int = parameter(
        meaning="Maximum number of votes; boosting stops early if no vote agrees with the weighted pairs. "
        "Validation data choose how many are kept.",
        default=300,
    )
    choose: str = parameter(
        OneOf(("r", "metric")),
        "How the next vote is chosen: by 'r', its agreement with the weighted pairs, as in the paper; or by the "
        "'metric' of the ensemble with it, among the best vote of each feature.",
        default="r",
        search=Choices("r", "metric"),
    )
    directions: str = parameter(default="up", tune=("up", "both"))

    def _check_together(self) -> None:
        super()._check_together()
        if self.all_thresholds and self.choose == "metric":
            raise InputError(
                "choose='metric' measures one vote per feature: all_thresholds=True needs choose='r'."
            )

    def _strength(self, _labels: Doubles) -> Strength:
        return equal_strength

    def _rule(self, pairs: LabelPairs) -> RankBoostRule:
        return RankBoostRule(pairs)

    def _learner(self, task: FitTask) -> VoteLearner:
        train, directions = task.train, DIRECTIONS[self.directions]
        binned = self._binned(task)
        if self.choose == "r":
            return VoteLearner(binned, directions=directions, n_threads=task.n_threads)
        return MetricVoteLearner(
            binned, train.labels, self.metric, directions=directions, n_threads=task.n_threads
        )
