"""One partition of the training documents on a worker: their scores, gradients, and rows of a tree's leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from rankwright import _native
from rankwright.data.groups import Ranking
from rankwright.training.learners.signal import Gradients
from rankwright.training.learners.tree import Sample, all_rows, gradient_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.metrics.base import Metric
    from rankwright.training.binned_part import BinnedPart
    from rankwright.training.boosting_loop import Rule
    from rankwright.training.fit_task import FitTask


class PartFit(NamedTuple):
    """What a ranker needs to boost on a part of the documents.

    `read` turns the sums of the trees' outputs into ranking scores.
    """

    rule: Rule[Gradients]
    scores: Doubles
    metric: Metric
    read: Callable[[Doubles, float], Doubles]


class PartRanker(Protocol):
    """A ranker whose rounds need no more of other parts than sums."""

    def part_fit(self, task: FitTask) -> PartFit:
        """Return what a part of the documents needs."""


class Draw(NamedTuple):
    """How a round draws documents: all, by 'documents', by 'queries' or by 'gradient'.

    `state` is the random generator's before the draw of all rows or queries; by gradient, `mu` and `seed` are
    those of `draw_by_size`.
    """

    by: str
    fraction: float = 1.0
    state: Any = None
    mu: float = 0.0
    seed: int = 0


class TreeStart(NamedTuple):
    """The start of a tree: its class (None: it has a value for each), features, steps and number of leaves."""

    of_class: int | None
    features: NDArray[np.uint32]
    steps: Doubles
    all_steps: Doubles
    n_leaves: int


class RoundTrees(NamedTuple):
    """The trees of a round as arrays, one per class or one for all, and their weight."""

    trees: Sequence[dict[str, Any]]
    shared: bool
    step: float

    def outputs(self, leaves: Sequence[NDArray[np.uint32]]) -> Doubles:
        """Return the outputs of documents, given their leaves in each tree."""
        if self.shared:
            values = self.trees[0]["leaf_value"].reshape(len(self.trees[0]["feature"]) + 1, -1)
            return np.ascontiguousarray(values[leaves[0]].T)
        outputs = np.empty((len(leaves), len(leaves[0])))
        for row, tree, leaf in zip(outputs, self.trees, leaves, strict=True):
            tree["leaf_value"].take(leaf, out=row, mode="clip")  # the mode that needs no copy of the row
        return outputs


class Partition:
    """Adjacent queries with everything that a fit keeps of their documents.

    Every method is a request to all partitions; the sum or the maximum of the answers is that of all documents.
    """

    def __init__(self, number: int, part: BinnedPart, fit: PartFit, n_threads: int) -> None:
        self.number, self._part, self._fit, self._n_threads = number, part, fit, n_threads
        self._scores, self._matrix = fit.scores, part.codes().matrix
        self._measures = fit.metric.native_measure(part.labels.y, part.labels.groups) if len(part) else None
        self._rows = _native.PartitionRows(self._matrix, n_threads)
        self._gradient = self._hessian = np.zeros((1, 0))
        self._sample = all_rows(len(part))
        self._leaves: dict[int | None, NDArray[np.uint32]] = {}

    def gradients(self) -> tuple[bool, bool]:
        """Compute gradients of the scores so far; return whether all are finite, and any hessian is not 0."""
        self._leaves.clear()
        rule, scores = self._fit.rule, self._scores
        signal = rule.signal(scores) if len(self._part) else Gradients(scores, scores)
        self._gradient, self._hessian = (
            np.ascontiguousarray(np.atleast_2d(values)) for values in (signal.gradient, signal.hessian)
        )
        finite = bool(np.isfinite(self._gradient).all() and np.isfinite(self._hessian).all())
        return finite, bool(self._hessian.any())

    def sizes(self, of_class: int | None, stride: int) -> dict[int, Doubles]:
        """Return gradients and hessians of every so many documents, counted over all partitions."""
        first = -self._part.first_row % stride
        return {self.number: np.array([values[first::stride] for values in self._values(of_class)])}

    def draw(self, of_class: int | None, draw: Draw) -> tuple[int, Doubles, Doubles, NDArray[np.int64]]:
        """Draw documents; return their number, the largest numbers of them and of all, and exponents of sums."""
        self._sample = self._drawn(of_class, draw)
        pairs = list(zip(*self._of_class(of_class), strict=True))

        def largest(sample: Sample) -> Doubles:
            return np.array([_native.largest_numbers(*pair, sample.rows, sample.weights) for pair in pairs])

        of_sample = largest(self._sample)
        of_all = of_sample if draw.by == "all" else largest(all_rows(len(self._part)))
        exponents = [[_native.common_exponent(values, self._n_threads) for values in pair] for pair in pairs]
        return len(self._sample.rows), of_sample, of_all, np.array(exponents, np.int64)

    def root(self, start: TreeStart) -> NDArray[np.int64]:
        """Start a tree; return the histogram of its root."""
        gradients, hessians = self._of_class(start.of_class)
        self._rows.begin(
            np.ascontiguousarray(gradients),
            np.ascontiguousarray(hessians),
            self._sample.rows,
            self._sample.weights,
            start.features,
            start.steps,
            start.all_steps,
            start.of_class is None,
            start.n_leaves,
        )
        return self._rows.root()

    def divide(self, divisions: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Divide leaves; return the sizes of left children, and the histograms that are asked for."""
        return self._rows.divide(divisions)

    def sum_codes(
        self, leaves: NDArray[np.uint32], features: NDArray[np.uint32], n_counted: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return sums and numbers of documents by code, for pairs of a leaf and a feature.

        If the feature has no missing values, about `n_counted` documents are counted.
        """
        return self._rows.sum_codes(leaves, features, n_counted)

    def sum_leaves(self, of_class: int | None, leaves: NDArray[np.uint32], exponents: NDArray[np.int64]) -> Any:
        """End a tree; return the sums of gradients, then of hessians, of each class and leaf, as integers."""
        leaf_of_row = self._leaves[of_class] = self._rows.leaf_of_row(leaves)
        numbers = zip(
            (*self._of_class(of_class)[0], *self._of_class(of_class)[1]), exponents.T.ravel().tolist(), strict=True
        )
        sums = [
            _native.fixed_sums(values, leaf_of_row, len(leaves), exponent, self._n_threads)
            for values, exponent in numbers
        ]
        return [[_signed(*halves) for halves in parts.tolist()] for parts in sums]

    def apply(self, trees: RoundTrees, measured: bool) -> tuple[bool, dict[int, Doubles]]:
        """Add the trees of the round to the scores; return whether these are finite, and values of queries."""
        keys: list[int | None] = [None] if trees.shared else list(range(len(trees.trees)))
        return self._add(trees, [self._leaves[key] for key in keys], measured)

    def replay(self, trees: RoundTrees, measured: bool) -> tuple[bool, dict[int, Doubles]]:
        """Add trees that grew before, by the codes of documents."""
        names = ("feature", "threshold", "missing_left", "left", "right")
        leaves = [_native.leaves_by_codes(self._matrix, *(tree[name] for name in names)) for tree in trees.trees]
        return self._add(trees, leaves, measured)

    def _add(
        self, trees: RoundTrees, leaves: Sequence[NDArray[np.uint32]], measured: bool
    ) -> tuple[bool, dict[int, Doubles]]:
        outputs = trees.outputs(leaves)
        with np.errstate(over="ignore", invalid="ignore"):
            total = outputs[0] if self._scores.ndim == 1 else outputs
            total *= trees.step
            total += self._scores
        self._scores = total
        finite = bool(np.isfinite(total).all())
        return finite, {self.number: self._measure() if measured and finite else np.zeros(0)}

    def _measure(self) -> Doubles:
        labels, scores = self._part.labels, self._fit.read(self._scores, 0.0)
        if self._measures is not None:
            values: Doubles = self._measures.of_rounds(scores[None], self._n_threads)[0]
            return values
        ranking = Ranking.of(scores, labels.groups, n_jobs=self._n_threads)
        return self._fit.metric.per_query_with_empty(labels.y, ranking, n_jobs=self._n_threads)

    def _of_class(self, of_class: int | None) -> tuple[Doubles, Doubles]:
        classes = slice(None) if of_class is None else slice(of_class, of_class + 1)
        return self._gradient[classes], self._hessian[classes]

    def _values(self, of_class: int | None) -> list[Doubles]:
        return gradient_values(Gradients(*self._of_class(of_class)))

    def _drawn(self, of_class: int | None, draw: Draw) -> Sample:
        n_rows, groups = len(self._part), self._part.labels.groups
        if draw.by == "documents":
            return _taken(_random(draw, self._part.first_row, n_rows) < draw.fraction)
        if draw.by == "queries":
            return _taken(
                (_random(draw, self._part.first_query, len(groups)) < draw.fraction)[groups.query_of_row]
            )
        if draw.by == "gradient":
            values = self._values(of_class)
            first = self._part.first_row
            return Sample(*_native.draw_by_size(values, draw.mu, draw.seed, self._n_threads, first))
        return all_rows(n_rows)


def _random(draw: Draw, first: int, n: int) -> Doubles:
    """Return n numbers of the coordinator's generator, from its number `first` on."""
    generator = np.random.PCG64()
    generator.state = draw.state
    return np.random.Generator(generator.advance(first)).random(n)


def _taken(drawn: NDArray[np.bool_]) -> Sample:
    return Sample(np.flatnonzero(drawn).astype(np.uint32))


def _signed(upper: int, lower: int) -> int:
    """Return an integer of 128 bits."""
    return (upper - (1 << 64) if upper >> 63 else upper) << 64 | lower
