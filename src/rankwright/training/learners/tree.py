"""Regression trees as weak learners, grown on random samples of documents."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from rankwright import _native
from rankwright.models.trees import PER_SPLIT, TreeEnsemble
from rankwright.training.learners.signal import Gradients, Weak
from rankwright.training.monitor import RoundBlock, RoundsEnd, WeightedModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Floats
    from rankwright.data.groups import QueryGroups
    from rankwright.training.binned_features import BinnedFeatures
    from rankwright.training.learners.signal import RunRounds
    from rankwright.training.monitor import Monitor, WeakModel

# Gradients are rounded to this many levels to choose splits, so that their sums are exact. Fewer lose accuracy.
LEVELS = 127
# As many levels as exact sums allow: for weights so different that most gradients would round to zero.
FINE_LEVELS = 0
# The ratio of the largest weight to the median one from which a document of median weight has too few levels left.
WIDE_SPREAD = 16.0
# A smaller sample by gradient often misses the best features of the last leaves. If it must be a larger fraction
# than this to have so many documents, it saves no time.
LEAST_DRAWN, MOST_RAISED = 50_000, 0.2
VANISHING = 1e-30  # a smaller ratio of hessian to gradient is rounding


class TreeLimits(NamedTuple):
    """Limits of the growth of a tree, in the order in which the native code takes them."""

    max_leaves: int
    min_documents: int
    min_hessian: float
    l2: float
    min_gain: float = 0.0
    levels: int = LEVELS


@dataclass(frozen=True)
class TreeSampling:
    """Fractions of documents (drawn singly, by query or by gradient) and of features that a round uses."""

    documents: float
    by: str
    features: float


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows that were drawn, and their weights; without weights each counts 1."""

    rows: NDArray[np.uint32]
    weights: Doubles = field(default_factory=lambda: np.zeros(0))


def all_rows(n_rows: int) -> Sample:
    """Take every document."""
    return Sample(np.arange(n_rows, dtype=np.uint32))


def draw_documents(n_rows: int, fraction: float, random: np.random.Generator) -> Sample:
    """Draw single documents with equal probability."""
    return _take(random.random(n_rows) < fraction)


def draw_queries(groups: QueryGroups, fraction: float, random: np.random.Generator) -> Sample:
    """Draw whole queries with equal probability."""
    return _take((random.random(len(groups)) < fraction)[groups.query_of_row])


def draw_by_size(
    values: Sequence[Doubles], fraction: float, random: np.random.Generator, *, n_threads: int = 1
) -> Sample:
    """Draw documents with probability proportional to the size of their values; weights are the inverse.

    Sums of the values keep their expectations, with the least variance for this number of documents (minimal
    variance sampling, Ibragimov & Gusev 2019): p = min(1, size / mu), where the size is the square root of the sum
    of squares over the arrays of values.
    """
    seed = draw_seed(random)  # also if it is not needed, so that as many are drawn as in native code
    if fraction < 1.0:
        rows, weights = _native.draw_by_size(values, _native.size_threshold(values, fraction), seed, n_threads)
        if len(rows):
            return Sample(rows, weights)
    return all_rows(len(values[0]))


def draw_seed(random: np.random.Generator) -> int:
    """Return a seed of draws in native code."""
    return int(random.integers(2**63))


class NativeGradients(NamedTuple):
    """A rule in native code: gradients, and the learning rate by which every tree is multiplied.

    `measure` gives the values of the training queries after each round, if there is one.
    """

    gradients: _native.GradientRule
    learning_rate: float
    measure: _native.RankMeasure | None = None

    def watched_by(self, monitor: Monitor) -> NativeGradients:
        """Return the rule that measures its rounds as the monitor does."""
        return self._replace(measure=monitor.native_measure)


