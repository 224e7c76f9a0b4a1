"""Labels as classes, for rankers that classify documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Integers

MAX_CLASSES = 64
HIGHEST_LABEL = 500.0


@dataclass(frozen=True, eq=False)
class LabelClasses:
    """The distinct labels, ascending; they need be neither consecutive nor integers."""

    labels: Doubles

    @classmethod
    def of(cls, labels: Doubles) -> LabelClasses:
        """Return one class per distinct label."""
        different = np.unique(labels)
        if len(different) > MAX_CLASSES:
            raise InputError(
                f"There are {len(different)} distinct labels, each of which becomes a class; at most "
                f"{MAX_CLASSES} are allowed."
            )
        if np.abs(different).max(initial=0.0) > HIGHEST_LABEL:
            largest = different[np.abs(different).argmax()]
            raise InputError(
                "Labels that become classes have gains of 2^label, so they must be between "
                f"{-HIGHEST_LABEL:g} and {HIGHEST_LABEL:g}; one label is {largest:g}."
            )
        return cls(different)

    def __len__(self) -> int:
        return len(self.labels)

    def numbers(self, labels: Doubles) -> Integers:
        """Return the index of each label's class, from 0."""
        return np.searchsorted(self.labels, labels)

    def targets(self, labels: Doubles) -> Doubles:
        """Return one row per document: +1 for its own class, -1 for the others."""
        return np.where(labels[:, None] == self.labels, 1.0, -1.0)

    @property
    def gains(self) -> Doubles:
        """The gain of each class, 2^label, rescaled from 0 for the lowest to 1 for the highest."""
        powers = np.exp2(self.labels - self.labels[-1])
        return np.asarray((powers - powers[0]) / max(powers[-1] - powers[0], np.finfo(np.float64).tiny))

    @property
    def gain_range(self) -> float:
        """The difference between the gains 2^label of the highest and the lowest class."""
        return float(np.exp2(self.labels[-1]) - np.exp2(self.labels[0]))
