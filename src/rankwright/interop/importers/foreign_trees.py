"""Trees of other libraries as a `TreeEnsemble` in which every document reaches the same leaf.

Our features are 32-bit floats or missing. For these, every threshold of another library, `<` or `<=`, in 32 or 64
bits, equals "at most the highest 32-bit float that goes left", which may be infinite.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.models.level_sets import WORD_BITS, words_of
from rankwright.models.trees import PER_LEAF, TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Floats, Integers

MAX_SPLITS = 2**16  # of a nested tree
MAX_WORDS = 2**24  # of all sets of categories
ARRAYS = ("feature", "threshold", "missing_left", "left", "right", "gain", *PER_LEAF)

Node = TypeVar("Node")


@dataclass(frozen=True, eq=False)
class ForeignTree:
    """One tree with the arrays of a `TreeEnsemble`, before its thresholds are 32-bit floats.

    Parameters
    ----------
    threshold
        The highest value that goes left.
    feature, missing_left, left, right, gain
        The other arrays with one value per split.
    leaf_value, cover
        The arrays with one value per leaf.
    sets
        The levels that a split sends left, by the number of the split; its threshold is -1 or just below 0.
    """

    feature: NDArray[Any]
    threshold: Doubles
    missing_left: NDArray[Any]
    left: NDArray[Any]
    right: NDArray[Any]
    gain: Doubles
    leaf_value: Doubles
    cover: Doubles
    sets: Mapping[int, Integers] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_splits = len(self.feature)
        for name in ARRAYS:
            given, expected = len(getattr(self, name)), n_splits + (name in PER_LEAF)
            if given != expected:
                raise InputError(f"a tree of {n_splits} splits has {given} values of {name}.")

    @classmethod
    def leaf(cls, value: float) -> ForeignTree:
        """Return a tree without splits."""
        none = np.zeros(0)
        whole = none.astype(np.int64)
        return cls(whole, none, whole, whole, whole, none, np.array([value]), np.zeros(1))


class Walk(Generic[Node]):
    """The splits and leaves of a nested tree, numbered as a `TreeEnsemble` numbers them.

    `children_of` returns the left and the right child of a node, or None for a leaf.
    """

    def __init__(self, root: Node, children_of: Callable[[Node], tuple[Node, Node] | None]) -> None:
        self.splits: list[Node] = []
        self.leaves: list[Node] = []
        children: list[list[int]] = []
        pending = [(root, -1, 0)]  # nodes, each with its parent and whether it is the left or the right child
        while pending:
            node, parent, side = pending.pop()
            below = children_of(node)
            number = -1 - len(self.leaves) if below is None else len(self.splits)
            if parent >= 0:
                children[parent][side] = number
            if below is None:
                self.leaves.append(node)
                continue
            if len(self.splits) == MAX_SPLITS:
                raise InputError(f"one of its trees has more than {MAX_SPLITS:,} splits.")
            self.splits.append(node)
            children.append([0, 0])
            pending += [(below[0], number, 0), (below[1], number, 1)]
        self.left, self.right = np.array(children, dtype=np.int64).reshape(-1, 2).T


def highest_below(thresholds: Doubles) -> Doubles:
    """Return the highest 32-bit floats below 32-bit thresholds: `x < t` as `x <= highest_below(t)`."""
    with np.errstate(over="ignore"):
        return np.nextafter(nearest_float32(thresholds), np.float32(-np.inf)).astype(np.float64)


def nearest_float32(numbers: Doubles) -> Floats:
    """Return the 32-bit floats that were written as these decimal numbers."""
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32)


def ensemble(
    trees: Sequence[ForeignTree], n_features: int, *, scale: float = 1.0, bias: float = 0.0
) -> TreeEnsemble:
    """Return `scale` times the sum of the trees, plus `bias`, which becomes part of the first tree's leaves."""
    trees = trees or [ForeignTree.leaf(0.0)]
    arrays: dict[str, Any] = {name: np.concatenate([getattr(tree, name) for tree in trees]) for name in ARRAYS}
    splits = np.cumsum([0, *(len(tree.feature) for tree in trees)])
    arrays |= _all_sets(trees, splits)
    with np.errstate(over="ignore", invalid="ignore"):  # refused as not finite
        arrays["leaf_value"] = arrays["leaf_value"] * scale
        arrays["leaf_value"][: splits[1] + 1] += bias
    arrays["gain"] = np.where(np.isfinite(arrays["gain"]), arrays["gain"], 0.0)  # no part of a score
    return TreeEnsemble(splits, **arrays, n_features=n_features)


def _all_sets(trees: Sequence[ForeignTree], splits: Integers) -> dict[str, Any]:
    n_words = sum(int(own.max(initial=0)) // WORD_BITS + 1 for tree in trees for own in tree.sets.values())
    if n_words > MAX_WORDS:  # a file may name a high category in a few bytes
        raise InputError(f"its sets of categories take {n_words:,} words of 32 bits, more than {MAX_WORDS:,}.")
    sets = {
        int(first) + split: words_of(levels)
        for tree, first in zip(trees, splits[:-1], strict=True)
        for split, levels in tree.sets.items()
    }
    sizes = np.zeros(splits[-1], dtype=np.uint32)
    sizes[list(sets)] = [len(words) for words in sets.values()]
    words = [sets[split] for split in sorted(sets)]
    return {"set_size": sizes, "set_words": np.concatenate([np.zeros(0, np.uint32), *words])}


def foreign_trees(trees: TreeEnsemble) -> list[ForeignTree]:
    """Return the trees of an ensemble one by one: `ensemble` makes it of them again."""
    parts, all_sets = [], trees.level_sets
    for tree, (first, end) in enumerate(pairwise(trees.splits.tolist())):
        own = {name: getattr(trees, name)[first:end] for name in ARRAYS if name not in PER_LEAF}
        own |= {name: getattr(trees, name)[first + tree : end + tree + 1] for name in PER_LEAF}
        sets = {split - first: all_sets[split] for split in range(first, end) if split in all_sets}
        parts.append(ForeignTree(**own, sets=sets))
    return parts
