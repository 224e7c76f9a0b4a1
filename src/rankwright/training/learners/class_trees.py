"""Regression trees that score several classes at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright import _native
from rankwright.models.class_trees import ClassTrees
from rankwright.models.trees import TreeEnsemble
from rankwright.training.learners.signal import Gradients, Weak
from rankwright.training.learners.tree import TreeLearner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.training.learners.tree import Sample


class ClassTreeLearner(TreeLearner):
    """Grows one tree for all classes; each leaf has one Newton value per class.

    The gain of a split is the sum of its gains over all classes.
    """

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

    def weak(self, tree: dict[str, Any], outputs: Doubles) -> Weak:
        n_splits, n_classes = len(tree["feature"]), len(outputs)
        values = tree.pop("leaf_value").reshape(n_splits + 1, n_classes)
        trees = TreeEnsemble.grown({**tree, "leaf_value": np.zeros(n_splits + 1)}, self.binned.n_features)
        return Weak(ClassTrees.grown(trees, values, n_classes), outputs)


class TreePerClass:
    """Grows one tree per class, one after the other."""

    def __init__(self, learner: TreeLearner) -> None:
        self.learner = learner

    def fit(self, signal: Gradients) -> Weak:
        pairs = zip(signal.gradient, signal.hessian, strict=True)
        each = [self.learner.fit(Gradients(gradient, hessian)) for gradient, hessian in pairs]
        trees = [weak.model for weak in each if isinstance(weak.model, TreeEnsemble)]
        return Weak(ClassTrees.of_each(trees), np.stack([weak.outputs for weak in each]))
