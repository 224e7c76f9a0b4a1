"""Mixtures of the members of a pool, and their weights: by value, or equal on the scale of the query."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.ensembling.pool import Judge, M, Member
from rankwright.metrics.catalogue import MetricLike, as_metric
from rankwright.metrics.gain import NDCG
from rankwright.models.combination import Combination, StandardisedScorer, share_columns
from rankwright.models.scorer import checked_scorers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.models.scorer import Scorer

EXPONENTS = (0.0, 5.0, 10.0, 20.0, 50.0, 100.0, 150.0, 200.0)
KEPT_WEIGHT = 0.99
EXPONENT = 50.0  # of `plausible_weights`; see `benchmarks/portfolio.py`


class Standing(NamedTuple):
    """A member's name, its value on its own and its weight in the mixture."""

    name: str
    value: float
    weight: float


@dataclass(frozen=True, eq=False)
class Mixture(Generic[M]):
    """Members with their weights.

    Parameters
    ----------
    weights
        One per member, non-negative, with sum 1.
    value
        The judge's value of the mixture; None if it was not judged.
    exponent
        The exponent of the weights; None if they are not exponential.
    """

    members: Sequence[M]
    weights: Doubles
    value: float | None = None
    exponent: float | None = None

    def pruned(self, kept_weight: float = KEPT_WEIGHT) -> Mixture[M]:
        """Return the mixture with negligible weights set to 0."""
        return replace(self, weights=prune_weights(self.weights, kept_weight))

    def scorer(self) -> Combination:
        """Return the members with non-zero weight as one scorer; those with the same columns share them."""
        kept = np.flatnonzero(self.weights)
        scorers = tuple(self.members[number].scorer for number in kept.tolist())
        return share_columns(Combination(scorers, self.weights[kept]))

    def standings(self) -> list[Standing]:
        """Return all members, by weight and then by value, highest first."""
        rows = [
            Standing(member.name, member.value, float(weight))
            for member, weight in zip(self.members, self.weights, strict=True)
        ]
        return sorted(rows, key=lambda row: (-row.weight, -row.value))


def uniform_mixture(members: Sequence[M], judge: Judge | None = None) -> Mixture[M]:
    """Return the mixture with equal weights; with a judge, also its value."""
    weights = uniform_weights(len(members))
    value = None if judge is None else judge(weighted_sum([member.scores for member in members], weights))
    return Mixture(members, weights, value)


def exponential_mixture(
    members: Sequence[M], judge: Judge, *, exponents: Sequence[float] = EXPONENTS
) -> Mixture[M]:
    """Return the mixture with weights exp(c x value), for the exponent c whose mixture the judge values most.

    Among equally good exponents the smallest is taken, which gives the most even weights.
    """
    values, scores = [member.value for member in members], [member.scores for member in members]
    for member in members:
        if not np.isfinite(member.value):
            raise InputError(
                f"{member.name} has no finite value: the judging queries must count for {judge.metric}."
            )
    tried = []
    for exponent in sorted(exponents):
        weights = exponential_weights(values, exponent)
        tried.append(Mixture(members, weights, judge(weighted_sum(scores, weights)), exponent))
    return best_mixture(tried)


def best_mixture(mixtures: Sequence[Mixture[M]]) -> Mixture[M]:
    """Return the judged mixture with the highest value; the first of equals."""
    values = [np.nan if mixture.value is None else mixture.value for mixture in mixtures]
    return mixtures[int(np.argmax(values))]


def within_query(scorer: Scorer) -> StandardisedScorer:
    """Return the scorer with its scores standardised within each query, which puts all scorers on one scale."""
    names, categories, ranges = scorer.feature_names, scorer.categories, scorer.ranges
    return StandardisedScorer(scorer).described(feature_names=names, categories=categories, ranges=ranges)


