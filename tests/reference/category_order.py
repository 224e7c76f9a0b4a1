"""Trees that split categories by sets of levels, slowly: levels are ordered, then the slow grower grows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from reference.binning import MISSING
from reference.trees_growth import Grower, Leaf, Split, Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

MOST_CODES, MOST_COARSE, OPTIMISM = 255, 16, 0.5


def shared_out(counts: Sequence[int], most: int) -> list[int]:
    """The group of each entry: its own if there are few, otherwise an even share of the rows that are left."""
    groups, left, in_group = [0], sum(counts), 0
    for entry in range(1, len(counts)):
        in_group += counts[entry - 1]
        share = left / (most - groups[-1])
        full = (in_group >= share or counts[entry] >= share) and groups[-1] + 1 < most
        if full or len(counts) <= most:
            left, in_group = left - in_group, 0
            groups.append(groups[-1] + 1)
        else:
            groups.append(groups[-1])
    return groups[: len(counts)]


@dataclass
class CategoryGrower(Grower):
    """`columns` has the levels of each row, NaN where it is missing; `n_levels` is 0 for numbers."""

    columns: NDArray[np.float32] = field(kw_only=True)
    n_levels: Sequence[int] = field(kw_only=True)

    def grow(self) -> tuple[Tree, list[float]]:
        self.optimism = [0.0] * len(self.n_levels)
        self.code_of_level: dict[int, list[int]] = {}
        self.sets: list[list[int] | None] = []
        self.edges = list(self.edges)
        every = self.looks_at_all
        self.round(range(len(self.codes)) if every else self.sample, () if every else self.sample_weights)
        for feature in self.features:
            if self.n_levels[feature]:
                self.order(feature)
        return super().grow()

    def order(self, feature: int) -> None:
        column = self.columns[:, feature]
        rows_of = {level: np.flatnonzero(column == level).tolist() for level in range(self.n_levels[feature])}
        used = [level for level in rows_of if rows_of[level]]
        effects = self.effects(
            feature, {level: [r for r in rows_of[level] if r in self.gradients] for level in used}
        )
        order = sorted(used, key=lambda level: (effects[level], level))
        groups = shared_out([len(rows_of[level]) for level in order], MOST_CODES)
        codes = [MISSING] * self.n_levels[feature]
        for level, group in zip(order, groups, strict=True):
            codes[level] = group
        self.code_of_level[feature] = codes
        self.codes[:, feature] = [MISSING if np.isnan(value) else codes[int(value)] for value in column]
        n_codes = min(max(len(used), 1), MOST_CODES)
        self.edges[feature] = [-1.0] * (n_codes - 1)
        if self.coarse is not None:
            counts = np.bincount(self.codes[:, feature], minlength=256)
            most = MOST_COARSE - bool(counts[MISSING])
            self.coarse[feature, :n_codes] = shared_out(counts[:n_codes].tolist(), most)

    def effects(self, feature: int, rows_of: dict[int, list[int]]) -> dict[int, float]:
        known = [row for rows in rows_of.values() for row in rows]
        whole = self.sums(known)
        squares = 0.0
        for row in sorted(known):
            squares += float(self.gradients[row]) * float(self.gradients[row])
        squares = squares * self.gradient_step * self.gradient_step
        if not whole.weight > 0 or not squares > 0:
            return dict.fromkeys(rows_of, 0.0)
        sums = {level: self.sums(rows) for level, rows in rows_of.items()}
        mean, noise = whole.gradient / whole.weight, squares / whole.weight
        gain, squared, apart = -mean * whole.gradient, 0.0, -1.0
        for own in sums.values():
            if own.weight > 0:
                gain += own.gradient * own.gradient / own.weight
                squared += own.weight * own.weight
                apart += 1
        chance, spread = apart * noise, whole.weight - squared / whole.weight
        between = max(0.0, (gain - chance) / spread) if spread > 0 else 0.0
        self.optimism[feature] = OPTIMISM * chance * (chance / gain if chance < gain else 1.0) / whole.weight
        return {
            level: (own.gradient - mean * own.weight) / (noise + own.weight * between)
            for level, own in sums.items()
        }

    def splits_of(self, leaf: Leaf, feature: int, codes: Sequence[int], min_documents: int) -> Iterator[Split]:
        fitted = self.optimism[feature] * self.sums(leaf.sample).weight
        for split in super().splits_of(leaf, feature, codes, min_documents):
            yield split._replace(gain=split.gain - fitted)

    def split(self, leaf: Leaf, tree: Tree) -> tuple[list[Leaf], Leaf]:
        assert leaf.best is not None
        feature, code, missing_left = leaf.best.feature, leaf.best.code, leaf.best.missing_left
        codes = self.code_of_level.get(feature)
        left = None
        if codes is not None:
            left = [level for level, own in enumerate(codes) if (missing_left if own == MISSING else own <= code)]
        self.sets.append(left)
        return super().split(leaf, tree)
