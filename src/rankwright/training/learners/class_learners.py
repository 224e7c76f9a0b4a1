"""Weak classifiers for AdaBoost.MH: Hamming trees and decision products (Kégl & Busa-Fekete 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright import _native
from rankwright.models.class_trees import ClassTrees
from rankwright.models.trees import TreeEnsemble
from rankwright.training.learners.signal import Weak

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.training.training_set import BinnedFeatures

    Workspace = _native.GrowthWorkspace
    Votes = tuple[dict[str, Any], Doubles, Doubles]


@dataclass(frozen=True, eq=False)
class ClassWeights:
    """Signed weights, one row per class and one column per document: positive for the document's class only.

    Absolute values sum to one, so that the sum of weight x vote is the edge of a classifier.
    """

    signed: Doubles

    def edge(self, votes: Doubles) -> float:
        """Return the edge of a classifier with these votes."""
        return float((self.signed * votes).sum())


@dataclass(frozen=True)
class HammingTree:
    """A tree that repeatedly splits the leaf whose best stump increases its edge most."""

    max_leaves: int

    def fit(
        self, binned: _native.BinnedMatrix, signed: Doubles, opposite: bool, workspace: Workspace, n_threads: int
    ) -> Votes:
        """Return the splits, the votes of each leaf and those of each document."""
        return _native.grow_hamming_tree(binned, signed, opposite, self.max_leaves, n_threads, workspace)


@dataclass(frozen=True)
class DecisionProduct:
    """A product of stumps, which are fitted in turn until none increases the edge."""

    max_terms: int

    def fit(
        self, binned: _native.BinnedMatrix, signed: Doubles, opposite: bool, workspace: Workspace, n_threads: int
    ) -> Votes:
        return _native.fit_product(binned, signed, opposite, self.max_terms, n_threads, workspace)


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
        by_document = np.ascontiguousarray(signal.signed.T)
        tree, votes, outputs = self.shape.fit(
            self.binned.matrix, by_document, self.opposite, self._workspace, self.n_threads
        )
        splits, nothing = np.array([0, len(tree["feature"])]), np.zeros(len(votes))
        trees = TreeEnsemble(splits, **tree, leaf_value=nothing, n_features=self.binned.n_features)
        return Weak(ClassTrees(trees, votes, len(signal.signed)), np.ascontiguousarray(outputs.T))
