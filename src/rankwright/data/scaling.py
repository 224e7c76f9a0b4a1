"""Scaled features, for models that add them up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rankwright.arrays import Doubles, Floats
    from rankwright.data.query_features import QueryFeature


@dataclass(frozen=True, eq=False)
class Scaling:
    """How features are scaled: columns made within the query or the features, then (value - centre) / spread.

    Parameters
    ----------
    within
        The columns made within the query, if any.
    centre, spread
        One number per column.
    missing
        The value that replaces a missing one in each column, before centre and spread.
    """

    within: QueryFeature | None
    centre: Doubles
    spread: Doubles
    missing: Doubles

    def apply(self, X: Floats) -> Doubles:
        """Return the scaled columns, one row per document; no value is missing any more."""
        return np.asarray((np.where(np.isnan(X), self.missing, X) - self.centre) / self.spread)

    def folded(self, weights: Doubles) -> tuple[Doubles, Doubles]:
        """Return weights of the columns and an intercept that together do what these weights do to scaled ones.

        `weights` has one row per column, or one weight per column if there is only one output.
        """
        raw = (weights.T / self.spread).T
        return raw, -np.asarray((raw.T * self.centre).sum(axis=-1))
