"""Curves fitted to values by number of training queries, and how far they can be trusted beyond them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles

EXPONENTS = np.arange(-5, 21) / 10  # c of a - b n^-c; 0 is the limit a + b log n, below it there is no ceiling
SAMPLES = 4_000
SEED = 0
LEAST_SHARE = 1e-6  # of the variance between queries, so that no size has an infinite weight


class Measured(NamedTuple):
    """Values by number of training queries.

    Parameters
    ----------
    sizes
        Numbers of training queries, ascending.
    values
        For each size one row per draw of training subsets, one column per test query; no value is NaN.
    folds
        The fold of each test query; one ranker per fold and draw gave the values.
    train_queries
        Number of queries that subsets were drawn from.
    """

    sizes: Doubles
    values: Sequence[Doubles]
    folds: NDArray[np.int64]
    train_queries: int

    @property
    def n_queries(self) -> int:
        """Number of test queries."""
        return len(self.folds)

    @property
    def by_query(self) -> Doubles:
        """The mean over draws: one row per size, one column per test query."""
        return np.array([draws.mean(axis=0) for draws in self.values])


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """Predictions at some sizes: the best ones, and samples of them (rows) that show how sure they are."""

    best: Doubles
    samples: Doubles

    def estimates(self) -> list[tuple[float, float, float]]:
        """Return value, lower and upper end of the 95 % interval at each size."""
        low, high = np.quantile(self.samples, [0.025, 0.975], axis=0)
        return list(zip(self.best.tolist(), low.tolist(), high.tolist(), strict=True))

    def difference(self, size: int, other: int) -> tuple[float, float, float]:
        """Return the value at a size minus that at another, with its interval; sizes by their index."""
        low, high = np.quantile(self.samples[:, size] - self.samples[:, other], [0.025, 0.975])
        return float(self.best[size] - self.best[other]), float(low), float(high)


def extrapolate(measured: Measured, sizes: Doubles) -> Extrapolation:
    """Fit curves a - b n^-c to the means, and predict the values at other sizes.

    A sample draws test queries with replacement, adds the noise of the training subsets, and draws the exponent c,
    which decides most about what lies beyond the measured sizes: half of the samples draw it by how well it fits,
    the others with equal chances, since a curve may level off, or not, as no measured size has shown.
    """
    n_queries, known = measured.n_queries, measured.by_query
    if n_queries < 2:
        raise InputError("A learning curve needs at least two test queries with values.")
    random = np.random.default_rng(SEED)
    shared, own = training_noise(measured)
    own = np.maximum(own, LEAST_SHARE * max(float(known.var(axis=1).mean()), LEAST_SHARE))
    counts = random.multinomial(n_queries, np.full(n_queries, 1.0 / n_queries), SAMPLES)
    draws = random.normal(size=(SAMPLES, len(own) + 1))
    noise = draws[:, :1] * np.sqrt(shared) + draws[:, 1:] * np.sqrt(own)
    everything = np.vstack([known.mean(axis=1), counts @ known.T / n_queries + noise])
    fits = [_fit(measured.sizes, everything, own, sizes, exponent) for exponent in EXPONENTS]
    misfits = np.array([misfit[0] for _, misfit in fits])
    weights = np.exp(-0.5 * (misfits - misfits.min()))
    weights /= weights.sum()
    predicted = np.array([prediction for prediction, _ in fits])  # exponent, sample, size
    if known.min() >= 0.0 and known.max() <= 1.0:  # no curve leaves the range of such a metric
        predicted = np.clip(predicted, 0.0, 1.0)
    drawn = random.choice(len(EXPONENTS), SAMPLES, p=0.5 * weights + 0.5 / len(EXPONENTS))
    return Extrapolation(np.tensordot(weights, predicted[:, 0], 1), predicted[drawn, np.arange(SAMPLES) + 1])


def training_noise(measured: Measured) -> tuple[float, Doubles]:
    """Return the variance of the means by the choice of training queries: what all sizes share, and that of each.

    The variance of one ranker's value by its training set is taken to fall as 1 / size. Draws of one fold show it,
    though reduced, since they come from the same queries and overlap. The means of all sizes share the part of it
    that comes from the judged queries as a whole; the rest shrinks with the number of draws.
    """
    drawn = [
        _variances(values, measured.folds) * size / (1.0 - size / measured.train_queries)
        for size, values in zip(measured.sizes, measured.values, strict=True)
        if len(values) > 1 and size < measured.train_queries
    ]
    of_rankers, of_folds = np.mean(drawn, axis=0)
    n_fits = np.array([len(values) for values in measured.values]) * len(np.unique(measured.folds))
    outside = np.maximum(0.0, 1.0 - measured.sizes / measured.n_queries)
    return of_rankers / measured.n_queries, of_folds / measured.sizes * outside / n_fits


def _variances(values: Doubles, folds: NDArray[np.int64]) -> Doubles:
    """Return the variance between draws of the expected value of a ranker, and of its mean over a fold's queries.

    The latter also has the noise of the few queries that judge: their own variance divided by their number.
    """
    _, fold, sizes = np.unique(folds, return_inverse=True, return_counts=True)
    means = np.array([np.bincount(fold, row) / sizes for row in values])
    of_folds = float(means.var(axis=0, ddof=1).mean())
    of_queries, size = float(values.var(axis=0, ddof=1).mean()), float(sizes.mean())
    of_rankers = (size * of_folds - of_queries) / (size - 1.0) if size > 1 else of_folds
    return np.array([max(0.0, of_rankers), of_folds])


def _fit(
    sizes: Doubles, means: Doubles, noise: Doubles, wanted: Doubles, exponent: float
) -> tuple[Doubles, Doubles]:
    """Return the predictions of weighted least squares for every row of means, and its weighted squared misfit."""
    basis, weights = _basis(sizes, exponent), 1.0 / noise
    centre = np.average(basis, weights=weights)
    apart = basis - centre
    level = means @ weights / weights.sum()
    slope = means @ (weights * apart) / (weights @ apart**2)
    misfit = ((means - level[:, None] - slope[:, None] * apart) ** 2) @ weights
    return level[:, None] + slope[:, None] * (_basis(wanted, exponent) - centre), misfit


def _basis(sizes: Doubles, exponent: float) -> Doubles:
    """Return (1 - n^-c) / c, which rises with n; its limit for c = 0 is log n."""
    return np.log(sizes) if exponent == 0.0 else (1.0 - sizes**-exponent) / exponent