def separate_trees(joined: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the arrays of every tree, as parts of those of all trees, which are much faster to make."""
    begins: list[int] = joined["splits"].tolist()
    words: list[int] = np.append(0, np.cumsum(joined["set_size"], dtype=np.int64))[begins].tolist()
    per_leaf = len(joined["leaf_value"]) // max(1, len(joined["cover"]))
    for number, (first, last) in enumerate(pairwise(begins)):
        tree = {name: joined[name][first:last] for name in PER_SPLIT}
        leaf, after = first + number, last + number + 1
        tree["cover"] = joined["cover"][leaf:after]
        tree["leaf_value"] = joined["leaf_value"][leaf * per_leaf : after * per_leaf]
        tree["set_words"] = joined["set_words"][words[number] : words[number + 1]]
        yield tree


class TreeLearner:
    """Grows regression trees on gradients; the value of a leaf is sum of gradients / sum of hessians (Newton)."""

    shared: ClassVar[bool] = False  # whether one tree per round has a value for every class in each leaf

    def __init__(
        self,
        binned: BinnedFeatures,
        groups: QueryGroups,
        *,
        limits: TreeLimits,
        sampling: TreeSampling,
        monotone: NDArray[np.int8],
        random: np.random.Generator,
        n_threads: int,
        symmetric: bool = False,
    ) -> None:
        self.binned = binned
        self.groups = groups
        self.limits = limits
        self.sampling = sampling
        self.random = random
        self.n_threads = n_threads
        self.symmetric = symmetric  # all leaves of a level share one split
        self._source = binned.sources
        self.monotone = monotone[self._source] if len(monotone) else monotone
        self._workspace = _native.GrowthWorkspace()
        self._n_sources = binned.n_sources
        self._every_row = all_rows(binned.n_rows)
        self._every_feature = np.arange(binned.n_features, dtype=np.uint32)
        by_gradient = sampling.by == "gradient" and sampling.documents < 1.0
        self.guard = _native.sample_guard(first_fraction(sampling.documents, binned)) if by_gradient else None

    def fit(self, signal: Gradients) -> Weak:
        """Return a tree fitted to the gradients, and its outputs for every document."""
        tree, outputs = self._fitted(signal)
        return Weak(self.round_model([tree]), outputs)

    def _fitted(self, signal: Gradients) -> tuple[dict[str, Any], Doubles]:
        tree, outputs = self._grow(signal, self._draw(signal), self.draw_features())
        if self.guard is not None:
            self.guard = self.guard.checked(self._workspace)
        if not len(tree["feature"]) and self.draws:
            # The sample has no split with a gain, but all documents and features may have one.
            tree, outputs = self._grow(signal, self._every_row, self._every_feature)
        return tree, outputs

    def in_core(self, rule: Any) -> RunRounds | None:
        """Return the rounds of a rule that follows gradients."""
        return partial(self.boost, rule) if isinstance(rule, NativeGradients) else None

    def boost(self, rule: NativeGradients, scores: Doubles, n_rounds: int, following: Floats) -> RoundBlock:
        """Fit trees in native code: `fit` on the gradients of the scores so far, one round after the other."""
        n_trees = 1 if self.shared else scores.size // self.binned.n_rows
        draws = [self._draw_ahead(scores) for _ in range(n_rounds * n_trees)]
        before = self._workspace.bytes_read
        joined, sums, outputs, values, end, self.guard = _native.boost_trees(
            self.binned.matrix,
            rule.gradients,
            self.shared,
            scores.ravel(),
            draws,
            self.monotone,
            *self.limits,
            rule.learning_rate,
            following,
            self._source,
            rule.measure,
            self.n_threads,
            self.guard,
            self._workspace,
            symmetric=self.symmetric,
        )
        trees = list(separate_trees(joined))
        of_rounds = [trees[first : first + n_trees] for first in range(0, len(trees), n_trees)]
        members = [WeightedModel(rule.learning_rate, self.round_model(of_round)) for of_round in of_rounds]
        sums = sums.reshape(-1, *scores.shape)
        outputs = outputs.reshape(len(members), *scores.shape[:-1], len(following))
        measured = None if rule.measure is None else values
        n_bytes = (self._workspace.bytes_read - before) / max(1, len(members))
        diagnostics = [{"bytes_read": n_bytes}] * len(members) if self.binned.matrix.block_rows else []
        return RoundBlock(members, sums, outputs, RoundsEnd(end), diagnostics, measured)

    @property
    def draws(self) -> bool:
        return self.sampling.documents < 1.0 or self.sampling.features < 1.0

    def _grow(
        self, signal: Gradients, sample: Sample, features: NDArray[np.uint32]
    ) -> tuple[dict[str, Any], Doubles]:
        return _native.grow_tree(
            self.binned.matrix,
            signal.gradient,
            signal.hessian,
            sample.rows,
            sample.weights,
            features,
            self.monotone,
            *self.limits,
            self.n_threads,
            self._workspace,
            symmetric=self.symmetric,
        )

    def leaf_of_row(self) -> NDArray[np.uint32]:
        """Return the number of each document's leaf in the tree that was fitted last."""
        return self._workspace.leaf_of_row()

    def round_model(self, trees: Sequence[dict[str, Any]]) -> WeakModel:
        """Return the model of the trees of one round."""
        return self.model(trees[0])

    def model(self, tree: dict[str, Any]) -> TreeEnsemble:
        return TreeEnsemble.grown({**tree, "feature": self._source[tree["feature"]]}, self._n_sources)

    def _draw(self, signal: Gradients) -> Sample:
        share = self.sampling.documents
        if share >= 1.0:
            return self._every_row
        if self.guard is not None:
            # Drawn by gradient alone, a rare document with a large hessian would get too large a weight.
            values = gradient_values(signal)
            return draw_by_size(values, self.guard.fraction, self.random, n_threads=self.n_threads)
        if self.sampling.by == "queries":
            return draw_queries(self.groups, share, self.random)
        return draw_documents(self.binned.n_rows, share, self.random)

    def _draw_ahead(self, scores: Doubles) -> tuple[NDArray[np.uint32], NDArray[np.uint32], int]:
        """Return the rows and the features of a round, or the seed with which native code samples the rows."""
        if self.guard is not None:
            seed = draw_seed(self.random)
            return self._every_row.rows, self.draw_features(), seed
        nothing = Gradients(scores, scores)  # draws do not look at it
        return self._draw(nothing).rows, self.draw_features(), 0

    def draw_features(self) -> NDArray[np.uint32]:
        if self.sampling.features >= 1.0:
            return self._every_feature
        n_drawn = max(1, round(self.sampling.features * self._n_sources))
        drawn = np.zeros(self._n_sources, dtype=bool)
        drawn[self.random.choice(self._n_sources, n_drawn, replace=False)] = True
        return np.flatnonzero(drawn[self._source]).astype(np.uint32)


@dataclass(frozen=True, eq=False)
class LeastSquaresTrees:
    """Grows trees whose splits minimise the squared error of the gradients.

    The value of a leaf is sum of gradients / sum of hessians (Newton), or the mean of the gradients.

    Parameters
    ----------
    learner
        Grows trees without l2; given a hessian of 1 for every document, its gain is the fall of the squared error.
    weights
        One per document, which gradients and hessians are multiplied by already; None: all 1.
    l2
        Added to the sum of hessians of each leaf, or to its number of documents.
    mean
        Whether leaves hold means.
    """

    learner: TreeLearner
    weights: Doubles | None
    l2: float
    mean: bool = False

    def fit(self, signal: Gradients) -> Weak:
        counts = np.ones(len(signal.gradient)) if self.weights is None else self.weights
        tree = self.learner.fit(Gradients(signal.gradient, counts)).model
        assert isinstance(tree, TreeEnsemble)
        leaf_of_row = self.learner.leaf_of_row()
        gradient, hessian = (
            _native.leaf_sums(values, leaf_of_row, len(tree.leaf_value), self.learner.n_threads)
            for values in (signal.gradient, counts if self.mean else signal.hessian)
        )
        values = _leaf_values(gradient, hessian, self.l2)
        return Weak(replace(tree, leaf_value=values), values[leaf_of_row])


def first_fraction(wanted: float, binned: BinnedFeatures) -> float:
    """Return the fraction of the documents that the first tree draws by gradient."""
    least = LEAST_DRAWN / binned.n_rows if binned.matrix.coarse else 0.0
    if wanted >= least:
        return wanted
    return least if least <= MOST_RAISED else 1.0


def _leaf_values(gradient: Doubles, hessian: Doubles, l2: float) -> Doubles:
    """Return gradient / (hessian + l2), and 0 where the second derivative vanishes, so that there is no step."""
    curvature = hessian + l2
    steps = curvature > VANISHING * np.abs(gradient)
    return np.divide(gradient, curvature, out=np.zeros(len(gradient)), where=steps)


def gradient_values(signal: Gradients) -> list[Doubles]:
    """Return gradients and hessians, one array per class each."""
    return [*np.atleast_2d(signal.gradient), *np.atleast_2d(signal.hessian)]


def levels_for(weights: Doubles | None) -> int:
    """Return the number of levels that gradients are rounded to, given one weight per document or None."""
    if weights is None:
        return LEVELS
    positive = weights[weights > 0.0]
    return FINE_LEVELS if positive.max() > WIDE_SPREAD * np.median(positive) else LEVELS


def _take(drawn: NDArray[np.bool_]) -> Sample:
    if not drawn.any():
        drawn = np.ones_like(drawn)  # a round needs at least one document
    return Sample(np.flatnonzero(drawn).astype(np.uint32))
