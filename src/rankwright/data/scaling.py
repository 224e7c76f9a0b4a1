"""Scales features for linear models and networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Floats
    from rankwright.data.query_features import QueryFeature


@dataclass(frozen=True, eq=False)
class Scaling:
    """How features are scaled: first within the query, if `within` is given, then by (value - centre) / spread.

    Parameters
    ----------
    within
        The query feature that replaces each feature, if any.
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
        """Return the scaled columns, one row per document, without missing values."""
        return np.asarray((np.where(np.isnan(X), self.missing, X) - self.centre) / self.spread)

    def folded(self, weights: Doubles) -> tuple[Doubles, Doubles]:
        """Return weights of unscaled columns, and an intercept, equivalent to these weights of scaled columns.

        `weights` has one row per column, or one weight per column if there is only one output.
        """
        raw = (weights.T / self.spread).T
        return raw, -np.asarray((raw.T * self.centre).sum(axis=-1))
