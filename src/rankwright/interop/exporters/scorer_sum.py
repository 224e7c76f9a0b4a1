"""Scorers as weighted sums that other tools can hold: of trees, features, networks, and mixtures of such sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.query_features import QueryFeature
from rankwright.interop.importers.foreign_trees import ensemble
from rankwright.interop.importers.interval_splits import without_sets
from rankwright.models.class_trees import ClassLink, ExpectedRelevance
from rankwright.models.combination import Combination, StandardisedScorer
from rankwright.models.feature import FeatureScorer
from rankwright.models.linear import LinearScorer
from rankwright.models.nested_scorers import QueryFeatureScorer
from rankwright.models.network import NetworkScorer
from rankwright.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer


@dataclass(frozen=True, eq=False)
class ScorerSum:
    """The sum of an ensemble of trees, a linear scorer, networks, expected relevance, and standardised scores.

    Trees and linear scorer may be None. All terms score columns: the features and, for each of `query_features`,
    one column per feature computed within the query.
    """

    trees: TreeEnsemble | None
    linear: LinearScorer | None
    query_features: tuple[QueryFeature, ...] = ()
    networks: tuple[NetworkScorer, ...] = ()
    expected: tuple[ExpectedTerm, ...] = ()
    standardised: tuple[StandardisedTerm, ...] = ()

    @property
    def n_columns(self) -> int:
        """Number of columns that are scored."""
        own = [term.n_features for term in (self.trees, self.linear, *self.networks) if term is not None]
        inner = [*(term.classes[0] for term in self.expected), *(term.inner for term in self.standardised)]
        return own[0] if own else inner[0].n_columns

    @property
    def needs_query(self) -> bool:
        """Whether a score depends on the other documents of the query."""
        return bool(self.query_features or self.standardised)

    @property
    def n_features(self) -> int:
        """Number of features that the columns are made of."""
        return self.n_columns // (1 + len(self.query_features))

    def without_sets(self, target: str) -> ScorerSum:
        """Return the sum for a target whose splits have thresholds only."""
        expected = [
            term._replace(classes=tuple(own.without_sets(target) for own in term.classes))
            for term in self.expected
        ]
        standardised = [term._replace(inner=term.inner.without_sets(target)) for term in self.standardised]
        try:
            trees = None if self.trees is None else without_sets(self.trees)
        except InputError as error:
            sets = f"The model splits categories by sets of levels, which {target} does not hold"
            raise InputError(f"{sets}: {error}") from None
        return replace(self, trees=trees, expected=tuple(expected), standardised=tuple(standardised))

    def trees_or_weights(self, target: str) -> TreeEnsemble | LinearScorer:
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


class ExpectedTerm(NamedTuple):
    """The expected relevance by scores of classes: `start` + the sum of `steps` x the probabilities of classes.

    Probabilities are the softmax of the scores, or else the logistic function of each.
    """

    classes: tuple[ScorerSum, ...]
    start: float
    steps: Doubles
    softmax: bool


class StandardisedTerm(NamedTuple):
    """A term of a mixture: `weight` x the z-score, within the query, of scores that are first scaled to [0, 1]."""

    inner: ScorerSum
    weight: float


ColumnScorer: TypeAlias = TreeEnsemble | LinearScorer | NetworkScorer
Term: TypeAlias = ColumnScorer | ExpectedTerm | StandardisedTerm
T = TypeVar("T")


def sum_of_scorers(scorer: Scorer, target: str = "", *, takes_queries: bool = False) -> ScorerSum:
    """Return a scorer as one sum: all trees in one ensemble, all weighted features in one linear scorer.

    What is computed within the query, and networks, are refused unless the target computes them (`takes_queries`).
    """
    query_features = tuple(sorted(_query_features_of(scorer), key=list(QueryFeature).index))
    if query_features and not takes_queries:
        raise InputError(
            f"The model uses columns computed within the query, which {target} does not compute: export it to "
            "onnx or c, which take one query per call, train without query_features, or rank with rankwright."
        )
    model = _summed(_terms(scorer, 1.0, _Columns(scorer.n_features, query_features)), query_features)
    if takes_queries:
        return model
    if model.standardised:
        raise InputError(
            f"The model standardises scores within the query, which {target} does not: export it to onnx or c, "
            "which take one query per call, or export the models that it mixes."
        )
    if model.networks or model.expected:
        kind = "a network with hidden layers" if model.networks else "an expected relevance over classes"
        raise InputError(f"The model is {kind}, which {target} does not hold: export it to onnx or c.")
    return model


def _summed(terms: list[Term], query_features: tuple[QueryFeature, ...]) -> ScorerSum:
    def terms_of(kind: type[T]) -> tuple[T, ...]:
        return tuple(term for term in terms if isinstance(term, kind))

    ensembles, linear = terms_of(TreeEnsemble), terms_of(LinearScorer)
    trees = TreeEnsemble.concatenate(ensembles) if ensembles else None
    if trees is not None and not trees.n_trees:
        trees = ensemble([], trees.n_features)  # a single leaf of 0: no format has a model without trees
    return ScorerSum(
        trees,
        _linear_sum(linear) if linear else None,
        query_features,
        terms_of(NetworkScorer),
        terms_of(ExpectedTerm),
        terms_of(StandardisedTerm),
    )


def _query_features_of(scorer: Scorer) -> set[QueryFeature]:
    """Return the kinds of columns computed within the query that any part of a scorer has."""
    match scorer:
        case QueryFeatureScorer():
            if _query_features_of(scorer.inner):
                raise InputError("The model computes columns within the query from such columns; train it anew.")
            return set(scorer.columns)
        case StandardisedScorer():
            return _query_features_of(scorer.inner)
        case Combination():
            return set().union(*map(_query_features_of, scorer.members))
    return set()


@dataclass(frozen=True)
class _Columns:
    """The columns of all terms: the features, then each kind; `blocks` are those of one term, in its order."""

    n_features: int
    query_features: tuple[QueryFeature, ...]
    blocks: tuple[int, ...] = (0,)

    @property
    def n_columns(self) -> int:
        """Number of columns of all terms."""
        return self.n_features * (1 + len(self.query_features))

    def within(self, scorer: QueryFeatureScorer) -> _Columns:
        """Return the columns as they are given to the inner scorer."""
        blocks = [0] if scorer.raw else []
        return replace(self, blocks=(*blocks, *(1 + self.query_features.index(kind) for kind in scorer.columns)))

    @property
    def indices(self) -> NDArray[np.int32]:
        """The index of each of the term's columns among all."""
        features = np.arange(self.n_features, dtype=np.int32)
        return np.concatenate([block * self.n_features + features for block in self.blocks])

    def of_all(self, term: ColumnScorer) -> ColumnScorer:
        """Return a term that takes all columns instead of its own."""
        if not self.query_features:
            return term
        if isinstance(term, TreeEnsemble):
            return replace(term, feature=self.indices[term.feature], n_features=self.n_columns)
        if isinstance(term, LinearScorer):
            return LinearScorer(self._spread(term.weights), self._spread(term.missing), term.intercept)
        (weights, biases), *rest = term.layers
        return NetworkScorer.of_layers([(self._spread(weights), biases), *rest], self._spread(term.missing))

    def _spread(self, values: Doubles) -> Doubles:
        """Return the values of the term's columns among those of all, the others 0."""
        whole = np.zeros((self.n_columns, *values.shape[1:]))
        whole[self.indices] = values
        return whole


