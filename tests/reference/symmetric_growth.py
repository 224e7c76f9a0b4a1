"""Symmetric trees, slowly: every split of every feature is tried on all leaves of a level together."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

from reference.binning import MISSING
from reference.trees_growth import Grower, Split, Tree

if TYPE_CHECKING:
    from reference.trees_growth import Leaf


class SymmetricGrower(Grower):
    def grow(self) -> tuple[Tree, list[float]]:
        self.round(self.sample, self.sample_weights)
        tree, leaves = Tree(), [self.root()]
        first = self.best_split(leaves[0])
        if first is not None and first.gain > self.min_gain:
            for _ in range(int(log2(self.max_leaves))):
                shared = self.shared_split(leaves)
                if shared is None or not shared.gain > self.min_gain:
                    break
                self.split_level(shared, leaves, tree)
        return tree, self.finish(leaves, tree)

    def split_level(self, shared: Split, leaves: list[Leaf], tree: Tree) -> None:
        for place, leaf in enumerate(leaves[:]):
            gain = self.gain(leaf, shared)
            if gain is not None:
                leaf.best = shared._replace(gain=gain)
                leaves[place : place + 1], new = self.split(leaf, tree)
                leaves.append(new)

    def shared_split(self, leaves: list[Leaf]) -> Split | None:
        best = None
        for feature in self.features:
            for code in range(len(self.edges[feature])):
                for missing_left in self.sides(leaves, feature, code):
                    split = Split(0.0, feature, code, missing_left, 0.0)
                    total = 0.0
                    for leaf in leaves:
                        total += self.gain(leaf, split) or 0.0
                    if best is None or total > best.gain:  # so the first of equals wins
                        best = split._replace(gain=total)
        return best

    def sides(self, leaves: list[Leaf], feature: int, code: int) -> tuple[bool, ...]:
        """The sides to try for missing values: both or, if none weighs anything, the heavier one."""
        rows = [row for leaf in leaves for row in leaf.sample]
        if any(
            self.packed([row for row in leaf.sample if self.codes[row, feature] == MISSING]) != (0, 0)
            for leaf in leaves
        ):
            return False, True
        left = [row for row in rows if self.codes[row, feature] <= code]
        return (2 * self.packed(left)[1] >= self.packed(rows)[1],)

    def gain(self, leaf: Leaf, split: Split) -> float | None:
        """The gain of a split in one leaf; None if it does not divide it."""
        left, right = self.divided(leaf.sample, split.feature, split.code, split.missing_left)
        if not self.allowed(leaf, split.feature, left, right, 1):
            return None
        both = self.worth(self.sums(left), leaf) + self.worth(self.sums(right), leaf)
        return both - self.worth(self.sums(leaf.sample), leaf)