def mix_exponentially(
    rankers: Sequence[Any],
    on: RankingData,
    *,
    metric: MetricLike = NDCG(k=10),  # noqa: B008  # a frozen value
    exponents: Sequence[float] = EXPONENTS,
    kept_weight: float = KEPT_WEIGHT,
    n_jobs: int | None = None,
) -> Combination:
    """Return the exponentially weighted mixture of fitted rankers or scorers whose scores share one scale.

    The weight of each is exp(c x its metric) (Busa-Fekete, Kégl, Éltető & Szarvas 2011, section 5). Members of
    negligible weight are left out.

    Parameters
    ----------
    rankers
        The fitted rankers or scorers.
    on
        Judged documents that determine the weights; preferably not those that the rankers were trained on.
    metric
        The metric, its name, or a function of labels in ranked order.
    exponents
        The values of c to try; the one with the best mixture is taken.
    kept_weight
        Fraction of the total weight that the members kept must have.
    n_jobs
        Number of threads, None for all that are available; the mixture does not depend on it.

    Examples
    --------
    >>> judged = rw.synthetic.gaussian_queries(20, spread=(0.2, 1.3))
    >>> pool = [rw.MART(rounds=1, max_leaves=leaves).fit(judged) for leaves in (2, 8)]
    >>> mixture = rw.mix_exponentially(pool, judged, metric="map", exponents=[20])
    >>> mixture.weights.round(1).tolist()
    [0.4, 0.6]
    """
    scorers = checked_scorers(rankers)
    if not len(exponents) or not all(np.isfinite(exponent) and exponent >= 0 for exponent in exponents):
        raise InputError(f"exponents must be a list of non-negative numbers, not {exponents!r}.")
    if not 0.0 < kept_weight <= 1.0:
        raise InputError(f"kept_weight must be above 0 and at most 1, not {kept_weight!r}.")
    measured = as_metric(metric)
    judge = Judge(on, measured, n_jobs)
    members = [Member.judged(f"ranker {number}", scorer, judge) for number, scorer in enumerate(scorers, start=1)]
    mixture = exponential_mixture(members, judge, exponents=exponents)
    about: dict[str, Any] = {"exponent": mixture.exponent, "metric": str(measured), "value": mixture.value}
    return mixture.pruned(kept_weight).scorer().described(about=about)


def mix_standardised(rankers: Sequence[Any]) -> Combination:
    """Return the mean of the scores of fitted rankers or scorers, standardised within each query.

    Examples
    --------
    >>> judged = rw.synthetic.gaussian_queries(20)
    >>> mixture = rw.mix_standardised([rw.RankSVM().fit(judged), rw.MART(rounds=5).fit(judged)])
    >>> mixture.weights.tolist()
    [0.5, 0.5]
    >>> rw.save(mixture, "mixture.rw")
    """
    scorers = [within_query(scorer) for scorer in checked_scorers(rankers)]
    return share_columns(Combination(tuple(scorers), uniform_weights(len(scorers))))


def uniform_weights(n_members: int) -> Doubles:
    """Return equal weights that sum to 1."""
    return np.full(n_members, 1.0 / n_members)


def exponential_weights(values: ArrayLike, exponent: float) -> Doubles:
    """Return weights proportional to exp(exponent x value) that sum to 1; exponent 0 gives equal weights.

    Equation 6 of Busa-Fekete, Kégl, Éltető & Szarvas (2011).
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all():
        raise InputError("values must be at least one number, and all of them finite.")
    weights = np.exp(exponent * (numbers - numbers.max()))
    return np.asarray(weights / weights.sum())


def plausible_weights(values: Doubles) -> Doubles:
    """Return weights of members that are less the further a member is behind the best, if that is certain.

    The weight is proportional to exp(-min(t^2 / 2, 50 d)), where d is the mean difference from the best member,
    query by query, and t is d divided by its standard error. With few queries t decides: members that they cannot
    tell from the best weigh nearly the same. With many, d decides, as in `exponential_weights`.

    Parameters
    ----------
    values
        One row per member and one column per query; NaN for a query that is left out.
    """
    known = values[:, ~np.isnan(values).any(axis=0)]
    n_queries = known.shape[1]
    if not n_queries:
        return uniform_weights(len(values))
    differences = known[np.argmax(known.mean(axis=1))] - known
    behind = differences.mean(axis=1)
    errors = differences.std(axis=1, ddof=1) / np.sqrt(n_queries) if n_queries > 1 else np.ones(len(known))
    t = np.divide(behind, errors, out=np.where(behind > 0, np.inf, 0.0), where=errors > 0)
    weights = np.exp(-np.minimum(t**2 / 2, EXPONENT * behind))
    return np.asarray(weights / weights.sum())


def best_alone(values: Doubles) -> Doubles:
    """Give the best member all the weight; `values` as in `plausible_weights`."""
    return np.asarray(np.eye(len(values))[np.argmax(plausible_weights(values))])


def prune_weights(weights: Doubles, kept_weight: float = KEPT_WEIGHT) -> Doubles:
    """Return the weights with the smallest set to 0, while the rest keep at least `kept_weight` of the sum.

    The weights that are left sum to 1.
    """
    heaviest = np.argsort(-weights, kind="stable")
    n_kept = 1 + int(np.searchsorted(np.cumsum(weights[heaviest]), kept_weight * weights.sum()))
    kept = np.zeros_like(weights)
    kept[heaviest[:n_kept]] = weights[heaviest[:n_kept]]
    return np.asarray(kept / kept.sum())


def weighted_sum(columns: Sequence[Doubles], weights: Iterable[float]) -> Doubles:
    """Return the sum of weight x column, added column by column: a score does not depend on the rows beside it."""
    total = np.zeros(len(columns[0]))
    for weight, column in zip(weights, columns, strict=True):
        if weight:
            total += weight * column
    return total
