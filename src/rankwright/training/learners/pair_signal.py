"""Gradients of the exponential loss over pairs of documents, for RankBoost and MPBoost; no pair is stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.groups import Ranking
from rankwright.training.learners.signal import Gradients

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.training.binned_features import BinnedFeatures
    from rankwright.training.monitor import Monitor
    from rankwright.training.training_set import QueryLabels

    # How strongly a document with the first label should be ranked above one with the second, lower label.
    Strength: TypeAlias = Callable[[Doubles, Doubles], Doubles]

CODES = 256  # number of bin codes; the last one is for missing values
HIGHEST_POWER = 700.0  # exp(700) is still a finite double
PAIRS_AT_ONCE = 2**20  # maximum number of pairs per block of `ListedPairs`


@dataclass(frozen=True, eq=False)
class PairSignal(Gradients):
    """Gradients and hessians of the pairs' loss, the scores at which they were taken, and the log of the loss."""

    scores: Doubles
    log_loss: float
    pairs: LabelPairs

    def agreement(self, outputs: Doubles) -> float:
        """Return r, the sum of gradient x output over all documents."""
        return _native.edge_of_votes(self.gradient[None], outputs[None])

    def diagnostics(self, before: PairSignal) -> dict[str, float]:
        """Return Z, the factor by which the loss changed, the product of all Z, and the misordered fraction.

        The product is an upper bound of the fraction of misordered pairs.
        """
        misordered = self.pairs.misordered(self.scores)
        return loss_diagnostics(before.log_loss, self.log_loss, self.pairs.log_loss_at_first, misordered)


def loss_diagnostics(before: float, after: float, first: float, misordered: float) -> dict[str, float]:
    """Return the diagnostics of a round, given the logarithms of the loss around it and at first."""
    powers = {"Z": after - before, "bound": after - first}
    bounds = {name: float(np.exp(min(power, HIGHEST_POWER))) for name, power in powers.items()}
    return bounds | {"misordered": misordered}


class LabelPairs(ABC):
    """All pairs of a query's documents with different labels.

    If document i has a higher label than j, and F are the scores, the weight of the pair is

        w_ij = s_i s_j exp(-strength (F_i - F_j)), divided by the sum over all pairs of all queries.

    Parameters
    ----------
    judged
        Labels and queries; the rows of a query must be adjacent.
    strength
        Function of the higher and the lower label of a pair.
    shares
        s, one per document: the initial weight of a pair is s_i s_j.
    """

    def __init__(self, judged: QueryLabels, strength: Strength, shares: Doubles, n_threads: int) -> None:
        self.labels, self.groups = judged
        self.strength, self.shares, self.n_threads = strength, shares, n_threads

    @classmethod
    def of(
        cls,
        judged: QueryLabels,
        strength: Strength,
        *,
        weights: Doubles | None = None,
        by_query: bool = False,
        n_threads: int,
    ) -> LabelPairs:
        """Return the pairs: factored (linear time) if there are few distinct labels, otherwise listed in blocks.

        Parameters
        ----------
        weights
            One weight per document; the weight of a pair is the geometric mean of its two.
        by_query
            Whether every query has the same total weight, apart from `weights`; otherwise every pair has the same.
        """
        shares = np.ones(len(judged.y)) if weights is None else np.sqrt(weights)
        if by_query:
            shares = shares / np.sqrt(judged.pair_divisors)[judged.groups.query_of_row]
        few = len(np.unique(judged.y)) <= _native.MOST_LABELS
        pairs = (FactoredPairs if few else ListedPairs)(judged, strength, shares, n_threads)
        if pairs.log_loss_at_first == -np.inf:
            raise InputError("There is nothing to learn: all pairs of different labels have weight 0.")
        return pairs

    @cached_property
    def log_loss_at_first(self) -> float:
        """The logarithm of the loss when all scores are 0."""
        return self.signal(np.zeros(len(self.labels))).log_loss

    @abstractmethod
    def signal(self, scores: Doubles) -> PairSignal:
        """Return gradients and hessians; d is the strength of a pair.

        gradient_i = sum of w_ij d over worse documents j, minus the same sum over better ones,
        hessian_i  = sum of w_ij d^2 over both.
        """

    @abstractmethod
    def crossing_weights(self, binned: BinnedFeatures, signal: PairSignal, *, squared: bool) -> Doubles:
        """Return one sum per feature and bin code; those of codes >= c add up to the weight of pairs crossing c.

        A pair crosses c if one document's code is at least c and the other's is lower or missing. `squared`
        multiplies each weight by the square of the pair's strength.
        """

    @abstractmethod
    def misordered(self, scores: Doubles) -> float:
        """Return the fraction of pairs, weighted by s_i s_j, whose better document has no higher score."""


