"""Scorers as sums that other tools can hold: of trees, weighted features, networks, and mixtures of such sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.query_features import QueryFeature
from rankwright.interop.importers.foreign_trees import ensemble
from rankwright.models.class_trees import ClassLink, ExpectedRelevance
from rankwright.models.combination import Combination, StandardisedScorer
from rankwright.models.feature import FeatureScorer
from rankwright.models.linear import LinearScorer
from rankwright.models.network import NetworkScorer
from rankwright.models.query_features import QueryFeatureScorer
from rankwright.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer


@dataclass(frozen=True, eq=False)
class Flat:
    """The sum of an ensemble of trees, a linear scorer, networks, expected relevance, and standardised scores.

    Trees and linear scorer may be None. All parts score columns: the features and, for each of `kinds`, one column
    per feature computed within the query.
    """

    trees: TreeEnsemble | None
    linear: LinearScorer | None
    kinds: tuple[QueryFeature, ...] = ()
    networks: tuple[NetworkScorer, ...] = ()
    expected: tuple[Expected, ...] = ()
    standardised: tuple[Standardised, ...] = ()

    @property
    def n_columns(self) -> int:
        """Number of columns that are scored."""
        own = [part.n_features for part in (self.trees, self.linear, *self.networks) if part is not None]
        inner = [*(part.classes[0] for part in self.expected), *(part.inner for part in self.standardised)]
        return own[0] if own else inner[0].n_columns

    @property
    def needs_query(self) -> bool:
        """Whether a score depends on the other documents of the query."""
        return bool(self.kinds or self.standardised)

    @property
    def n_features(self) -> int:
        """Number of features that the columns are made of."""
        return self.n_columns // (1 + len(self.kinds))

    def single(self, target: str) -> TreeEnsemble | LinearScorer:
        """Return trees or weights for a target that cannot add the two."""
        model = self.linear if self.trees is None else self.trees
        if model is None or (self.trees is not None and self.linear is not None):
            raise InputError(
                f"The model adds trees and weighted features, which {target} cannot hold; export them apart."
            )
        return model

    def trees_only(self, target: str) -> TreeEnsemble:
        """Return the trees for a target that holds nothing else."""
        if self.trees is None or self.linear is not None:
            raise InputError(f"The model has weights of features, and {target} holds only trees.")
        return self.trees


class Expected(NamedTuple):
    """The expected relevance by scores of classes: `start` + the sum of `steps` x the probabilities of classes.

    Probabilities are the softmax of the scores, or else the logistic function of each.
    """

    classes: tuple[Flat, ...]
    start: float
    steps: Doubles
    softmax: bool


class Standardised(NamedTuple):
    """A term of a mixture: `weight` x the z-score, within the query, of scores that are first scaled to [0, 1]."""

    inner: Flat
    weight: float


Summand: TypeAlias = TreeEnsemble | LinearScorer | NetworkScorer
Part: TypeAlias = Summand | Expected | Standardised


def flattened(scorer: Scorer, target: str = "", *, within_query: bool = False) -> Flat:
    """Return a scorer as one sum: all trees in one ensemble, all weighted features in one linear scorer.

    What is computed within the query, and networks, are refused unless the target computes them (`within_query`).
    """
    kinds = tuple(sorted(_kinds(scorer), key=list(QueryFeature).index))
    if kinds and not within_query:
        raise InputError(
            f"The model uses columns computed within the query, which {target} does not compute: export it to "
            "onnx or c, which take one query per call, train without query_features, or rank with rankwright."
        )
    flat = _joined(_parts(scorer, 1.0, _Columns(scorer.n_features, kinds)), kinds)
    if flat.standardised and not within_query:
        raise InputError(
            f"The model standardises scores within the query, which {target} does not: export it to onnx or c, "
            "which take one query per call, or export the models that it mixes."
        )
    if not within_query and (flat.networks or flat.expected):
        kind = "a network with hidden layers" if flat.networks else "an expected relevance over classes"
        raise InputError(f"The model is {kind}, which {target} does not hold: export it to onnx or c.")
    return flat


def _joined(parts: list[Part], kinds: tuple[QueryFeature, ...]) -> Flat:
    forests = [part for part in parts if isinstance(part, TreeEnsemble)]
    linear = [part for part in parts if isinstance(part, LinearScorer)]
    trees = TreeEnsemble.concatenate(forests) if forests else None
    if trees is not None and not trees.n_trees:
        trees = ensemble([], trees.n_features)  # a single leaf of 0: no format has a model without trees
    networks = tuple(part for part in parts if isinstance(part, NetworkScorer))
    expected = tuple(part for part in parts if isinstance(part, Expected))
    standardised = tuple(part for part in parts if isinstance(part, Standardised))
    return Flat(trees, _sum(linear) if linear else None, kinds, networks, expected, standardised)


def _kinds(scorer: Scorer) -> set[QueryFeature]:
    """Return the kinds of columns that any part of a scorer has."""
    match scorer:
        case QueryFeatureScorer():
            if _kinds(scorer.inner):
                raise InputError("The model computes columns within the query from such columns; train it anew.")
            return set(scorer.columns)
        case StandardisedScorer():
            return _kinds(scorer.inner)
        case Combination():
            return {kind for member in scorer.members for kind in _kinds(member)}
    return set()


@dataclass(frozen=True)
class _Columns:
    """The columns of all parts: the features, then each kind; `blocks` are those of one part, in its order."""

    n_features: int
    kinds: tuple[QueryFeature, ...]
    blocks: tuple[int, ...] = (0,)

    def within(self, scorer: QueryFeatureScorer) -> _Columns:
        """Return the columns as they are given to the inner scorer."""
        blocks = [0] if scorer.raw else []
        return replace(self, blocks=(*blocks, *(1 + self.kinds.index(kind) for kind in scorer.columns)))

    @property
    def indices(self) -> NDArray[np.int32]:
        """The index of each of the part's columns among all."""
        features = np.arange(self.n_features, dtype=np.int32)
        return np.concatenate([block * self.n_features + features for block in self.blocks])

    def of_all(self, part: Summand) -> Summand:
        """Return a part that takes all columns instead of its own."""
        if not self.kinds:
            return part
        n_columns = self.n_features * (1 + len(self.kinds))
        if isinstance(part, TreeEnsemble):
            return replace(part, feature=self.indices[part.feature], n_features=n_columns)
        missing = np.zeros(n_columns)
        missing[self.indices] = part.missing
        if isinstance(part, NetworkScorer):
            (weights, biases), *rest = part.layers
            first = np.zeros((n_columns, len(biases)))
            first[self.indices] = weights
            return NetworkScorer.of_layers([(first, biases), *rest], missing)
        spread = np.zeros(n_columns)
        spread[self.indices] = part.weights
        return LinearScorer(spread, missing, part.intercept)


