"""The range of each feature in the documents that a model was trained on, to compare later documents with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.data.dataset import Documents

ROWS = 1 << 16  # looked at together, so that little memory is needed


@dataclass(frozen=True, eq=False)
class FeatureRanges:
    """Ranges and missing rates, one value per feature.

    Parameters
    ----------
    minimum, maximum
        The smallest and the largest value; infinity and minus infinity if the feature was always missing.
    missing
        Fraction of the documents without a value; for one-hot columns, without a value of their category.
    """

    minimum: Floats
    maximum: Floats
    missing: Doubles

    def __post_init__(self) -> None:
        given = [(values.dtype.name, values.shape) for values in (self.minimum, self.maximum, self.missing)]
        shape = (self.minimum.size,)
        if given != [("float32", shape), ("float32", shape), ("float64", shape)]:
            raise InputError("The ranges of features must be floats, one per feature.")
        if np.isnan([self.minimum, self.maximum]).any() or not ((self.missing >= 0) & (self.missing <= 1)).all():
            raise InputError("The ranges of features must be numbers, and missing rates from 0 to 1.")

    def __len__(self) -> int:
        return len(self.minimum)

    @classmethod
    def of(cls, data: Documents) -> FeatureRanges:
        """Return the ranges of the features of documents."""
        minimum, maximum, n_missing = extremes(data.X)
        missing = n_without_value(data, n_missing) / len(data.X)
        return cls(sealed(minimum), sealed(maximum), sealed(missing))

    @classmethod
    def joined(cls, ranges: Sequence[FeatureRanges]) -> FeatureRanges | None:
        """Return the ranges over several sets of documents, with the mean of their missing rates."""
        if not ranges:
            return None
        minimum = np.min([each.minimum for each in ranges], axis=0)
        maximum = np.max([each.maximum for each in ranges], axis=0)
        return cls(minimum, maximum, np.mean([each.missing for each in ranges], axis=0))


def n_without_value(data: Documents, n_missing: Integers) -> Integers:
    """Return for each feature how many documents have no value; for one-hot columns, none of their category."""
    counts = n_missing.copy()
    position = {name: column for column, name in enumerate(data.feature_names or ())}
    for category in data.categories:
        if category.one_hot:
            columns = [position[name] for name in category.columns]
            counts[columns] = np.count_nonzero(~data.X[:, columns].any(axis=1))
    return counts


def extremes(X: Floats) -> tuple[Floats, Floats, Integers]:
    """Return the lowest and the highest value of each feature, and in how many documents it is missing."""
    counts = np.zeros(X.shape[1], np.int64)
    lowest, highest = np.minimum.reduce(X, initial=np.inf), np.maximum.reduce(X, initial=-np.inf)
    if not np.isnan(lowest).any():  # the minimum is NaN where any value is
        return lowest, highest, counts
    for start in range(0, len(X), ROWS):
        counts += np.count_nonzero(np.isnan(X[start : start + ROWS]), axis=0)
    return np.fmin.reduce(X, initial=np.inf), np.fmax.reduce(X, initial=-np.inf), counts
