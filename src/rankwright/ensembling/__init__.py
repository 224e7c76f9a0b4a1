"""Combining rankers: the best blend of a few, mixtures of many, and the pool that any ranker can join."""

from rankwright.ensembling.blend import Blend, blend
from rankwright.ensembling.curve import Curve
from rankwright.ensembling.line_search import LineSearch, refined_in_turn
from rankwright.ensembling.mixtures import (
    Mixture,
    Standing,
    exponential_mixture,
    mix_exponentially,
    mix_standardised,
    uniform_mixture,
    within_query,
)
from rankwright.ensembling.pool import Candidate, Judge, Member, Pool, ranker_candidate

__all__ = [
    "Blend",
    "Candidate",
    "Curve",
    "Judge",
    "LineSearch",
    "Member",
    "Mixture",
    "Pool",
    "Standing",
    "blend",
    "exponential_mixture",
    "mix_exponentially",
    "mix_standardised",
    "ranker_candidate",
    "refined_in_turn",
    "uniform_mixture",
    "within_query",
]
