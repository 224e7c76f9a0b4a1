"""Trees walked one document at a time, and random ones to walk."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rankwright.models import TreeEnsemble
from rankwright.models.level_sets import ABOVE_MINUS_ONE, FROM_ZERO, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def scores(ensemble: TreeEnsemble, X: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.array([score(ensemble, row) for row in X.astype(np.float32).tolist()], dtype=np.float64)


def goes_left(ensemble: TreeEnsemble, split: int, value: float) -> bool:
    """Whether a split sends a value left: by its threshold, or by its set of levels."""
    if math.isnan(value):
        return bool(ensemble.missing_left[split])
    if not ensemble.set_size[split]:
        return value <= ensemble.threshold[split]
    first = int(ensemble.set_size[:split].sum())
    size = int(ensemble.set_size[split])
    if value <= ensemble.threshold[split] or value >= 32 * size:
        return False
    word, bit = divmod(math.trunc(value), 32)
    return int(ensemble.set_words[first + word]) >> bit & 1 == 1


def score(ensemble: TreeEnsemble, row: list[float]) -> float:
    total = 0.0
    for tree in range(ensemble.n_trees):
        first = int(ensemble.splits[tree])
        node = 0 if ensemble.splits[tree + 1] > first else -1
        while node >= 0:
            split = first + node
            left = goes_left(ensemble, split, row[ensemble.feature[split]])
            node = int(ensemble.left[split] if left else ensemble.right[split])
        total += float(ensemble.leaf_value[first + tree - 1 - node])
    return total


def random_ensemble(
    rng: np.random.Generator,
    leaves: list[int],
    thresholds: NDArray[np.float32],
    *,
    n_features: int = 3,
    chain: bool = False,
) -> TreeEnsemble:
    """Trees of so many leaves each, grown at random or into chains, with thresholds among those given."""
    children = [_random_children(rng, n_leaves, chain) for n_leaves in leaves]
    left, right = (np.concatenate([np.zeros(0, int), *(tree[side] for tree in children)]) for side in (0, 1))
    n_splits, n_leaves = len(left), sum(leaves)
    return TreeEnsemble(
        np.cumsum([0, *(n - 1 for n in leaves)]),
        rng.integers(0, n_features, n_splits),
        rng.choice(thresholds, n_splits),
        rng.integers(0, 2, n_splits),
        left,
        right,
        rng.normal(size=n_leaves),
        rng.random(n_splits),
        rng.integers(1, 100, n_leaves),
        n_features=n_features,
    )


def with_sets(rng: np.random.Generator, ensemble: TreeEnsemble, share: float, n_levels: int) -> TreeEnsemble:
    """Give a share of the splits sets of levels: some nested in those of other splits, some of fewer words."""
    n_splits = len(ensemble.feature)
    is_set = rng.random(n_splits) < share
    order, sets = rng.permutation(n_levels), []
    for _ in range(is_set.sum()):
        nested = order[: rng.integers(0, n_levels + 1)]
        drawn = np.flatnonzero(rng.random(n_levels) < rng.random())
        sets.append(words_of(nested if rng.random() < 0.7 else drawn))
    sizes = np.zeros(n_splits, dtype=np.uint32)
    sizes[is_set] = [len(words) for words in sets]
    lowest = rng.choice([ABOVE_MINUS_ONE, FROM_ZERO], n_splits)
    return replace(
        ensemble,
        threshold=np.where(is_set, lowest, ensemble.threshold),
        set_size=sizes,
        set_words=np.concatenate([np.zeros(0, np.uint32), *sets]),
    )


def _random_children(rng: np.random.Generator, n_leaves: int, chain: bool) -> NDArray[np.int64]:
    children = np.zeros((2, n_leaves - 1), dtype=np.int64)
    open_ends: list[tuple[int, int]] = []
    for split in range(n_leaves - 1):
        if split:
            children[open_ends.pop(-1 if chain else rng.integers(len(open_ends)))] = split
        sides = rng.permutation(2)  # so that leaves are not numbered from left to right
        open_ends += [(int(side), split) for side in sides]
    for leaf, end in enumerate(open_ends):
        children[end] = -1 - leaf
    return children


def oblivious_ensemble(
    rng: np.random.Generator, depths: list[int], thresholds: NDArray[np.float32], *, n_features: int = 3
) -> TreeEnsemble:
    """Complete trees with one split per level, whose leaves are numbered in any order."""
    sizes = [2**depth - 1 for depth in depths]
    levels = [np.repeat(np.arange(depth), 2 ** np.arange(depth)) for depth in depths]

    def per_split(draw: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        values = [own[level] for own, level in zip(draw, levels, strict=True)]
        return np.concatenate([np.zeros(0), *values])

    children = []
    for size in sizes:
        child, leaf = 2 * np.arange(size) + np.array([[1], [2]]), -1 - rng.permutation(size + 1)
        children.append(np.where(child < size, child, leaf[np.maximum(child - size, 0)]))
    left, right = np.concatenate([np.zeros((2, 0), int), *children], axis=1)
    n_splits, n_leaves = sum(sizes), sum(sizes) + len(sizes)
    return TreeEnsemble(
        np.cumsum([0, *sizes]),
        per_split([rng.integers(0, n_features, depth) for depth in depths]).astype(int),
        per_split([rng.choice(thresholds, depth) for depth in depths]),
        per_split([rng.integers(0, 2, depth) for depth in depths]).astype(int),
        left,
        right,
        rng.normal(size=n_leaves),
        rng.random(n_splits),
        rng.integers(1, 100, n_leaves),
        n_features=n_features,
    )