def _terms(scorer: Scorer, weight: float, columns: _Columns) -> list[Term]:
    match scorer:
        case Combination():
            members = zip(scorer.members, scorer.weights, strict=True)
            return [term for member, own in members for term in _terms(member, weight * float(own), columns)]
        case QueryFeatureScorer():
            return _terms(scorer.inner, weight, columns.within(scorer))
        case StandardisedScorer():
            return [StandardisedTerm(_summed(_terms(scorer.inner, 1.0, columns), columns.query_features), weight)]
        case ExpectedRelevance():
            return [_expected(scorer, weight, columns)]
    return [columns.of_all(_weighted(scorer, weight))]


def _expected(scorer: ExpectedRelevance, weight: float, columns: _Columns) -> ExpectedTerm:
    classes = tuple(_summed([columns.of_all(trees)], columns.query_features) for trees in scorer.classes.by_class)
    start, steps = scorer.link.steps(scorer.levels)
    return ExpectedTerm(classes, weight * start, weight * steps, scorer.link is ClassLink.MULTICLASS)


def _weighted(scorer: Scorer, weight: float) -> ColumnScorer:
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


def _linear_sum(terms: Sequence[LinearScorer]) -> LinearScorer:
    """Return one linear scorer; where members replace a missing value differently, no single value would do."""
    if len(terms) == 1:
        return terms[0]
    weights = np.sum([term.weights for term in terms], axis=0)
    missing = np.zeros(len(weights))
    for term in terms:
        missing[term.used_features] = term.missing[term.used_features]
    for term in terms:
        if (term.missing != missing)[term.used_features].any():
            raise InputError(
                "The members of the model replace missing values differently, so they cannot be summed."
            )
    return LinearScorer(weights, missing, sum(term.intercept for term in terms))
