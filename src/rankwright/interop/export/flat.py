"""Scorers as what other tools can hold: one ensemble of trees, or weights of features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankwright.errors import InputError
from rankwright.interop.foreign_trees import ensemble
from rankwright.models.combination import Combination
from rankwright.models.feature import FeatureScorer
from rankwright.models.linear import LinearScorer
from rankwright.models.query_features import QueryFeatureScorer
from rankwright.models.standardised import StandardisedScorer
from rankwright.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from rankwright.models.scorer import Scorer


@dataclass(frozen=True, eq=False)
class Flat:
    """The sum of an ensemble of trees and of a linear scorer, each of which may be None."""

    trees: TreeEnsemble | None
    linear: LinearScorer | None

    def single(self, target: str) -> TreeEnsemble | LinearScorer:
        """Return trees or weights for a target that cannot add the two."""
        one = self.linear if self.trees is None else self.trees
        if one is None or (self.trees is not None and self.linear is not None):
            raise InputError(
                f"The model adds trees and weighted features, which {target} cannot hold; export them apart."
            )
        return one

    def trees_only(self, target: str) -> TreeEnsemble:
        """Return the trees for a target that holds nothing else."""
        if self.trees is None or self.linear is not None:
            raise InputError(f"The model has weights of features, and {target} holds only trees.")
        return self.trees


def flattened(scorer: Scorer) -> Flat:
    """Return a scorer as one sum: all trees in one ensemble, all weighted features in one linear scorer."""
    parts = _parts(scorer, 1.0)
    forests = [one for one in parts if isinstance(one, TreeEnsemble)]
    linear = [one for one in parts if isinstance(one, LinearScorer)]
    trees = TreeEnsemble.concatenate(forests) if forests else None
    if trees is not None and not trees.n_trees:
        trees = ensemble([], trees.n_features)  # a single leaf of 0: no format has a model without trees
    return Flat(trees, _sum(linear) if linear else None)


def _parts(scorer: Scorer, weight: float) -> list[TreeEnsemble | LinearScorer]:
    match scorer:
        case TreeEnsemble():
            return [scorer.bare() if weight == 1.0 else scorer.bare().scaled(weight)]
        case LinearScorer():
            own = replace(scorer.bare(), weights=weight * scorer.weights, intercept=weight * scorer.intercept)
            return [own]
        case FeatureScorer():
            weights, missing = np.zeros(scorer.n_features), np.zeros(scorer.n_features)
            weights[scorer.feature], missing[scorer.feature] = weight * scorer.direction, scorer.missing
            return [LinearScorer(weights, missing)]
        case Combination():
            members = zip(scorer.members, scorer.weights, strict=True)
            return [part for member, own in members for part in _parts(member, weight * float(own))]
    raise InputError(_refusal(scorer))


def _refusal(scorer: Scorer) -> str:
    if isinstance(scorer, QueryFeatureScorer):
        return (
            "The model uses columns computed within the query, which the target does not compute; train without "
            "them (query_features), or compute and rank with rankwright."
        )
    if isinstance(scorer, StandardisedScorer):
        return "The model standardises scores within the query; export the models that it mixes instead."
    return (
        f"A scorer of kind {scorer.kind!r} cannot be exported: only trees and weighted features, and their sums."
    )


def _sum(parts: list[LinearScorer]) -> LinearScorer:
    """Return one linear scorer; where members replace a missing value differently, no single value would do."""
    if len(parts) == 1:
        return parts[0]
    weights = np.sum([one.weights for one in parts], axis=0)
    missing = np.zeros(len(weights))
    for one in parts:
        missing[one.used_features] = one.missing[one.used_features]
    for one in parts:
        if (one.missing != missing)[one.used_features].any():
            raise InputError(
                "The members of the model replace missing values differently, so they cannot be summed."
            )
    return LinearScorer(weights, missing, sum(one.intercept for one in parts))
