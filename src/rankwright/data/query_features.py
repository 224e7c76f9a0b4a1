"""Features relative to the other documents of the query, and their scaling for linear models and networks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.base.arrays import Doubles, Floats
    from rankwright.data.groups import QueryGroups


class QueryFeature(Enum):
    """A column computed from another one within each query; a missing value stays missing."""

    ZSCORE = "zscore"
    """Deviation from the query's mean in standard deviations; 0 if all values are equal."""
    RANK = "rank"
    """The fraction of the query's other values that are lower, ties counting half; 1/2 for a single value."""
    MINMAX = "minmax"
    """Scaled to 0 for the query's lowest and 1 for its highest value; 0 if all values are equal."""


def with_query_features(
    X: Floats, groups: QueryGroups, kinds: Sequence[QueryFeature], *, raw: bool = True, n_threads: int = 1
) -> Floats:
    """Return the features, if `raw`, followed by the columns of each kind."""
    columns = [_native.QueryColumn[kind.value] for kind in kinds]
    values = np.ascontiguousarray(X, dtype=np.float32)
    return _native.query_columns(groups.offsets, groups.rows, values, columns, raw, n_threads)


def standardised(scores: Doubles, groups: QueryGroups, n_threads: int = 1) -> Doubles:
    """Return the deviation of each score from its query's mean in standard deviations; 0 if all are equal."""
    return _native.standardise_scores(groups.offsets, groups.rows, scores, n_threads)


def spread_within(scores: Doubles, groups: QueryGroups) -> float:
    """Return the standard deviation of scores around the means of their queries; 1 if there is none."""
    means = groups.reduce(np.add, scores) / groups.sizes
    spread = float(np.sqrt(np.mean((scores - means[groups.query_of_row]) ** 2)))
    return spread if spread > 0 else 1.0


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
