"""Trees of other libraries as a `TreeEnsemble` in which every document reaches the same leaf.

Our features are 32-bit floats or missing. For these, every threshold of another library, `<` or `<=`, in 32 or 64
bits, equals "at most the highest 32-bit float that goes left", which may be infinite.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.models.trees import PER_LEAF, PER_SPLIT, TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Floats

MAX_SPLITS = 2**16  # of a nested tree

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
    """

    feature: NDArray[Any]
    threshold: Doubles
    missing_left: NDArray[Any]
    left: NDArray[Any]
    right: NDArray[Any]
    gain: Doubles
    leaf_value: Doubles
    cover: Doubles

    def __post_init__(self) -> None:
        n_splits = len(self.feature)
        for field in fields(self):
            given, expected = len(getattr(self, field.name)), n_splits + (field.name in PER_LEAF)
            if given != expected:
                raise InputError(f"a tree of {n_splits} splits has {given} values of {field.name}.")

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
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(tree, name) for tree in trees]) for name in PER_SPLIT + PER_LEAF
    }
    splits = np.cumsum([0, *(len(tree.feature) for tree in trees)])
    with np.errstate(over="ignore", invalid="ignore"):  # refused as not finite
        arrays["leaf_value"] = arrays["leaf_value"] * scale
        arrays["leaf_value"][: splits[1] + 1] += bias
    arrays["gain"] = np.where(np.isfinite(arrays["gain"]), arrays["gain"], 0.0)  # no part of a score
    return TreeEnsemble(splits, **arrays, n_features=n_features)
