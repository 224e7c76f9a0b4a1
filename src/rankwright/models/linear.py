"""A weighted sum of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.models.scorer import Scorer
from rankwright.models.serialisation import Saved, State, checked_number, frozen_numbers

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.data.groups import QueryGroups
    from rankwright.data.query_features import Scaling

# Number of rows scored together: few enough for their columns to stay in the cache.
BLOCK_ROWS = 8192


@dataclass(frozen=True, eq=False, repr=False)
class LinearScorer(Scorer):
    """The intercept plus weight x feature, over the features whose weight is not zero.

    A feature's contribution is weight x value, relative to a value of zero; the base score is the intercept.

    Parameters
    ----------
    weights
        One weight per feature.
    missing
        The value that replaces a missing one, one per feature.
    intercept
        Added to every score.
    """

    kind: ClassVar[str] = "linear"
    saved: ClassVar[Saved] = {"weights": State.vector, "missing": State.vector, "intercept": State.number}
    weights: Doubles
    missing: Doubles
    intercept: float = 0.0

    def __post_init__(self) -> None:
        self._set("weights", frozen_numbers("weights", self.weights))
        self._set("missing", frozen_numbers("missing", self.missing, self.weights.shape))
        self._set("intercept", checked_number("intercept", self.intercept))
        self._set("n_features", len(self.weights))
        if self.n_features == 0:
            raise InputError("weights must not be empty: there must be at least one feature.")
        super().__post_init__()

    def _score(self, X: Floats, _groups: QueryGroups, _threads: int, /) -> Doubles:
        scores = np.full(len(X), self.intercept)
        for start in range(0, len(X), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            self._add_products(X[block], scores[block])
        return scores

    def _add_products(self, X: Floats, scores: Doubles) -> None:
        # Column by column: BLAS and np.sum may round a row's sum differently depending on the other rows.
        for feature in self.used_features:
            scores += self._products(X, feature)

    def _products(self, X: Floats, feature: int) -> Doubles:
        column = X[:, feature].astype(np.float64)
        column[np.isnan(column)] = self.missing[feature]
        return np.asarray(self.weights[feature] * column)

    def _contributions(self, X: Floats, _groups: QueryGroups, _threads: int, /) -> Doubles:
        values = np.zeros((len(X), self.n_features + 1))
        for feature in self.used_features:
            values[:, feature] = self._products(X, feature)
        values[:, -1] = self.intercept
        return values

    @property
    def used_features(self) -> Integers:
        """The features whose weight is not zero."""
        return np.flatnonzero(self.weights)


def linear_of_columns(weights: Doubles, scaling: Scaling, bias: float = -0.0) -> LinearScorer:
    """Return the scorer of unscaled columns that equals bias + sum of weight x scaled column.

    The default bias of -0.0 keeps the sign of a zero sum.
    """
    raw, added = scaling.folded(weights)
    return LinearScorer(raw, scaling.missing, float(bias + added))
