"""Generates queries whose ideal ranking is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Floats, Integers

WEB_LABEL_SHARES = (0.50, 0.25, 0.15, 0.07, 0.03)
"""Fractions of the labels 0 to 4, similar to judgements of web search results."""

# The same seed may draw a function, shift it and sample from it: each use has its own random stream.
_FUNCTION, _REFERENCE, _SAMPLE, _SHIFT, _GAUSSIAN, _CUBIC = range(1, 7)

_REFERENCE_DOCUMENTS = 100_000
_CHUNK = 2048  # documents evaluated together; the products of a dense cubic then take about 20 MB
_CONSTANT = -1  # stands for the factor 1, which pads monomials of lower degree


@dataclass(frozen=True, eq=False)
class RandomPolynomial:
    """A random polynomial of features in [-1, 1], and the thresholds that turn its values into labels.

    All samples of it (training, validation, test) have the same function and the same thresholds.

    Parameters
    ----------
    n_features
        Number of features per document; the function may depend on only a few of them.
    factors
        The features of each monomial, one row per monomial, padded with -1.
    coefficients
        The coefficient of each monomial.
    label_shares
        The fractions of documents with label 0, 1, 2 and so on.
    thresholds
        The lowest value of each label, from label 1.

    Examples
    --------
    >>> truth = rw.synthetic.RandomPolynomial.draw(1, n_features=8, n_active=4, degree=2)
    >>> train, test = (truth.sample(20, seed=seed, n_documents=10) for seed in (1, 2))
    >>> rw.metrics.NDCG(k=10)(test.y, truth.values(test.X), test.qid)
    1.0
    """

    n_features: int
    factors: Integers
    coefficients: Doubles
    label_shares: tuple[float, ...]
    thresholds: Doubles

    @classmethod
    def draw(
        cls,
        seed: int,
        *,
        n_features: int = 50,
        n_terms: int | None = 20,
        n_active: int | None = 10,
        degree: int = 3,
        label_shares: tuple[float, ...] = WEB_LABEL_SHARES,
    ) -> RandomPolynomial:
        """Draw a random function.

        Parameters
        ----------
        seed
            The same seed gives the same function.
        n_features
            Number of features per document.
        n_terms
            Number of monomials, each of a random degree; None: all possible monomials.
        n_active
            Number of features that the function depends on; None: all.
        degree
            The highest degree of a monomial.
        label_shares
            The fractions of documents with label 0, 1, 2 and so on.
        """
        n_active = n_features if n_active is None else n_active
        _require_counts(n_features=n_features, n_active=n_active, degree=degree)
        if n_terms is not None:
            _require_counts(n_terms=n_terms)
        if n_active > n_features:
            raise InputError(f"n_active is {n_active}, but there are only {n_features} features.")
        _require_shares(label_shares)
        rng = np.random.default_rng((seed, _FUNCTION))
        active = np.sort(rng.choice(n_features, n_active, replace=False))
        factors = _monomials(active, degree, n_terms, rng)
        return _with_thresholds(n_features, factors, _draw_coefficients(factors, rng), tuple(label_shares))

    @classmethod
    def cubic(
        cls, seed: int, *, n_features: int = 50, label_shares: tuple[float, ...] = WEB_LABEL_SHARES
    ) -> RandomPolynomial:
        """Draw the cubic polynomial of Burges et al. (2005), section 5.1, which depends on all features.

        It is the mean of three terms of variance 1: a linear one with random weights, and sums over all features
        of the products with one and with two others, which random permutations choose.

        Parameters
        ----------
        seed
            The same seed gives the same function.
        n_features
            Number of features per document.
        label_shares
            The fractions of documents with label 0, 1, 2 and so on.
        """
        _require_counts(n_features=n_features)
        _require_shares(label_shares)
        rng = np.random.default_rng((seed, _CUBIC))
        every = np.arange(n_features)
        partner, second, third = (rng.permutation(n_features) for _ in range(3))
        terms = ((every,), (every, partner), (every, second, third))
        factors = np.vstack([_padded(np.stack(columns, axis=1)) for columns in terms])
        weights = np.concatenate([rng.uniform(-1.0, 1.0, n_features), np.ones(2 * n_features)])
        coefficients = weights / np.repeat(_deviations(factors, weights, n_features), n_features) / len(terms)
        return _with_thresholds(n_features, factors, coefficients, tuple(label_shares))

    def values(self, X: Floats) -> Doubles:
        """Return the value of the function for each document: the score of a perfect ranker."""
        prefixes, weights = _by_last_factor(self.factors, self.coefficients, self.n_features)
        values = np.empty(len(X))
        for start in range(0, len(X), _CHUNK):
            columns = _columns_and_ones(X[start : start + _CHUNK])
            values[start : start + _CHUNK] = ((weights @ _products(columns, prefixes)) * columns).sum(axis=0)
        return values

    def sample(
        self,
        n_queries: int,
        *,
        seed: int,
        n_documents: int = 50,
        noise: float = 0.0,
        thresholds_per_query: bool = False,
    ) -> RankingData:
        """Draw queries of uniformly distributed documents and label them.

        Parameters
        ----------
        n_queries
            Number of queries.
        seed
            The same seed gives the same queries; use different seeds for training and test data.
        n_documents
            Number of documents per query.
        noise
            Fraction of the labels that are replaced by random ones.
        thresholds_per_query
            Whether the fractions of labels hold exactly in each query, instead of over all queries.
        """
        _require_counts(n_queries=n_queries, n_documents=n_documents)
        if not 0.0 <= noise <= 1.0:
            raise InputError(f"noise must lie between 0 and 1, not {noise}.")
        rng = np.random.default_rng((seed, _SAMPLE))
        X = _uniform(rng, n_queries * n_documents, self.n_features)
        values = self.values(X)
        if thresholds_per_query:
            labels = _labels_within(values.reshape(n_queries, n_documents), self.label_shares)
        else:
            labels = np.searchsorted(self.thresholds, values, side="right")
        self._disturb(labels, noise, rng)
        return RankingData(sealed(X), labels.astype(np.float64), np.repeat(np.arange(n_queries), n_documents))

    def shifted(self, amount: float, *, seed: int) -> RandomPolynomial:
        """Return a related function: the same monomials, with coefficients mixed with newly drawn ones.

        An amount of 0 changes nothing, 1 gives independent coefficients. The variance of the coefficients is the
        same for any amount.
        """
        if not 0.0 <= amount <= 1.0:
            raise InputError(f"amount must lie between 0 and 1, not {amount}.")
        fresh = _draw_coefficients(self.factors, np.random.default_rng((seed, _SHIFT)))
        coefficients = np.sqrt(1.0 - amount**2) * self.coefficients + amount * fresh
        return _with_thresholds(self.n_features, self.factors, coefficients, self.label_shares)

    def _disturb(self, labels: Integers, noise: float, rng: np.random.Generator) -> None:
        """Replace a random fraction of the labels by labels drawn from the same distribution."""
        hit = np.flatnonzero(rng.random(len(labels)) < noise)
        labels[hit] = rng.choice(len(self.label_shares), len(hit), p=self.label_shares)


def polynomial_queries(
    n_queries: int,
    *,
    n_documents: int = 50,
    n_features: int = 50,
    n_terms: int | None = 20,
    n_active: int | None = 10,
    degree: int = 3,
    label_shares: tuple[float, ...] = WEB_LABEL_SHARES,
    noise: float = 0.0,
    seed: int = 7,
) -> RankingData:
    """Return queries labelled by one random polynomial; by default the labels have no noise.

    To get training and test data of the same function, draw a `RandomPolynomial` and sample it with several seeds.
    The parameters are those of `RandomPolynomial.draw` and `RandomPolynomial.sample`.

    Examples
    --------
    >>> rw.synthetic.polynomial_queries(10, n_documents=5, n_features=4, n_active=2)
    RankingData(50 documents, 10 queries, 4 features)
    """
    function = RandomPolynomial.draw(
        seed,
        n_features=n_features,
        n_terms=n_terms,
        n_active=n_active,
        degree=degree,
        label_shares=label_shares,
    )
    return function.sample(n_queries, seed=seed, n_documents=n_documents, noise=noise)


def gaussian_queries(
    n_queries: int = 1,
    *,
    n_relevant: int = 7,
    n_irrelevant: int = 14,
    spread: tuple[float, float] = (0.2, 0.2),
    seed: int = 7,
) -> RankingData:
    """Return queries of relevant documents around (1, 1) and irrelevant ones around (-1, -1).

    Parameters
    ----------
    n_queries
        Number of queries.
    n_relevant, n_irrelevant
        Numbers of relevant and irrelevant documents per query; the relevant ones come first.
    spread
        Variances of the two features; with (0.2, 1.3) the two kinds overlap.
    seed
        The same seed gives the same queries.

    Examples
    --------
    >>> rw.synthetic.gaussian_queries(10, n_relevant=2, n_irrelevant=4)
    RankingData(60 documents, 10 queries, 2 features)
    """
    _require_counts(n_queries=n_queries, n_relevant=n_relevant, n_irrelevant=n_irrelevant)
    if len(spread) != 2 or min(spread) < 0.0:
        raise InputError(f"spread must be two variances, not {spread}.")
    rng = np.random.default_rng((seed, _GAUSSIAN))
    labels = np.tile(np.repeat([1, 0], [n_relevant, n_irrelevant]), n_queries)
    centres = np.where(labels == 1, 1.0, -1.0)[:, None]
    # Xu et al. (2010) call Sigma a deviation matrix, but N(m, Sigma) with a matrix Sigma means a covariance.
    X = (centres + rng.standard_normal((len(labels), 2)) * np.sqrt(spread)).astype(np.float32)
    return RankingData(
        sealed(X), labels.astype(np.float64), np.repeat(np.arange(n_queries), n_relevant + n_irrelevant)
    )


def _require_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise InputError(f"{name} must be a positive integer, not {count}.")


def _require_shares(shares: tuple[float, ...]) -> None:
    if len(shares) < 2 or min(shares) < 0.0 or not np.isclose(sum(shares), 1.0):
        raise InputError(f"label_shares must be two or more fractions with sum 1, not {shares}.")


def _uniform(rng: np.random.Generator, n_rows: int, n_features: int) -> Floats:
    X = rng.random((n_rows, n_features), dtype=np.float32)
    X *= 2.0
    X -= 1.0
    return X


def _monomials(active: Integers, degree: int, n_terms: int | None, rng: np.random.Generator) -> Integers:
    """Return random monomials of degree 1 to `degree`, or all of them; a monomial may repeat a feature."""
    if n_terms is None:
        return _every_monomial(active, degree)
    factors = rng.choice(active, (n_terms, degree))
    degrees = rng.integers(1, degree + 1, n_terms)
    factors[np.arange(degree) >= degrees[:, None]] = _CONSTANT
    return factors


def _every_monomial(active: Integers, degree: int) -> Integers:
    every = combinations_with_replacement([_CONSTANT, *active.tolist()], degree)
    return np.array(list(every)[1:], dtype=np.int64)  # without the first, the constant


def _draw_coefficients(factors: Integers, rng: np.random.Generator) -> Doubles:
    """Draw normal coefficients, larger for higher degrees.

    The variance of a feature is 1/3; the factor 3^(degree/2) gives monomials of all degrees the same influence.
    """
    scales: Doubles = np.sqrt(3.0 ** (factors != _CONSTANT).sum(axis=1))
    return rng.standard_normal(len(factors)) * scales


def _padded(factors: Integers) -> Integers:
    """Return the features of monomials of one degree in three columns."""
    return np.pad(factors, ((0, 0), (0, 3 - factors.shape[1])), constant_values=_CONSTANT)


def _deviations(factors: Integers, weights: Doubles, n_features: int) -> Doubles:
    """Return the standard deviations of the linear, quadratic and cubic term on the fixed sample."""
    terms = np.split(np.arange(len(factors)), 3)
    functions = [RandomPolynomial(n_features, factors[rows], weights[rows], (), np.zeros(0)) for rows in terms]
    return np.array([function.values(_reference(n_features)).std() for function in functions])


def _reference(n_features: int) -> Floats:
    """Return the documents by which thresholds and scales are set."""
    return _uniform(np.random.default_rng(_REFERENCE), _REFERENCE_DOCUMENTS, n_features)


def _with_thresholds(
    n_features: int, factors: Integers, coefficients: Doubles, shares: tuple[float, ...]
) -> RandomPolynomial:
    """Return the function with thresholds at the quantiles of its values on a large fixed sample."""
    function = RandomPolynomial(n_features, factors, coefficients, shares, np.zeros(0))
    values = function.values(_reference(n_features))
    thresholds = np.quantile(values, np.cumsum(shares)[:-1].clip(max=1.0))
    return replace(function, thresholds=thresholds)


def _labels_within(values: Doubles, shares: tuple[float, ...]) -> Integers:
    """Label the documents of each query by rank: the lowest fraction gets label 0, the next 1 and so on."""
    n_queries, n_documents = values.shape
    last_rank = np.round(np.cumsum(shares)[:-1] * n_documents)
    label_of_rank = np.searchsorted(last_rank, np.arange(n_documents), side="right")
    labels = np.empty((n_queries, n_documents), dtype=np.int64)
    np.put_along_axis(labels, values.argsort(axis=1), label_of_rank[None, :], axis=1)
    return labels.ravel()


def _by_last_factor(factors: Integers, coefficients: Doubles, n_features: int) -> tuple[Integers, Doubles]:
    """Return the distinct monomials without their last factor, and the coefficient of each with every last factor.

    Shared prefixes turn the sum over all monomials into one matrix product.
    """
    prefixes, prefix_of_term = np.unique(factors[:, :-1], axis=0, return_inverse=True)
    weights = np.zeros((n_features + 1, len(prefixes)))
    np.add.at(weights, (factors[:, -1], prefix_of_term.ravel()), coefficients)
    return prefixes, weights


def _columns_and_ones(X: Floats) -> Doubles:
    """Return one row per feature, and a last row of ones, to which the index -1 refers."""
    columns = np.ones((X.shape[1] + 1, len(X)))
    columns[:-1] = X.T
    return columns


def _products(columns: Doubles, factors: Integers) -> Doubles:
    products = np.ones((len(factors), columns.shape[1]))
    for factor in factors.T:
        products *= columns[factor]
    return products
