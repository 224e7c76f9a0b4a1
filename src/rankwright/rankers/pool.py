"""What a pool of calibrated classifiers is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.learners import DecisionProduct, HammingTree
from rankwright.models import Calibrated, Combination

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.arrays import Doubles
    from rankwright.data import RankingData
    from rankwright.models import ClassTrees, Scorer


class Split(NamedTuple):
    """Training queries to learn from, how often each document counts, and other queries to calibrate on."""

    learn: RankingData
    weights: Doubles | None
    calibrate: RankingData


class BaseLearner(NamedTuple):
    """What votes, and the split of the training queries, and its number, that it is trained on."""

    number: int
    split: Split
    shape: HammingTree | DecisionProduct


class Classifier(NamedTuple):
    """A classifier boosted for the most rounds that are tried, and the weight of each round."""

    trees: ClassTrees
    weights: list[float]

    def first(self, n_rounds: int) -> tuple[ClassTrees, float]:
        """Return the trees of the first rounds, all where it has stopped before, and what they weigh together."""
        weights = self.weights[:n_rounds]
        return self.trees.first(len(weights)), sum(weights)


@dataclass(frozen=True, eq=False)
class PoolMember:
    """A calibrated classifier, its scores of the documents that judge it and what they are worth."""

    learner: BaseLearner
    n_rounds: int
    trees: ClassTrees
    calibration: Scorer
    name: str
    scores: Doubles
    quality: float

    def weighted(self, weight: float) -> WeightedMember:
        """Return what the member is made of, with its weight."""
        number, _, shape = self.learner
        size = f"{shape.max_leaves} leaves" if isinstance(shape, HammingTree) else f"{shape.max_terms} terms"
        return WeightedMember(number, size, self.n_rounds, self.name, self.quality, weight)


class WeightedMember(NamedTuple):
    """What a member of the pool is made of, is worth by itself, and weighs in the mixture.

    Parameters
    ----------
    split
        The number of the split of the training queries, from 0.
    learner
        What votes, such as `"15 leaves"` or `"3 terms"`.
    rounds
        How many rounds were boosted.
    calibration
        Its name.
    value
        The metric of its own scores.
    weight
        The weights of all members sum to 1; 0 where the member was dropped.
    """

    split: int
    learner: str
    rounds: int
    calibration: str
    value: float
    weight: float


class Chosen(NamedTuple):
    """Members of the pool, their weights, and what the mixture is worth, if a validation part can tell."""

    members: Sequence[PoolMember]
    weights: Doubles
    value: float | None


def beyond_their_split(pool: Sequence[PoolMember]) -> Doubles:
    """Return what each member is worth beyond the mean of its split, whose queries may be harder than others."""
    by_split: dict[int, list[float]] = {}
    for one in pool:
        by_split.setdefault(id(one.learner.split), []).append(one.quality)
    beyond = [one.quality - np.mean(by_split[id(one.learner.split)]) for one in pool]
    return np.asarray(np.nan_to_num(beyond))  # a split without a relevant document tells nothing


def as_scorer(members: Sequence[PoolMember], weights: Doubles) -> Scorer:
    """Return the mixture; calibrations of one classifier share its trees."""
    by_trees: dict[int, list[tuple[PoolMember, float]]] = {}
    for member, weight in zip(members, weights, strict=True):
        if weight > 0:
            by_trees.setdefault(id(member.trees), []).append((member, float(weight)))
    scorers = []
    for own in by_trees.values():
        sharing, shares = zip(*own, strict=True)
        calibrations = Combination(tuple(one.calibration for one in sharing), np.array(shares))
        scorers.append(Calibrated(sharing[0].trees, calibrations))
    return Combination(tuple(scorers), np.ones(len(scorers)))