def _parts(scorer: Scorer, weight: float, columns: _Columns) -> list[Part]:
    match scorer:
        case Combination():
            members = zip(scorer.members, scorer.weights, strict=True)
            return [part for member, own in members for part in _parts(member, weight * float(own), columns)]
        case QueryFeatureScorer():
            return _parts(scorer.inner, weight, columns.within(scorer))
        case StandardisedScorer():
            return [Standardised(_joined(_parts(scorer.inner, 1.0, columns), columns.kinds), weight)]
        case ExpectedRelevance():
            return [_expected(scorer, weight, columns)]
    return [columns.of_all(_part(scorer, weight))]


def _expected(scorer: ExpectedRelevance, weight: float, columns: _Columns) -> Expected:
    classes = tuple(_joined([columns.of_all(trees)], columns.kinds) for trees in scorer.classes.by_class)
    start, steps = scorer.link.steps(scorer.levels)
    return Expected(classes, weight * start, weight * steps, scorer.link is ClassLink.MULTICLASS)


def _part(scorer: Scorer, weight: float) -> Summand:
    match scorer:
        case TreeEnsemble():
            return scorer.bare() if weight == 1.0 else scorer.bare().scaled(weight)
        case LinearScorer():
            return replace(scorer.bare(), weights=weight * scorer.weights, intercept=weight * scorer.intercept)
        case FeatureScorer():
            weights, missing = np.zeros(scorer.n_features), np.zeros(scorer.n_features)
            weights[scorer.feature], missing[scorer.feature] = weight * scorer.direction, scorer.missing
            return LinearScorer(weights, missing)
        case NetworkScorer():
            *hidden, (last, bias) = scorer.layers
            return NetworkScorer.of_layers([*hidden, (weight * last, weight * bias)], scorer.missing)
    if scorer.needs_init_score:
        raise InputError("A residual model, which needs init_score, cannot be exported.")
    raise InputError(
        f"A scorer of kind {scorer.kind!r} cannot be exported: only trees, weighted features, networks, expected "
        "relevance over classes, and sums and mixtures of them."
    )


def _sum(parts: list[LinearScorer]) -> LinearScorer:
    """Return one linear scorer; where members replace a missing value differently, no single value would do."""
    if len(parts) == 1:
        return parts[0]
    weights = np.sum([part.weights for part in parts], axis=0)
    missing = np.zeros(len(weights))
    for part in parts:
        missing[part.used_features] = part.missing[part.used_features]
    for part in parts:
        if (part.missing != missing)[part.used_features].any():
            raise InputError(
                "The members of the model replace missing values differently, so they cannot be summed."
            )
    return LinearScorer(weights, missing, sum(part.intercept for part in parts))
