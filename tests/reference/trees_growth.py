"""Leaf-wise trees, slowly: every feature, threshold and side for missing values, rows added up anew each time."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import fsum, inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reference.binning import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


class Sums(NamedTuple):
    gradient: float
    weight: float


class Split(NamedTuple):
    gain: float
    feature: int
    code: int
    missing_left: bool
    middle: float  # between the values of the two sides


@dataclass
class Leaf:
    sample: list[int]
    rest: list[int]
    low: float = -inf
    high: float = inf
    parent: tuple[str, int] | None = None
    best: Split | None = None


@dataclass
class Tree:
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    missing_left: list[bool] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    gain: list[float] = field(default_factory=list)
    leaf_value: list[float] = field(default_factory=list)
    cover: list[float] = field(default_factory=list)


@dataclass
class Grower:
    codes: NDArray[np.uint8]
    edges: Sequence[Sequence[float]]
    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]
    sample: Sequence[int]
    sample_weights: Sequence[float]
    features: Sequence[int]
    monotone: Sequence[int]
    max_leaves: int
    min_documents: int
    min_hessian: float
    l2: float
    min_gain: float
    levels: int
    coarse: NDArray[np.uint8] | None = None  # by feature and code: the coarse level, where features share bytes

    def grow(self) -> tuple[Tree, list[float]]:
        self.round(self.sample, self.sample_weights)
        tree, leaves = Tree(), [self.root()]
        leaves[0].best = self.best_split(leaves[0])
        while len(leaves) < self.max_leaves:
            gains = [-inf if leaf.best is None else leaf.best.gain for leaf in leaves]
            place = gains.index(max(gains))  # the earliest leaf wins a tie
            if not gains[place] > self.min_gain:
                break
            leaves[place : place + 1], new = self.split(leaves[place], tree)
            leaves.append(new)
        return tree, self.finish(leaves, tree)

    def root(self) -> Leaf:
        drawn = set(map(int, self.sample))
        return Leaf(sorted(drawn), [row for row in range(len(self.codes)) if row not in drawn])

    def round(self, rows: Sequence[int], factors: Sequence[float]) -> None:
        drawn = (rows, factors, self.levels)
        (self.gradients, self.gradient_step), (self.weights, self.weight_step) = quantised(
            self.gradient, self.hessian, *drawn
        )

    def best_split(self, leaf: Leaf) -> Split | None:
        best = None
        for split in self.splits(leaf):
            if best is None or split.gain > best.gain:  # so the first of equals wins
                best = split
        return best

    def splits(self, leaf: Leaf) -> Iterator[Split]:
        if self.coarse is None:
            promising = self.features
        else:
            promising = sorted([*filter(self.is_exact, self.features), *self.refined(leaf)])
        with self.all_rows_deciding(leaf) as judged:
            for feature in promising:
                yield from self.splits_of(judged, feature, range(len(self.edges[feature])), self.min_documents)

    @property
    def looks_at_all(self) -> bool:
        return self.coarse is not None and len(self.sample) < len(self.codes)

    @contextmanager
    def all_rows_deciding(self, leaf: Leaf) -> Iterator[Leaf]:
        """Where a sample only screened features, put all rows in its place."""
        if not self.looks_at_all:
            yield leaf
            return
        self.round(range(len(self.gradient)), ())
        yield replace(leaf, sample=leaf.sample + leaf.rest)
        self.round(self.sample, self.sample_weights)

    def is_exact(self, feature: int) -> bool:
        """Whether every code has a level of its own, with all rows in it."""
        if self.looks_at_all:
            return False
        n_bins = len(self.edges[feature]) + 1
        return self.coarse is None or len(set(self.coarse[feature, :n_bins])) == n_bins

    def refined(self, leaf: Leaf) -> list[int]:
        """The four other features with the best splits between coarse levels, whatever documents those leave."""
        found = []
        for feature in self.features:
            if len(self.edges[feature]) and not self.is_exact(feature):  # nor constant
                between = np.flatnonzero(np.diff(self.coarse[feature, : len(self.edges[feature]) + 1]))
                gains = [split.gain for split in self.splits_of(leaf, feature, between, 1)]
                found.append((-max(gains, default=-inf), feature))
        return [feature for _, feature in sorted(found)[:4]]

    def splits_of(self, leaf: Leaf, feature: int, codes: Sequence[int], min_documents: int) -> Iterator[Split]:
        whole = self.worth(self.sums(leaf.sample), leaf)
        missing = [row for row in leaf.sample if self.codes[row, feature] == MISSING]
        matter = self.matter(missing, min_documents)
        for code in codes:
            for missing_left in (False, True) if matter else (self.heavier(leaf, feature, code),):
                left, right = self.divided(leaf.sample, feature, code, missing_left)
                if self.allowed(leaf, feature, left, right, min_documents):
                    both = self.worth(self.sums(left), leaf) + self.worth(self.sums(right), leaf)
                    middle = (self.value(self.sums(left), leaf) + self.value(self.sums(right), leaf)) / 2.0
                    yield Split(both - whole, feature, int(code), missing_left, middle)

    def matter(self, missing: list[int], min_documents: int) -> bool:
        """Whether missing documents weigh anything, or are counted."""
        return self.packed(missing) != (0, 0) or (min_documents > 1 and len(missing) > 0)

    def packed(self, rows: list[int]) -> tuple[int, int]:
        return sum(self.gradients[row] for row in rows), sum(self.weights[row] for row in rows)

    def heavier(self, leaf: Leaf, feature: int, code: int) -> bool:
        left = [row for row in leaf.sample if self.codes[row, feature] <= code]
        return 2 * self.packed(left)[1] >= self.packed(leaf.sample)[1]

    def divided(self, rows: list[int], feature: int, code: int, missing_left: bool) -> tuple[list[int], list[int]]:
        own = self.codes[:, feature]
        left = [row for row in rows if (missing_left if own[row] == MISSING else own[row] <= code)]
        return left, [row for row in rows if row not in set(left)]

    def allowed(self, leaf: Leaf, feature: int, left: list[int], right: list[int], min_documents: int) -> bool:
        sides = self.sums(left), self.sums(right)
        if min(self.packed(left)[1], self.packed(right)[1]) == 0:
            return False
        if min(len(left), len(right)) < min_documents or min(side.weight for side in sides) < self.min_hessian:
            return False
        low, high = (self.value(side, leaf) for side in sides)
        return self.direction(feature) * (high - low) >= 0

    def direction(self, feature: int) -> int:
        return self.monotone[feature] if len(self.monotone) else 0

    def sums(self, rows: list[int]) -> Sums:
        gradient, weight = self.packed(rows)
        return Sums(gradient * self.gradient_step, weight * self.weight_step)

    def value(self, sums: Sums, leaf: Leaf) -> float:
        weight = sums.weight + self.l2
        return min(max(sums.gradient / weight if weight > 0 else 0.0, leaf.low), leaf.high)

    def worth(self, sums: Sums, leaf: Leaf) -> float:
        weight = sums.weight + self.l2
        if weight <= 0:
            return 0.0
        if (leaf.low, leaf.high) == (-inf, inf):
            return sums.gradient * sums.gradient / weight
        value = self.value(sums, leaf)
        return (2.0 * sums.gradient - weight * value) * value

    def split(self, leaf: Leaf, tree: Tree) -> tuple[list[Leaf], Leaf]:
        assert leaf.best is not None
        gain, feature, code, missing_left, middle = leaf.best
        node = len(tree.feature)
        tree.feature.append(feature)
        tree.threshold.append(self.edges[feature][code])
        tree.missing_left.append(missing_left)
        tree.gain.append(gain)
        tree.left.append(0)
        tree.right.append(0)
        link(tree, leaf, node)
        left, right = (Leaf([], [], leaf.low, leaf.high, (side, node)) for side in ("left", "right"))
        left.sample, right.sample = self.divided(leaf.sample, feature, code, missing_left)
        left.rest, right.rest = self.divided(leaf.rest, feature, code, missing_left)
        self.constrain(feature, middle, left, right)
        left.best, right.best = self.best_split(left), self.best_split(right)
        return [left], right

    def constrain(self, feature: int, middle: float, left: Leaf, right: Leaf) -> None:
        if self.direction(feature) > 0:
            left.high = right.low = middle
        if self.direction(feature) < 0:
            left.low = right.high = middle

    def finish(self, leaves: list[Leaf], tree: Tree) -> list[float]:
        outputs = [0.0] * len(self.gradient)
        for place, leaf in enumerate(leaves):
            rows = leaf.sample + leaf.rest
            link(tree, leaf, -1 - place)
            sums = Sums(fsum(self.gradient[rows]), fsum(self.hessian[rows]))
            tree.leaf_value.append(self.value(sums, leaf))
            tree.cover.append(len(rows))
            for row in rows:
                outputs[row] = tree.leaf_value[-1]
        return outputs


class ExactGrower(Grower):
    """Chooses splits by sums in full precision."""

    def round(self, rows: Sequence[int], factors: Sequence[float]) -> None:
        factors = factors if len(factors) else [1.0] * len(rows)
        self.gradient_step = self.weight_step = 1.0
        self.gradients, self.weights = (
            {row: float(values[row]) * factor for row, factor in zip(rows, factors, strict=True)}
            for values in (self.gradient, self.hessian)
        )


def link(tree: Tree, leaf: Leaf, child: int) -> None:
    if leaf.parent is not None:
        side, node = leaf.parent
        getattr(tree, side)[node] = child


LARGEST_SUM = 2**31 - 1


def quantised(gradient, hessian, rows, factors, levels):
    """Integers of every row listed, halves rounded to the even one, and the size of a step: of both arrays.

    Steps are a fraction of the largest number, or, with no levels given, as fine as the sums allow.
    """
    factors = factors if len(factors) else [1.0] * len(rows)
    numbers = [
        {row: float(values[row]) * factor for row, factor in zip(rows, factors, strict=True)}
        for values in (gradient, hessian)
    ]
    if levels == 0:
        n_steps = LARGEST_SUM - 1 - (len(rows) + 1) // 2
        steps = [step_of(total(own.values()), n_steps) for own in numbers]
    else:
        n_steps = max(1, min(levels, LARGEST_SUM // max(1, len(rows))))
        steps = [step_of(max(map(abs, own.values()), default=0.0), n_steps) for own in numbers]
    return [
        ({row: round(value * (1.0 / step)) for row, value in own.items()}, step)
        for own, step in zip(numbers, steps, strict=True)
    ]


def step_of(size, n_steps):
    return size / n_steps if size > 1e-290 else 1.0


def total(values):
    """Add up in order, rounding every sum."""
    result = 0.0
    for value in values:
        result += abs(value)
    return result
