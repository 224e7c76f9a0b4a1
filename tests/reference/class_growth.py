"""Trees with a value for each class in every leaf, slowly."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

from reference.trees_growth import Grower, Tree, link, quantised

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass
class ClassGrower(Grower):
    """The grower with one number per leaf and class; gradients have one row per class."""

    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]

    def grow(self) -> tuple[Tree, list[list[float]]]:
        pairs = zip(self.gradient, self.hessian, strict=True)
        drawn = self.sample, self.sample_weights, self.levels
        self.classes = [quantised(gradient, hessian, *drawn) for gradient, hessian in pairs]
        tree, leaves = Tree(), [self.root()]
        leaves[0].best = self.best_split(leaves[0])
        while len(leaves) < self.max_leaves:
            gains = [float("-inf") if leaf.best is None else leaf.best.gain for leaf in leaves]
            place = gains.index(max(gains))
            if not gains[place] > self.min_gain:
                break
            leaves[place : place + 1], new = self.split(leaves[place], tree)
            leaves.append(new)
        return tree, self.finish(leaves, tree)

    def sums(self, rows):
        """Gradient and weight of each class."""
        return [
            (sum(gradients[row] for row in rows) * gradient_step, sum(weights[row] for row in rows) * weight_step)
            for (gradients, gradient_step), (weights, weight_step) in self.classes
        ]

    def worth(self, sums, _leaf):
        total = 0.0
        for gradient, weight in sums:
            if weight + self.l2 > 0:
                total += gradient * gradient / (weight + self.l2)
        return total

    def matter(self, missing, _min_documents):
        return len(missing) > 0

    def heavier(self, leaf, feature, code):
        left = [row for row in leaf.sample if self.codes[row, feature] <= code]
        return 2 * len(left) >= len(leaf.sample)

    def allowed(self, _leaf, _feature, left, right, min_documents):
        if min(len(left), len(right)) < min_documents:
            return False
        for side in (left, right):
            weight = 0.0
            for _, own in self.sums(side):
                weight += own
            if not weight > 0 or weight < self.min_hessian:
                return False
        return True

    def value(self, _sums, _leaf):
        return 0.0  # there are no constraints to be kept

    def constrain(self, _feature, _middle, _left, _right):
        pass

    def finish(self, leaves, tree):
        outputs = [[0.0] * self.gradient.shape[1] for _ in self.gradient]
        for place, leaf in enumerate(leaves):
            rows = leaf.sample + leaf.rest
            link(tree, leaf, -1 - place)
            tree.cover.append(len(rows))
            for own, gradient, hessian in zip(outputs, self.gradient, self.hessian, strict=True):
                weight = fsum(hessian[rows]) + self.l2
                tree.leaf_value.append(fsum(gradient[rows]) / weight if weight > 0 else 0.0)
                for row in rows:
                    own[row] = tree.leaf_value[-1]
        return outputs
