"""The dynamic Bayesian network of clicks (Chapelle & Zhang 2009): users may also give up without a click.

In its simplified form, in `chains.py`, a user who is not satisfied always reads on. Here reading on has a
probability, so that what was read after the last click is uncertain, and EM is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright import _native
from rankwright.base.resources import resolve_threads
from rankwright.clicks.counts import ClickCounts
from rankwright.clicks.models.chains import ReadingModel, SimplifiedBayesianModel, reading_chances
from rankwright.clicks.models.click_model import PairEstimates
from rankwright.reports.blocks import Facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.clicks.log import ClickLog
    from rankwright.clicks.models.click_model import BetaPrior
    from rankwright.reports.blocks import Block

CHANCES = (1e-9, 1.0 - 1e-9)


@dataclass(frozen=True, repr=False, eq=False)
class BayesianModel(ReadingModel):
    """Users read on with a fixed probability unless a clicked document satisfied them.

    `continuation` is that probability; `objectives` are the log-likelihood plus the priors', before every step of
    EM and after the last. The weight of a list is that of its first impression.
    """

    name: ClassVar[str] = "dynamic Bayesian network"
    satisfaction: PairEstimates
    continuation: float
    objectives: Doubles

    @classmethod
    def fit(
        cls, log: ClickLog, *, max_steps: int = 500, tolerance: float = 0.005, n_jobs: int | None = None
    ) -> BayesianModel:
        """Run EM from the simplified form, with the priors of that."""
        counts = ClickCounts.of(log)
        start = SimplifiedBayesianModel.fit(counts)
        weight = np.ones(len(log)) if log.weight is None else log.weight[log.offsets[:-1]][log.list_of_impression]
        step = _Step(log, weight, start.attraction.prior, start.satisfaction.prior, resolve_threads(n_jobs))
        attraction, satisfaction = (
            np.clip(each.values, *CHANCES) for each in (start.attraction, start.satisfaction)
        )
        continuation, objectives = 0.9, list[float]()
        while True:
            objective, attracts, satisfies, goes_on, read = step(attraction, satisfaction, continuation)
            converged = bool(objectives) and not objective - objectives[-1] > tolerance
            objectives.append(objective)
            if converged or len(objectives) > max_steps:
                break
            attraction, satisfaction, continuation = attracts, satisfies, goes_on
        clicked = counts.by_pair(counts.clicked)
        stopped = f"EM for the {cls.name} was stopped before it converged; raise max_steps."
        return cls(
            counts.n_lists,
            counts.notes if converged else (*counts.notes, stopped),
            _estimates(counts, attraction, read, start.attraction.prior),
            _estimates(counts, satisfaction, clicked, start.satisfaction.prior),
            continuation,
            np.array(objectives),
        )

    def going_on(self, log: ClickLog) -> Doubles:
        return self.continuation * (1.0 - self.satisfaction.in_log(log))

    def conditional(self, log: ClickLog) -> Doubles:
        return self._chances(log, given_clicks=True)

    def marginal(self, log: ClickLog) -> Doubles:
        return self._chances(log, given_clicks=False)

    def _chances(self, log: ClickLog, *, given_clicks: bool) -> Doubles:
        attraction, going_on = self.attraction.in_log(log), self.going_on(log)
        return reading_chances(log, attraction, going_on, given_clicks=given_clicks, unclicked=self.continuation)

    def estimates(self) -> dict[str, PairEstimates]:
        return {"attraction": self.attraction, "satisfaction": self.satisfaction}

    def parameters(self) -> Iterator[Block]:
        yield Facts({"probability of reading on": self.continuation})


@dataclass(frozen=True)
class _Step:
    """A step of EM: the objective at the given estimates, the next estimates, and how often each pair was read."""

    log: ClickLog
    weight: Doubles
    attraction: BetaPrior
    satisfaction: BetaPrior
    threads: int

    def __call__(
        self, attraction: Doubles, satisfaction: Doubles, continuation: float
    ) -> tuple[float, Doubles, Doubles, float, Doubles]:
        log, weight, pair = self.log, self.weight, self.log.pairs.of_impression
        clicked = log.clicked > 0
        read, satisfied, likelihood = _native.expect_reading(
            log.offsets, clicked.view(np.uint8), attraction[pair], satisfaction[pair], continuation, self.threads
        )
        objective = float(likelihood @ weight[log.offsets[:-1]])
        objective += _log_prior(self.attraction, attraction) + _log_prior(self.satisfaction, satisfaction)
        n_pairs = len(attraction)
        of_pair = [_sums(pair, weight * each, n_pairs) for each in (clicked, read, satisfied)]
        followed = np.ones(len(log), dtype=bool)
        followed[log.offsets[1:] - 1] = False  # nothing comes after the last document of a list
        unsatisfied = (weight * (read - satisfied))[followed].sum()
        began = np.zeros(len(log), dtype=bool)
        began[log.offsets[:-1]] = True
        went_on = (weight * read)[~began].sum()
        return (
            objective,
            np.clip(self.attraction.shrunken(of_pair[0], of_pair[1])[0], *CHANCES),
            np.clip(self.satisfaction.shrunken(of_pair[2], of_pair[0])[0], *CHANCES),
            float(np.clip(went_on / unsatisfied, *CHANCES)) if unsatisfied > 0 else continuation,
            of_pair[1],
        )


def _log_prior(prior: BetaPrior, values: Doubles) -> float:
    clicks, skips = prior.mean * prior.strength, (1.0 - prior.mean) * prior.strength
    return float((clicks * np.log(values) + skips * np.log1p(-values)).sum())


def _estimates(counts: ClickCounts, values: Doubles, trials: Doubles, prior: BetaPrior) -> PairEstimates:
    return PairEstimates.of(counts, values, prior.shrunken(values * trials, trials)[1], prior)


def _sums(pair: Integers, values: Doubles, n_pairs: int) -> Doubles:
    return np.bincount(pair, values, minlength=n_pairs).astype(np.float64)