class FactoredPairs(LabelPairs):
    """LabelPairs with few distinct labels: for two given labels, a pair's weight is a product of two factors.

    The time is documents x labels, and documents x features x labels for crossing weights.
    """

    def __init__(self, judged: QueryLabels, strength: Strength, shares: Doubles, n_threads: int) -> None:
        super().__init__(judged, strength, shares, n_threads)
        values, codes = np.unique(judged.y, return_inverse=True)
        self._codes = codes.astype(np.uint8)
        self._strengths = np.zeros((len(values), len(values)))
        better, worse = np.tril_indices(len(values), -1)
        self._strengths[better, worse] = strength(values[better], values[worse])
        self._sorted: tuple[BinnedFeatures, _native.SortedCodes] | None = None

    @cached_property
    def in_core(self) -> _native.WeightedPairs:
        """The pairs for rounds in native code."""
        groups = self.groups
        return _native.WeightedPairs(groups.offsets, groups.rows, self._codes, self._strengths, self.shares)

    def sorted_codes(self, binned: BinnedFeatures) -> _native.SortedCodes:
        """Return the rows of every query, sorted for each feature."""
        if self._sorted is None or self._sorted[0] is not binned:
            self._sorted = binned, _native.SortedCodes(binned.matrix, self.groups.offsets, self.n_threads)
        return self._sorted[1]

    def signal(self, scores: Doubles) -> PairSignal:
        gradient, hessian, log_loss = _native.pair_gradients(
            self.groups.offsets, self._codes, self._strengths, self.shares, scores, self.n_threads
        )
        return PairSignal(gradient, hessian, scores, log_loss, self)

    def crossing_weights(self, binned: BinnedFeatures, signal: PairSignal, *, squared: bool) -> Doubles:
        """Sweep the documents of each query from the highest code to the lowest, feature by feature."""
        return _native.crossing_weights(
            self.sorted_codes(binned),
            self._codes,
            self._strengths,
            self.shares,
            signal.scores,
            signal.log_loss,
            squared,
            self.n_threads,
        )

    def misordered(self, scores: Doubles) -> float:
        order = Ranking.of(scores, self.groups, n_jobs=self.n_threads).order
        return _native.misordered_share(
            self.groups.offsets, order, self._codes, self._strengths, self.shares, scores, self.n_threads
        )


class NativePairs(NamedTuple):
    """A rule of pairs in native code, with the learning rate of every weak ranker.

    Without a learning rate, weak rankers have half the log-odds of their agreement with the pairs as weights.
    """

    pairs: FactoredPairs
    learning_rate: float | None = None
    measure: _native.RankMeasure | None = None
    diagnosed: bool = True

    @classmethod
    def of(cls, pairs: LabelPairs, learning_rate: float | None = None) -> NativePairs | None:
        """Return the rule, if native code knows its pairs."""
        return cls(pairs, learning_rate) if isinstance(pairs, FactoredPairs) else None

    def watched_by(self, monitor: Monitor) -> NativePairs:
        """Return the rule that measures and diagnoses its rounds as the monitor wants."""
        return self._replace(measure=monitor.native_measure, diagnosed=monitor.diagnosed)


