"""Adapts models to how targets treat missing values, thresholds and numbers, and walks over their trees."""

from __future__ import annotations

import re
from dataclasses import replace
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.models.serialisation import shown
from rankwright.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankwright.base.arrays import Floats, Integers
    from rankwright.models.linear import LinearScorer

HIGHEST = np.finfo(np.float32).max
MAX_DEPTH = 200  # of trees that become nested JSON

Node = TypeVar("Node")
Version = tuple[int, int]


class Missing(Enum):
    """What a target does with a missing value."""

    SIDES = "sends a missing value to the side that the split says"
    ZERO = "counts a missing value as 0"
    RIGHT = "sends a missing value right at every split"


def parsed_version(version: str) -> Version:
    """Return major and minor version."""
    match = re.fullmatch(r"(\d{1,3})\.(\d{1,3})(\.\d+)*", str(version))
    if match is None:
        raise InputError(
            f"{parameter('version')} must be numbers with dots between them, such as 3.8, not {shown(version)}."
        )
    return int(match[1]), int(match[2])


def opensearch_rule(version: Version | None) -> Missing:
    """Return the rule of a version of OpenSearch, which must be given."""
    known = "2.19 and 3.2 or later"
    if version is None:
        raise InputError(
            f"OpenSearch treats missing values differently by version: give {parameter('version')} ({known})."
        )
    if version == (2, 19):
        return Missing.ZERO
    if (3, 2) <= version < (3, 8):
        return Missing.RIGHT
    if (3, 8) <= version < (4, 0):
        return Missing.SIDES
    raise InputError(f"How OpenSearch {version[0]}.{version[1]} treats missing values is not known, only {known}.")


def solr_rule(version: Version | None) -> Missing:
    """Return the rule of a version of Solr, by default a recent one."""
    if version is not None and not (6, 4) <= version < (11, 0):
        raise InputError(f"Solr {version[0]}.{version[1]} is not known, only 6.4 to 10.")
    return Missing.SIDES if version is None or version >= (9, 2) else Missing.ZERO


def require_same_missing(model: TreeEnsemble | LinearScorer, rule: Missing, target: str) -> None:
    """Refuse a model that treats missing values differently from the target."""
    if isinstance(model, TreeEnsemble):
        zeros_left = model.threshold >= 0.0
        expected = {
            Missing.SIDES: model.missing_left,
            Missing.ZERO: zeros_left,
            Missing.RIGHT: np.zeros_like(zeros_left),
        }
        different = int((model.missing_left != expected[rule]).sum())
        what, all_of_them = "splits send it elsewhere", len(model.threshold)
    else:
        rule, used = Missing.ZERO, model.used_features
        different = int((model.missing[used] != 0.0).sum())
        what, all_of_them = "features replace it by another number", len(used)
    if different:
        raise InputError(
            f"{target} {rule.value}, and {different:,} of the model's {all_of_them:,} {what}: "
            "if no value is ever missing, export with missing=False (--no-missing)."
        )


def with_finite_thresholds(trees: TreeEnsemble) -> TreeEnsemble:
    """Return trees that treat all finite and missing values alike, for a target without infinite numbers."""
    if np.isfinite(trees.threshold).all():
        return trees
    never = trees.threshold == -np.inf  # no finite number is so low: exchange sides, and all are below the highest
    splits = _exchanged(trees, never, np.where(never, HIGHEST, np.minimum(trees.threshold, HIGHEST)))
    return replace(trees, **splits._asdict())


class SplitArrays(NamedTuple):
    """The thresholds of splits, the sides of their missing values, and their children."""

    threshold: Floats
    missing_left: NDArray[np.uint8]
    left: NDArray[np.int32]
    right: NDArray[np.int32]


def strictly_below(trees: TreeEnsemble) -> SplitArrays:
    """Return the splits for `<`, so that no 32-bit float changes sides; thresholds stay finite."""
    always = trees.threshold == HIGHEST  # no finite number is above: exchange sides, and none is below the lowest
    with np.errstate(over="ignore"):
        above = np.nextafter(trees.threshold, np.float32(np.inf))
    # What is not in a set of levels is left of it, as a lower number is.
    exchanged = always | (trees.set_size > 0)
    return _exchanged(trees, exchanged, np.where(always, -HIGHEST, above).astype(np.float32))


def _exchanged(trees: TreeEnsemble, chosen: NDArray[np.bool_], threshold: Floats) -> SplitArrays:
    """Return splits with other thresholds; the chosen ones have their sides exchanged."""
    return SplitArrays(
        threshold,
        np.where(chosen, 1 - trees.missing_left, trees.missing_left).astype(np.uint8),
        np.where(chosen, trees.right, trees.left),
        np.where(chosen, trees.left, trees.right),
    )


def require_float32(trees: TreeEnsemble, target: str) -> TreeEnsemble:
    """Return the trees with leaves rounded to 32-bit floats, in which the target sums."""
    with np.errstate(over="ignore"):
        leaves = trees.leaf_value.astype(np.float32)
    if not np.isfinite(leaves).all():
        raise InputError(f"{target} has 32-bit numbers, and a leaf of the model is beyond them.")
    return replace(trees, leaf_value=leaves.astype(np.float64))


def never_negative(trees: TreeEnsemble) -> tuple[TreeEnsemble, float]:
    """Return the trees with a constant added to the first, so that no score is below 0, and the constant."""
    first_leaves = trees.splits[:-1] + np.arange(trees.n_trees)
    lowest = float(np.minimum.reduceat(trees.leaf_value, first_leaves).sum())
    if lowest >= 0.0:
        return trees, 0.0
    leaves = trees.leaf_value.copy()
    leaves[: trees.splits[1] + 1] -= lowest
    return replace(trees, leaf_value=leaves), -lowest


def slices_of_trees(trees: TreeEnsemble) -> list[tuple[slice, slice]]:
    """Return where the splits and the leaves of each tree are."""
    ends = pairwise(trees.splits.tolist())
    return [(slice(start, end), slice(start + tree, end + tree + 1)) for tree, (start, end) in enumerate(ends)]


def nested(
    trees: TreeEnsemble,
    left: Integers | NDArray[np.int32],
    right: Integers | NDArray[np.int32],
    split: Callable[[int, Node, Node], Node],
    leaf: Callable[[float, int], Node],
) -> list[Node]:
    """Return the root of each tree.

    `split` takes the index of a split and its children. `leaf` takes the value of a leaf and its number among the
    nodes of its tree, which come after the splits.
    """
    roots = []
    for splits, leaves in slices_of_trees(trees):
        n_splits = splits.stop - splits.start
        values = enumerate(trees.leaf_value[leaves].tolist())
        nodes = {-1 - number: leaf(value, n_splits + number) for number, value in values}
        for number in range(n_splits - 1, -1, -1):  # children come after their parents
            index = splits.start + number
            nodes[number] = split(index, nodes.pop(int(left[index])), nodes.pop(int(right[index])))
        roots.append(nodes.popitem()[1])
    return roots


def depths(trees: TreeEnsemble) -> list[int]:
    """Return the depth of each split; refuse trees too deep for JSON, which engines read by recursion."""
    depth = [0] * len(trees.feature)
    for splits, _ in slices_of_trees(trees):
        for index in range(splits.start, splits.stop):
            for child in (trees.left[index], trees.right[index]):
                if child >= 0:
                    depth[splits.start + child] = depth[index] + 1
    if depth and max(depth) >= MAX_DEPTH:
        raise InputError(
            f"A tree is {max(depth) + 1} levels deep; at most {MAX_DEPTH} can be nested in this format."
        )
    return depth
