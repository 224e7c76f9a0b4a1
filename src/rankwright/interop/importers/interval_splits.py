"""Splits that send several intervals of values left, as LightGBM's zeros and targets without sets need them.

Such a split becomes several splits by a threshold, one for every end of an interval, with a copy of what is below
either side for every interval. What no document can reach is not copied.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.interop.importers.foreign_trees import ForeignTree, ensemble, foreign_trees
from rankwright.models.trees import require_trees

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankwright.base.arrays import Integers
    from rankwright.models.trees import TreeEnsemble

MAX_SPLITS = 2**16  # of a tree with all its copies
MAX_NODES = 2**20  # of all trees together, so that a hostile file cannot take minutes
MAX_FOLLOWED = 16  # features whose values are followed down a tree
BECOME_SPLITS = "its sets of categories or zeros become splits by a threshold here,"


class Intervals(NamedTuple):
    """The values between two ends go left and right in turn."""

    ends: Sequence[float]  # the highest value of every interval but the last, ascending
    first_left: bool


class Reach(NamedTuple):
    """The values of a feature with which a document can come to a node: above `low`, up to `high`, or missing."""

    low: float
    high: float
    missing: bool


ALL_VALUES = Reach(-np.inf, np.inf, missing=True)


class ValueInterval(NamedTuple):
    """Values that go to the same side of a split."""

    reach: Reach
    left: bool


def intervals_of_set(categories: Integers, below_first: float) -> Intervals:
    """Return where categories that go left are: a number is of the category that it has before its decimal point.

    Parameters
    ----------
    categories
        The categories of the set, which are not negative.
    below_first
        The highest value below category 0.
    """
    own = np.unique(categories)
    if not len(own):
        return Intervals([], first_left=False)
    apart = np.flatnonzero(np.diff(own) > 1)
    first, last = own[np.r_[0, apart + 1]], own[np.r_[apart, -1]]
    lows = np.where(first == 0, below_first, np.nextafter(first.astype(np.float64), -np.inf))
    highs = np.nextafter(last + 1.0, -np.inf)
    return Intervals(np.column_stack([lows, highs]).ravel().tolist(), first_left=False)


def without_sets(trees: TreeEnsemble) -> TreeEnsemble:
    """Return an ensemble that scores alike, with splits by a threshold only."""
    if not trees.has_sets:
        return trees
    own = foreign_trees(trees)
    intervals = [
        {split: intervals_of_set(levels, float(tree.threshold[split])) for split, levels in tree.sets.items()}
        for tree in own
    ]
    return ensemble(with_intervals(zip(own, intervals, strict=True)), trees.n_features)


def with_intervals(trees: Iterable[tuple[ForeignTree, Mapping[int, Intervals]]]) -> list[ForeignTree]:
    """Return trees in which some splits, given by their numbers, send intervals left.

    The thresholds of these splits do not matter; a missing value goes to the side that `missing_left` says.
    """
    nodes_left = iter(range(MAX_NODES))
    return [_copied(tree, intervals, nodes_left) if intervals else tree for tree, intervals in trees]


def _copied(tree: ForeignTree, intervals: Mapping[int, Intervals], nodes_left: Iterator[int]) -> ForeignTree:
    require_trees(np.array([0, len(tree.feature)]), tree.left, tree.right)
    followed = set(tree.feature[list(intervals)][:MAX_FOLLOWED].tolist())
    copies, pending = _Copies(tree), [_Visit(0, {}, -1, 0)]
    while pending:
        if next(nodes_left, None) is None:
            raise InputError(f"{BECOME_SPLITS} more than {MAX_NODES // 2:,} of its trees.")
        node, reaches, parent, side = pending.pop()
        if node < 0:
            copies.put(copies.add_leaf(-1 - node), parent, side)
            continue
        feature = int(tree.feature[node])
        own = intervals.get(node) or Intervals([float(tree.threshold[node])], first_left=True)
        reach, missing_left = reaches.get(feature, ALL_VALUES), bool(tree.missing_left[node])
        reached = _intervals_in(reach, own, missing_left=missing_left)
        for interval, split, side_of_split in copies.add_splits(node, reached, parent, side):
            child = int(tree.left[node] if interval.left else tree.right[node])
            below = {**reaches, feature: interval.reach} if feature in followed else reaches
            pending.append(_Visit(child, below, split, side_of_split))
    return copies.tree()


class _Visit(NamedTuple):
    """A node to copy, the values of features with which a document comes to it, and whose child it becomes."""

    node: int
    reaches: Mapping[int, Reach]
    parent: int
    side: int


def _intervals_in(reach: Reach, split: Intervals, *, missing_left: bool) -> list[ValueInterval]:
    """Return the intervals that can come to a split, by ascending values; missing values belong to one of them."""
    if reach.low >= reach.high:
        return [ValueInterval(reach, missing_left)]
    start, stop = bisect_right(split.ends, reach.low), bisect_left(split.ends, reach.high)
    ends = [reach.low, *split.ends[start:stop], reach.high]
    intervals = [
        ValueInterval(Reach(low, high, missing=False), split.first_left == (number % 2 == 0))
        for number, (low, high) in enumerate(pairwise(ends), start)
    ]
    if not reach.missing:
        return intervals
    sides = [interval.left for interval in intervals]
    if missing_left not in sides:
        return [*intervals, ValueInterval(Reach(reach.high, reach.high, missing=True), missing_left)]
    with_missing = sides.index(missing_left)
    intervals[with_missing] = ValueInterval(intervals[with_missing].reach._replace(missing=True), missing_left)
    return intervals


@dataclass
class _Copies:
    """The splits and leaves of a new tree, made from those of another."""

    original: ForeignTree
    split: list[int] = field(default_factory=list)  # of the original, by new split
    threshold: list[float] = field(default_factory=list)
    missing_left: list[int] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)
    leaf: list[int] = field(default_factory=list)  # of the original, by new leaf

    def add_splits(
        self, split: int, intervals: Sequence[ValueInterval], parent: int, side: int
    ) -> Iterator[tuple[ValueInterval, int, int]]:
        """Add the splits that tell intervals apart, and yield each interval with the split and side above it."""
        if len(intervals) == 1:
            yield intervals[0], parent, side
            return
        middle = len(intervals) // 2
        lower, upper = intervals[:middle], intervals[middle:]
        missing_left = any(interval.reach.missing for interval in lower)
        number = self._append(split, lower[-1].reach.high, missing_left=missing_left)
        self.put(number, parent, side)
        yield from self.add_splits(split, lower, number, 0)
        yield from self.add_splits(split, upper, number, 1)

    def put(self, child: int, parent: int, side: int) -> None:
        """Make a split or a leaf the child of a split, if it is not the root."""
        if parent >= 0:
            self.children[parent][side] = child

    def _append(self, split: int, threshold: float, *, missing_left: bool) -> int:
        if len(self.split) == MAX_SPLITS:
            raise InputError(f"{BECOME_SPLITS} more than {MAX_SPLITS:,} of one of its trees.")
        self.split.append(split)
        self.threshold.append(threshold)
        self.missing_left.append(int(missing_left))
        self.children.append([0, 0])
        return len(self.split) - 1

    def add_leaf(self, leaf: int) -> int:
        """Add a copy of a leaf, and return the number that a split names it by."""
        self.leaf.append(leaf)
        return -len(self.leaf)

    def tree(self) -> ForeignTree:
        """Return the new tree; copies share the gain and the cover of what they are copied from."""
        split, leaf = np.array(self.split, dtype=np.int64), np.array(self.leaf)
        left, right = np.array(self.children, dtype=np.int64).reshape(-1, 2).T
        return ForeignTree(
            feature=self.original.feature[split],
            threshold=np.array(self.threshold, dtype=np.float64),
            missing_left=np.array(self.missing_left, dtype=np.int64),
            left=left,
            right=right,
            gain=(self.original.gain / _at_least_one(split, len(self.original.gain)))[split],
            leaf_value=self.original.leaf_value[leaf],
            cover=(self.original.cover / _at_least_one(leaf, len(self.original.cover)))[leaf],
        )


def _at_least_one(copied: Integers, size: int) -> Integers:
    """Return how often each place is there, and 1 where it is not."""
    return np.maximum(1, np.bincount(copied, minlength=size))
