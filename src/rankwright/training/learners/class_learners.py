"""Weak classifiers for AdaBoost.MH: Hamming trees and decision products (Kégl & Busa-Fekete 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright import _native
from rankwright.models.class_trees import ClassTrees
from rankwright.models.trees import TreeEnsemble
from rankwright.training.learners.signal import Weak
from rankwright.training.monitor import RoundBlock, RoundsEnd, WeightedModel

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Floats
    from rankwright.training.binned_features import BinnedFeatures
    from rankwright.training.learners.signal import RunRounds


@dataclass(frozen=True, eq=False)
class ClassWeights:
    """Signed weights, one row per class and one column per document: positive for the document's class only.

    Absolute values sum to one, so that the sum of weight x vote is the edge of a classifier.
    """

    signed: Doubles

    def edge(self, votes: Doubles) -> float:
        """Return the edge of a classifier with these votes."""
        return _native.edge_of_votes(self.signed, votes)


@dataclass(frozen=True)
class HammingTree:
    """A tree that repeatedly splits the leaf whose best stump increases its edge most."""

    max_leaves: int

    @property
    def size(self) -> int:
        return self.max_leaves

    def fit(self, *arguments: Any) -> Any:
        return _native.grow_hamming_tree(*arguments)

    def boost(self, *arguments: Any) -> Any:
        return _native.boost_hamming_trees(*arguments)


@dataclass(frozen=True)
class DecisionProduct:
    """A product of stumps, which are fitted in turn until none increases the edge."""

    max_terms: int

    @property
    def size(self) -> int:
        return self.max_terms

    def fit(self, *arguments: Any) -> Any:
        return _native.fit_product(*arguments)

    def boost(self, *arguments: Any) -> Any:
        return _native.boost_products(*arguments)


class ClassLearner:
    """Fits classifiers that vote +1 or -1 per class and document, with the largest edge found.

    Parameters
    ----------
    binned
        The training documents.
    shape
        The kind of classifier: `HammingTree(max_leaves)` or `DecisionProduct(max_terms)`.
    opposite
        Whether the two sides of a split must vote against each other on every class.
    """

    def __init__(
        self, binned: BinnedFeatures, *, shape: HammingTree | DecisionProduct, opposite: bool, n_threads: int
    ) -> None:
        self.binned = binned
        self.shape = shape
        self.opposite = opposite
        self.n_threads = n_threads
        self._workspace = _native.GrowthWorkspace()

    def fit(self, signal: ClassWeights) -> Weak:
        """Return the classifier with the largest edge found, and its votes on every document."""
        tree, votes, outputs = self.shape.fit(
            self.binned.matrix, signal.signed, self.opposite, self.shape.size, self.n_threads, self._workspace
        )
        return Weak(self._model(tree, votes), outputs)

    def in_core(self, rule: _native.VoteRule) -> RunRounds:
        """Return the rounds of AdaBoost.MH, the only rule that asks for classifiers."""
        return partial(self._boost, rule)

    def _boost(self, rule: _native.VoteRule, scores: Doubles, n_rounds: int, following: Floats) -> RoundBlock:
        trees, steps, sums, outputs, end = self.shape.boost(
            self.binned.matrix,
            rule,
            scores,
            n_rounds,
            self.opposite,
            self.shape.size,
            following,
            self.binned.sources,
            self.n_threads,
            self._workspace,
        )
        models = [self._model(*tree) for tree in trees]
        members = [WeightedModel(*member) for member in zip(steps.tolist(), models, strict=True)]
        return RoundBlock(members, sums, outputs, RoundsEnd(end))

    def _model(self, tree: dict[str, Any], votes: Doubles) -> ClassTrees:
        splits = TreeEnsemble.grown({**tree, "leaf_value": np.zeros(len(votes))}, self.binned.n_features)
        return ClassTrees.grown(splits, votes, votes.shape[1])
