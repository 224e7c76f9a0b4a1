"""Generated collections that stand in for data that were never published."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankwright.data.dataset import RankingData
from rankwright.data.synthetic import RandomPolynomial
from rankwright.papers.framework.experiment import DataTrial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.base.arrays import Doubles

VALUES = 200  # different values of a feature, so that 255 bins hold every threshold
SHARES = (0.50, 0.25, 0.15, 0.07, 0.03)


@dataclass(frozen=True)
class GeneratedWeb:
    """Web search results by a random quadratic function of some features, in five folds of 3 + 1 + 1 parts.

    Features lie in [0, 1], some of them are 0 or 1 only, as in Internet Mathematics 2009. Labels follow the
    function with noise, which changes the order of documents, as judges do.

    Parameters
    ----------
    title
        The name in tables.
    n_queries, n_documents, n_features
        Number of queries, of documents of each, and of features.
    graded
        Whether labels are 0 to 4; otherwise any number from 0 to 4.
    noise
        Standard deviation of the noise, relative to that of the function.
    seed
        The seed of function, documents and folds.
    n_folds
        How many of the five folds to run.
    """

    title: str
    n_queries: int
    n_documents: int
    n_features: int
    graded: bool = True
    noise: float = 1.0
    seed: int = 1
    n_folds: int = 5

    def trials(self) -> Sequence[str]:
        """Return the names of the folds."""
        return [f"Fold{number + 1}" for number in range(self.n_folds)]

    def trial(self, name: str) -> DataTrial:
        """Return a fold: one part to test, the next one to validate, three to learn from."""
        first = self.trials().index(name)
        parts = np.roll(np.arange(5), -first)
        train, valid, test = (
            self._data.take_queries(np.isin(self._part_of_query, part)) for part in (parts[2:], parts[1], parts[0])
        )
        return DataTrial(name, train, valid, test)

    @cached_property
    def _part_of_query(self) -> np.ndarray:
        return np.random.default_rng((self.seed, 1)).permutation(self.n_queries) % 5

    @cached_property
    def _data(self) -> RankingData:
        random = np.random.default_rng((self.seed, 2))
        shape = (self.n_queries * self.n_documents, self.n_features)
        X = random.integers(0, VALUES, shape).astype(np.float32) / np.float32(VALUES - 1)
        binary = random.random(self.n_features) < 0.2
        X[:, binary] = X[:, binary] > 0.5
        active = min(40, self.n_features)
        truth = RandomPolynomial.draw(
            self.seed, n_features=self.n_features, n_active=active, n_terms=60, degree=2, label_shares=SHARES
        )
        values = truth.values(2.0 * X - 1.0)
        values = values + random.normal(scale=self.noise * values.std(), size=len(values))
        qid = np.repeat(np.arange(self.n_queries), self.n_documents)
        return RankingData(X, _labels(values, graded=self.graded), qid)


def _labels(values: Doubles, *, graded: bool) -> Doubles:
    """Return labels from 0 to 4, half of them below 1 and few above 3: whole numbers, or anything between."""
    quantile = (values.argsort().argsort() + 0.5) / len(values)
    label: Doubles = np.interp(quantile, np.concatenate([[0.0], np.cumsum(SHARES)]), np.arange(len(SHARES) + 1.0))
    return np.floor(label) if graded else label * (len(SHARES) - 1) / len(SHARES)
