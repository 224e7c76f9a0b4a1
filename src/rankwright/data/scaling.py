"""Features on scales that can be compared, as methods that add them up need them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.data.query_features import QueryFeature
from rankwright.errors import InputError

if TYPE_CHECKING:
    from rankwright.arrays import Doubles
    from rankwright.data.dataset import RankingData

WITHIN_QUERY = {"query-minmax": QueryFeature.MINMAX, "query-zscore": QueryFeature.ZSCORE}
SCALINGS = ("none", *WITHIN_QUERY, "global")


@dataclass(frozen=True, eq=False)
class Scaling:
    """How features are scaled: columns made within the query or the raw ones, then (value - centre) / spread.

    `none` leaves them alone; `query-minmax` and `query-zscore` need nothing but the query, so that the second step
    does nothing; `global` takes mean and standard deviation of the training documents. A constant column becomes
    zeros. A missing value counts as the mean of what the column is compared with, the training documents (`none`,
    `global`) or the query's (`query-zscore`), so that it speaks neither for a document nor against it. With
    `query-minmax` it counts as the query's lowest, as in LETOR's own files. But for `none`, that is 0 once scaled.

    Parameters
    ----------
    within
        The columns made within the query, if any.
    centre, spread
        A number for each feature.
    missing
        What a missing value of each feature counts as, before centre and spread.
    """

    within: QueryFeature | None
    centre: Doubles
    spread: Doubles
    missing: Doubles

    @classmethod
    def of(cls, name: str, train: RankingData) -> Scaling:
        """Return the scaling of this name; what it must learn, it learns from these documents."""
        zeros, ones = np.zeros(train.n_features), np.ones(train.n_features)
        if name in WITHIN_QUERY:
            return cls(WITHIN_QUERY[name], zeros, ones, zeros)
        if name not in SCALINGS:
            raise InputError(f"scaling must be one of {', '.join(map(repr, SCALINGS))}, not {name!r}.")
        mean, spread = _moments(train)
        return cls(None, mean, spread, mean) if name == "global" else cls(None, zeros, ones, mean)

    def columns(self, data: RankingData) -> RankingData:
        """Return the documents with the columns that centre and spread apply to; kept for other fits."""
        return data if self.within is None else data.widened((self.within,), raw=False)

    def scaled(self, data: RankingData) -> Doubles:
        """Return the scaled features, a row a document; no value is missing any more."""
        X = self.columns(data).X
        return np.asarray((np.where(np.isnan(X), self.missing, X) - self.centre) / self.spread)

    def folded(self, weights: Doubles) -> tuple[Doubles, Doubles]:
        """Return weights and what to add, so that `columns` with them give what scaled features gave with these.

        A row of weights is a feature's, or a weight where there is one output only.
        """
        raw = (weights.T / self.spread).T
        return raw, -np.asarray((raw.T * self.centre).sum(axis=-1))


def _moments(train: RankingData) -> tuple[Doubles, Doubles]:
    """Return every feature's mean and standard deviation: 0 where all are missing, 1 where all are equal."""
    mean, spread = np.zeros(train.n_features), np.ones(train.n_features)
    for feature in range(train.n_features):
        column = train.X[train.canonical_rows, feature].astype(np.float64)  # sums owe nothing to the order of rows
        known = column[~np.isnan(column)]
        if len(known):
            mean[feature] = known.mean()
            spread[feature] = known.std() or 1.0
    return mean, spread
