"""Regression trees that score several classes at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright import _native
from rankwright.models.class_trees import ClassTrees
from rankwright.training.learners.signal import Gradients, Weak
from rankwright.training.learners.tree import TreeLearner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.training.learners.tree import Sample


class ClassTreeLearner(TreeLearner):
    """Grows one tree for all classes; each leaf has one Newton value per class.

    The gain of a split is the sum of its gains over all classes.
    """

    shared: ClassVar[bool] = True

    def _grow(
        self, signal: Gradients, sample: Sample, features: NDArray[np.uint32]
    ) -> tuple[dict[str, Any], Doubles]:
        return _native.grow_class_tree(
            self.binned.matrix,
            signal.gradient,
            signal.hessian,
            sample.rows,
            sample.weights,
            features,
            *self.limits,
            self.n_threads,
            self._workspace,
        )

    def round_model(self, trees: Sequence[dict[str, Any]]) -> ClassTrees:
        """Return the tree with the values of all classes."""
        (tree,) = trees
        n_leaves = len(tree["feature"]) + 1
        values = tree["leaf_value"].reshape(n_leaves, -1)
        return ClassTrees.grown(self.model({**tree, "leaf_value": np.zeros(n_leaves)}), values, values.shape[1])


class TreePerClass(TreeLearner):
    """Grows one tree per class, one after the other."""

    def fit(self, signal: Gradients) -> Weak:
        """Return a tree per class, and their outputs, one row per class."""
        pairs = zip(signal.gradient, signal.hessian, strict=True)
        fitted = [self._fitted(Gradients(gradient, hessian)) for gradient, hessian in pairs]
        trees, outputs = zip(*fitted, strict=True)
        return Weak(self.round_model(trees), np.stack(outputs))

    def round_model(self, trees: Sequence[dict[str, Any]]) -> ClassTrees:
        """Return the trees of all classes, in their order."""
        return ClassTrees.of_each([self.model(tree) for tree in trees])
