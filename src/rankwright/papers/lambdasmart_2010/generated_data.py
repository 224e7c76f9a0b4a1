"""The generated data of the reproduction of Wu et al. (2010): polynomials, and markets of a web search engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.arrays import sealed
from rankwright.data.dataset import RankingData
from rankwright.data.synthetic import WEB_LABEL_SHARES, RandomPolynomial
from rankwright.papers.framework.experiment import DataTrial

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles

ONLY = "1"  # the name of the only trial of a generated source
TRAIN_SEED, VALID_SEED, TEST_SEED, OTHER_SEED = 1, 2, 3, 4

# Each use of a market's seed has its own random stream.
_COMMON, _OWN, _SAMPLE, _REFERENCE = range(11, 15)
_REFERENCE_QUERIES = 1_000


class Sizes(NamedTuple):
    """Numbers of queries of the three parts."""

    train: int
    valid: int
    test: int

    def __str__(self) -> str:
        return f"{self.train:,} training, {self.valid:,} validation and {self.test:,} test queries"


@dataclass(frozen=True)
class CubicData:
    """Documents of uniform features, labelled without noise by the cubic polynomial of Burges et al. (2005).

    Section 5.1 says that the artificial data are made as in that paper.
    """

    sizes: Sizes
    n_documents: int = 50
    seed: int = 1

    @property
    def title(self) -> str:
        """The name of the data in tables."""
        return "artificial"

    def trials(self) -> Sequence[str]:
        """Return the name of the only trial."""
        return (ONLY,)

    def trial(self, name: str) -> DataTrial:
        """Draw the polynomial and the queries."""
        return _sampled(name, RandomPolynomial.cubic(self.seed), self.sizes, self.n_documents)


@dataclass(frozen=True)
class PolynomialData:
    """Documents of uniform features, labelled without noise by few random monomials of degree 1 to 3.

    Parameters
    ----------
    sizes
        Numbers of queries.
    n_terms
        Monomials of the polynomial, of degree 1 to 3.
    n_active
        Features that are in monomials; of 50.
    n_documents
        Documents per query.
    seed
        Draws the polynomial.
    """

    sizes: Sizes
    n_terms: int = 50
    n_active: int = 50
    n_documents: int = 50
    seed: int = 1

    @property
    def title(self) -> str:
        """The name of the data in tables."""
        return "few monomials"

    def trials(self) -> Sequence[str]:
        """Return the name of the only trial."""
        return (ONLY,)

    def trial(self, name: str) -> DataTrial:
        """Draw the polynomial and the queries."""
        truth = RandomPolynomial.draw(self.seed, n_terms=self.n_terms, n_active=self.n_active)
        return _sampled(name, truth, self.sizes, self.n_documents)


def _sampled(name: str, truth: RandomPolynomial, sizes: Sizes, n_documents: int) -> DataTrial:
    train, valid, test = (
        truth.sample(size, seed=seed, n_documents=n_documents)
        for size, seed in zip(sizes, (TRAIN_SEED, VALID_SEED, TEST_SEED), strict=True)
    )
    return DataTrial(name, train, valid, test)


@dataclass(frozen=True)
class WebMarket:
    """Queries of a web search engine's market, with noisy features and labels.

    A document has hidden factors, such as how well its title matches the query. Its utility is a weighted sum of
    them and of products of two, with noise; five labels stand for ranges of the utility. A feature measures one
    factor with noise, on one of four scales; only the first feature, which stands for BM25, is a sum of several
    factors. Markets have the same features, and other weights.

    Parameters
    ----------
    n_features, n_factors
        Numbers of features and of hidden factors.
    n_documents
        Documents per query, on average; from half to one and a half times as many.
    interaction
        Fraction of the utility's variance that products of factors have.
    noise, feature_noise
        Standard deviations of the noise of utility and features, whose own are 1.
    shift
        How far the weights are from those of the market with shift 0: 1 is independent.
    seed, own_seed
        Draw the weights that markets have in common, and those of this one.
    """

    n_features: int = 100
    n_factors: int = 20
    n_documents: int = 26
    interaction: float = 0.3
    noise: float = 1.0
    feature_noise: float = 1.0
    shift: float = 0.0
    seed: int = 1
    own_seed: int = 1

    def shifted(self, shift: float, own_seed: int = 2) -> WebMarket:
        """Return another market, so far from the common one."""
        return replace(self, shift=shift, own_seed=own_seed)

    def sample(self, n_queries: int, *, seed: int) -> RankingData:
        """Draw judged queries."""
        rng = np.random.default_rng((self.seed, self.own_seed, seed, _SAMPLE))
        factors, query = self._factors(n_queries, rng)
        utility = self._noisy_utility(factors, rng)
        labels = np.searchsorted(self._thresholds, utility, side="right").astype(np.float64)
        return RankingData(sealed(self._features(factors, rng)), labels, query)

    def _factors(self, n_queries: int, rng: np.random.Generator) -> tuple[Doubles, NDArray[np.int64]]:
        """Draw factors of documents, those of one query around a centre, and the query of each document."""
        half = self.n_documents // 2
        sizes = rng.integers(self.n_documents - half, self.n_documents + half + 1, n_queries)
        query = np.repeat(np.arange(n_queries), sizes)
        centres = rng.standard_normal((n_queries, self.n_factors))
        own = rng.standard_normal((len(query), self.n_factors))
        return np.sqrt(0.3) * centres[query] + np.sqrt(0.7) * own, query

    def _utility(self, factors: Doubles) -> Doubles:
        """Return the weighted sum of the factors, and of products of each with another one."""
        others = np.roll(factors, 1, axis=1)
        return np.asarray(factors @ self._weights[0] + (factors * others) @ self._weights[1])

    def _noisy_utility(self, factors: Doubles, rng: np.random.Generator) -> Doubles:
        return self._utility(factors) + self.noise * rng.standard_normal(len(factors))

    @cached_property
    def _weights(self) -> tuple[Doubles, Doubles]:
        """Weights of factors, most of them positive, and of products; the utility's standard deviation is 1."""
        means = np.array([[1.0], [0.0]])
        common, own = (
            np.random.default_rng(key).normal(means, size=(2, self.n_factors))
            for key in ((self.seed, _COMMON), (self.seed, self.own_seed, _OWN))
        )
        linear, products = np.sqrt(1.0 - self.shift**2) * common + self.shift * own
        linear *= np.sqrt(1.0 - self.interaction) / np.linalg.norm(linear)
        products *= np.sqrt(self.interaction) / np.linalg.norm(products)
        return linear, products

    @cached_property
    def _thresholds(self) -> Doubles:
        rng = np.random.default_rng((self.seed, _REFERENCE))
        utility = self._noisy_utility(self._factors(_REFERENCE_QUERIES, rng)[0], rng)
        return np.asarray(np.quantile(utility, np.cumsum(WEB_LABEL_SHARES)[:-1]))

    def _features(self, factors: Doubles, rng: np.random.Generator) -> NDArray[np.float32]:
        """Measure each factor several times, each time with noise and on another scale."""
        features = np.arange(self.n_features)
        measured = factors[:, features % self.n_factors]
        measured += self.feature_noise * rng.standard_normal(measured.shape)
        scale = features // self.n_factors % 4  # as it is, exponential, counts, cut below zero
        measured[:, scale == 1] = np.exp(measured[:, scale == 1])
        measured[:, scale == 2] = np.floor(np.exp(measured[:, scale == 2]))
        measured[:, scale == 3] = np.maximum(measured[:, scale == 3], 0.0)
        measured[:, 0] = factors[:, : self.n_factors // 2].sum(axis=1) + rng.standard_normal(len(factors))
        return measured.astype(np.float32)


@dataclass(frozen=True)
class WebSearch:
    """Queries of one market (Web-1 of section 5.1)."""

    sizes: Sizes
    market: WebMarket = WebMarket()

    @property
    def title(self) -> str:
        """The name of the data in tables."""
        return "generated web data"

    def trials(self) -> Sequence[str]:
        """Return the name of the only trial."""
        return (ONLY,)

    def trial(self, name: str) -> DataTrial:
        """Draw the queries."""
        train, valid, test = _parts(self.market, self.sizes)
        return DataTrial(name, train, valid, test)


@dataclass(frozen=True)
class Adaptation:
    """Few queries of one market, and many of others as `others` of the trial (section 5.5)."""

    title: str
    sizes: Sizes
    market: WebMarket
    others: tuple[tuple[str, WebMarket, int], ...]

    def trials(self) -> Sequence[str]:
        """Return the name of the only trial."""
        return (ONLY,)

    def trial(self, name: str) -> DataTrial:
        """Draw the queries of all markets."""
        backgrounds = {other: market.sample(size, seed=OTHER_SEED) for other, market, size in self.others}
        train, valid, test = _parts(self.market, self.sizes)
        return DataTrial(name, train, valid, test, backgrounds)


def _parts(market: WebMarket, sizes: Sizes) -> Iterator[RankingData]:
    seeds = (TRAIN_SEED, VALID_SEED, TEST_SEED)
    return (market.sample(size, seed=seed) for size, seed in zip(sizes, seeds, strict=True))