class PairBlock(NamedTuple):
    """LabelPairs of some rows with all rows of their queries: the two rows, strength and exponent of each pair."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    strength: Doubles
    power: Doubles


class ListedPairs(LabelPairs):
    """LabelPairs with many distinct labels: listed block by block, each pair once from either document.

    The time is proportional to the number of pairs, and to pairs x features for crossing weights; memory is that
    of one block.
    """

    def signal(self, scores: Doubles) -> PairSignal:
        """Sum over blocks, each relative to its own largest weight."""
        gradient, hessian = np.zeros(len(scores)), np.zeros(len(scores))
        largest, sums = [], []
        for rows in self._blocks():
            block = self._block(rows, scores)
            largest.append(block.power.max())
            weights = self._weights(block, max(largest[-1], -np.finfo(float).max))
            sums.append(fsum(weights) / 2.0)
            gradient[rows], hessian[rows] = (
                np.add.reduceat(weights * factor, _starts(self.groups.sizes[self._query_of(rows)]))
                for factor in (np.sign(self._difference(block)) * block.strength, block.strength**2)
            )
        top = max(largest)
        if top == -np.inf:
            return PairSignal(gradient, hessian, scores, top, self)
        total = fsum(part * np.exp(power - top) for part, power in zip(sums, largest, strict=True))
        for rows, power in zip(self._blocks(), largest, strict=True):
            gradient[rows] *= np.exp(power - top) / total
            hessian[rows] *= np.exp(power - top) / total
        return PairSignal(gradient, hessian, scores, float(top + np.log(total)), self)

    def crossing_weights(self, binned: BinnedFeatures, signal: PairSignal, *, squared: bool) -> Doubles:
        sums = np.zeros((binned.n_features, CODES))
        for rows in self._blocks():
            block = self._block(rows, signal.scores)
            weights = self._weights(block, signal.log_loss) * (block.strength**2 if squared else 1.0)
            queries = self._query_of(rows)
            begins, ends = self.groups.offsets[queries], self.groups.offsets[queries + 1]
            numbers = np.arange(rows.start, rows.stop)
            sums += _native.crossing_of_pairs(binned.matrix, numbers, begins, ends, weights, self.n_threads)
        return sums

    def misordered(self, scores: Doubles) -> float:
        wrong, total = [], []
        for rows in self._blocks():
            block = self._block(rows, scores)
            shares = self.shares[block.left] * self.shares[block.right] * (self._difference(block) > 0)
            total.append(fsum(shares))
            wrong.append(fsum(shares * (scores[block.left] <= scores[block.right])))
        return fsum(wrong) / fsum(total)

    def _blocks(self) -> Iterator[slice]:
        """Yield runs of rows that have at most `PAIRS_AT_ONCE` pairs together, at least one row each."""
        ends = np.cumsum(self.groups.sizes[self.groups.query_of_row])
        first, n_rows = 0, len(ends)
        while first < n_rows:
            before = ends[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + PAIRS_AT_ONCE, side="right")))
            yield slice(first, last)
            first = last

    def _block(self, rows: slice, scores: Doubles) -> PairBlock:
        queries = self._query_of(rows)
        sizes = self.groups.sizes[queries]
        left = np.repeat(np.arange(rows.start, rows.stop), sizes)
        right = np.arange(len(left)) - np.repeat(_starts(sizes) - self.groups.offsets[queries], sizes)
        first, second = self.labels[left], self.labels[right]
        better, worse = np.maximum(first, second), np.minimum(first, second)
        strength = np.where(first == second, 0.0, self.strength(better, worse))
        gap = np.sign(first - second) * (scores[left] - scores[right])
        power = np.where(
            (first == second) | (self.shares[left] * self.shares[right] == 0.0), -np.inf, -strength * gap
        )
        return PairBlock(left, right, strength, power)

    def _weights(self, block: PairBlock, log_scale: float) -> Doubles:
        with np.errstate(over="ignore"):  # minus infinity: no weight
            relative = np.exp(block.power - log_scale)
        weights: Doubles = self.shares[block.left] * self.shares[block.right] * relative
        return weights

    def _difference(self, block: PairBlock) -> Doubles:
        return np.asarray(self.labels[block.left] - self.labels[block.right])

    def _query_of(self, rows: slice) -> NDArray[np.int64]:
        return self.groups.query_of_row[rows]


def equal_strength(better: Doubles, _worse: Doubles) -> Doubles:
    """Return 1 for every pair: RankBoost's strength."""
    return np.ones_like(better)


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the start of each of several adjacent runs."""
    return np.asarray(np.cumsum(sizes) - sizes)
