"""Splits on which zeros go to a side of their own, as LightGBM has them with `zero_as_missing`.

Such a split may send low and high values left, and zeros between them right. A `TreeEnsemble` compares with one
threshold per split, so this one becomes three splits, with two copies of what is below either side.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from rankwright.errors import InputError
from rankwright.interop.foreign_trees import ForeignTree
from rankwright.models.tree_arrays import require_trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

HIGHEST_ZERO = float(np.float32(1e-35))
"""The values from -HIGHEST_ZERO to HIGHEST_ZERO are zeros to LightGBM."""
BELOW_ZEROS = float(np.nextafter(np.float32(-HIGHEST_ZERO), np.float32(-np.inf)))
MOST_SPLITS = 2**16  # of a tree with all its copies


def with_side_of_zeros(tree: ForeignTree, zeros_left: NDArray[np.bool_]) -> ForeignTree:
    """Return a tree whose splits send zeros left or right as given, and other values by the threshold.

    Missing values must go where zeros go if zeros are not on the side of the threshold that they belong to.
    """
    among_zeros = np.abs(tree.threshold) <= HIGHEST_ZERO
    apart = ~among_zeros & (zeros_left != (tree.threshold >= 0.0))
    at_zeros = np.where(zeros_left, HIGHEST_ZERO, BELOW_ZEROS)
    tree = replace(tree, threshold=np.where(among_zeros, at_zeros, tree.threshold))
    return _expanded(tree, apart, zeros_left) if apart.any() else tree


def _expanded(tree: ForeignTree, apart: NDArray[np.bool_], zeros_left: NDArray[np.bool_]) -> ForeignTree:
    require_trees(np.array([0, len(tree.feature)]), tree.left, tree.right)
    copies = _Copies(tree)
    pending = [(0, -1, 0)]  # nodes to copy, and where they become a child
    while pending:
        node, parent, side = pending.pop()
        place = copies.add_leaf(-1 - node) if node < 0 else copies.n_splits
        if parent >= 0:
            copies.children[parent][side] = place
        if node >= 0:
            lower_ends = copies.add_three(node, zeros_left[node]) if apart[node] else copies.add(node)
            children = (tree.left[node], tree.right[node])
            pending += [(int(children[side]), end, side) for end in lower_ends for side in (0, 1)]
    return copies.tree()


@dataclass
class _Copies:
    """The splits and leaves of a new tree, made from those of another."""

    original: ForeignTree
    split: list[int] = field(default_factory=list)  # of the original, by new split
    threshold: list[float] = field(default_factory=list)
    missing_left: list[int] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)
    leaf: list[int] = field(default_factory=list)  # of the original, by new leaf

    @property
    def n_splits(self) -> int:
        return len(self.split)

    def add(self, split: int) -> list[int]:
        """Add a copy of a split, and return its place."""
        self._append(split, self.original.threshold[split], self.original.missing_left[split])
        return [self.n_splits - 1]

    def add_three(self, split: int, zeros_left: bool | np.bool_) -> list[int]:
        """Add the three splits for one with zeros apart, and return the places of the lower two.

        Of the four intervals, the first and the third go left, the second and the fourth right. Zeros, and with
        them missing values, are the third if they go left, and else the second.
        """
        low, middle, high = sorted([BELOW_ZEROS, HIGHEST_ZERO, float(self.original.threshold[split])])
        first = self.n_splits
        self._append(split, middle, not zeros_left)
        self._append(split, low, False)
        self._append(split, high, True)
        self.children[first] = [first + 1, first + 2]
        return [first + 1, first + 2]

    def _append(self, split: int, threshold: float, missing_left: bool) -> None:
        if self.n_splits == MOST_SPLITS:
            raise InputError(f"with zeros apart, one of its trees has more than {MOST_SPLITS:,} splits.")
        self.split.append(split)
        self.threshold.append(threshold)
        self.missing_left.append(int(missing_left))
        self.children.append([0, 0])

    def add_leaf(self, leaf: int) -> int:
        """Add a copy of a leaf, and return the number that a split names it by."""
        self.leaf.append(leaf)
        return -len(self.leaf)

    def tree(self) -> ForeignTree:
        """Return the new tree; copies share the gain and the cover of what they are copied from."""
        split, leaf, children = np.array(self.split), np.array(self.leaf), np.array(self.children)
        return ForeignTree(
            feature=self.original.feature[split],
            threshold=np.array(self.threshold),
            missing_left=np.array(self.missing_left),
            left=children[:, 0],
            right=children[:, 1],
            gain=(self.original.gain / np.bincount(split, minlength=1))[split],
            leaf_value=self.original.leaf_value[leaf],
            cover=(self.original.cover / np.bincount(leaf, minlength=1))[leaf],
        )
