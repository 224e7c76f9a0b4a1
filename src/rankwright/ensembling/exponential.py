"""Mixtures of scorers weighted exponentially by quality (Busa-Fekete, Kégl, Éltető & Szarvas 2011, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.data import Ranking
from rankwright.errors import InputError
from rankwright.metrics import NDCG, mean_over_queries
from rankwright.models import Combination
from rankwright.models.scorer import checked_scorers
from rankwright.threads import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from rankwright.arrays import Doubles
    from rankwright.data import RankingData
    from rankwright.data.dataset import Judged
    from rankwright.metrics import Metric

EXPONENTS = (0.0, 5.0, 10.0, 20.0, 50.0, 100.0, 150.0, 200.0)
KEPT_WEIGHT = 0.99


def exponential_weights(qualities: ArrayLike, exponent: float) -> Doubles:
    """Return exp(exponent x quality) of each member, over their sum; 0 weighs all alike."""
    values = np.asarray(qualities, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise InputError("qualities must be finite numbers, at least one.")
    weights = np.exp(exponent * (values - values.max()))
    return np.asarray(weights / weights.sum())


def without_negligible(weights: Doubles, kept_weight: float = KEPT_WEIGHT) -> Doubles:
    """Return the weights with the lightest set to 0 while the others keep this share; they sum to 1 again."""
    heaviest = np.argsort(-weights, kind="stable")
    n_kept = 1 + int(np.searchsorted(np.cumsum(weights[heaviest]), kept_weight * weights.sum()))
    kept = np.zeros_like(weights)
    kept[heaviest[:n_kept]] = weights[heaviest[:n_kept]]
    return np.asarray(kept / kept.sum())


@dataclass(frozen=True, eq=False)
class Judge:
    """Judged documents, and the metric by which scores of them are judged."""

    data: RankingData | Judged
    metric: Metric
    n_threads: int

    def __call__(self, scores: Doubles) -> float:
        """Return the mean of the metric over queries."""
        ranking = Ranking.of(scores, self.data.groups, n_threads=self.n_threads)
        return mean_over_queries(self.metric.per_query(self.data.y, ranking, n_threads=self.n_threads))


@dataclass(frozen=True, eq=False)
class Weighting:
    """The weights of a pool's members, the exponent they come from, and what the mixture is worth."""

    weights: Doubles
    exponent: float
    value: float


def weigh(
    scores: Doubles, judge: Judge, *, qualities: Doubles | None = None, exponents: Sequence[float] = EXPONENTS
) -> Weighting:
    """Return the exponential weights that make the best mixture; of equals, the most even ones.

    Parameters
    ----------
    scores
        A row a member: its scores of the judge's documents, all on one scale.
    judge
        Who says what a member and a mixture is worth.
    qualities
        What each member is worth to the judge, if that is known already.
    exponents
        Those to try.
    """
    worth = np.array([judge(own) for own in scores]) if qualities is None else qualities
    tried = [exponential_weights(worth, exponent) for exponent in sorted(exponents)]
    values = [judge(mixed(scores, weights)) for weights in tried]
    best = int(np.argmax(values))
    return Weighting(tried[best], sorted(exponents)[best], values[best])


def mixed(scores: Doubles, weights: Doubles) -> Doubles:
    """Return the weighted sum of the rows, added up member by member."""
    total = np.zeros(scores.shape[1])
    for weight, own in zip(weights, scores, strict=True):
        if weight:
            total += weight * own
    return total


def mix_exponentially(
    rankers: Sequence[Any],
    on: RankingData,
    *,
    metric: Metric = NDCG(k=10),  # noqa: B008  # a frozen value
    exponents: Sequence[float] = EXPONENTS,
    kept_weight: float = KEPT_WEIGHT,
    n_threads: int | None = None,
) -> Combination:
    """Return the exponentially weighted mixture of a pool of fitted rankers, or scorers, that are on one scale.

    Each weighs exp(c x its metric on the judged documents `on`), and c is the one of `exponents` whose mixture
    does best there. Members of negligible weight are left out.
    """
    scorers = checked_scorers(rankers)
    if not len(exponents) or not all(np.isfinite(one) and one >= 0 for one in exponents):
        raise InputError(f"exponents must be numbers from 0, at least one, not {exponents!r}.")
    if not 0.0 < kept_weight <= 1.0:
        raise InputError(f"kept_weight must be above 0 and at most 1, not {kept_weight!r}.")
    threads = resolve_threads(n_threads)
    scores = np.stack([one.predict(on, n_threads=threads) for one in scorers])
    weighting = weigh(scores, Judge(on, metric, threads), exponents=exponents)
    weights = without_negligible(weighting.weights, kept_weight)
    kept = np.flatnonzero(weights)
    about: dict[str, Any] = {"exponent": weighting.exponent, "metric": str(metric), "value": weighting.value}
    return Combination(tuple(scorers[int(place)] for place in kept), weights[kept]).described(about=about)
