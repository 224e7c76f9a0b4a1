"""The documents a calibration is fitted to, and what a calibration is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rankwright.models.probability_calibrations import log_sigmoid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups
    from rankwright.data.label_classes import LabelClasses
    from rankwright.models.scorer import Scorer

# The grid of sigmoids: the logarithm of the slope, and the distance of the middle from the mean score, both in
# units of the standard deviation of the scores. A flatter sigmoid is uninformative; a steeper one is one-hot and
# ties most documents.
LOG_SLOPES = np.linspace(np.log(0.1), np.log(30.0), 12)
MIDDLES = np.linspace(-4.0, 4.0, 13)
SIGMOID_GRID = np.array([(log_slope, middle) for log_slope in LOG_SLOPES for middle in MIDDLES])


@dataclass(frozen=True, eq=False)
class CalibrationTask:
    """Documents that the classifier was not trained on.

    Parameters
    ----------
    scores
        The classifier's scores: one row per document, one column per class.
    total
        The sum of the weights of the classifier's rounds; no score is larger in absolute value.
    labels, groups
        The labels of the documents and their queries; the rows of a query are adjacent.
    classes
        The labels that occur in the training data.
    """

    scores: Doubles
    total: float
    labels: Doubles
    groups: QueryGroups
    classes: LabelClasses

    @cached_property
    def own(self) -> NDArray[np.int64]:
        """The index of each document's class."""
        return self.classes.numbers(self.labels)

    @cached_property
    def gains(self) -> Doubles:
        """The gain of each document's label, between 0 and 1."""
        return self.classes.gains[self.own]

    @cached_property
    def centre(self) -> Doubles:
        """The mean score of each class."""
        return np.asarray(self.scores.mean(axis=0))

    @cached_property
    def scale(self) -> Doubles:
        """The standard deviation of each class's scores; 1 where it is 0."""
        spread = self.scores.std(axis=0)
        return np.where(spread > 1e-9 * max(1.0, self.total), spread, 1.0)

    @cached_property
    def standardised(self) -> Doubles:
        """The scores with mean 0 and standard deviation 1 for each class."""
        return (self.scores - self.centre) / self.scale

    @property
    def is_informative(self) -> bool:
        """Whether the documents differ both in class and in score."""
        return len(np.unique(self.own)) > 1 and bool(np.ptp(self.scores, axis=0).any())

    @cached_property
    def by_class(self) -> Doubles:
        """The scores with one row per class."""
        return np.ascontiguousarray(self.scores.T)

    @cached_property
    def _moments(self) -> tuple[float, float]:
        """The mean and the standard deviation of all scores."""
        return float(self.scores.mean()), float(self.scores.std())

    def sigmoid_at(self, point: Doubles) -> tuple[float, float]:
        """Return slope and middle of the sigmoid at a point in the coordinates of the grid."""
        mean, spread = self._moments
        return float(np.exp(point[0])) / spread, mean + float(point[1]) * spread

    def log_probabilities(self, slope: float, middle: float) -> Doubles:
        """Return the logarithms of the probabilities of equation 4, one row per document."""
        logs = log_sigmoid(slope * (self.by_class - middle))
        logs -= logs.max(axis=0)
        logs -= np.log(np.exp(logs).sum(axis=0))
        return logs.T  # class by class in memory, where sums over classes are fast


class Calibration(Protocol):
    """A method that turns the scores of the classes into one ranking score."""

    def fit(self, task: CalibrationTask) -> Scorer | None:
        """Return a scorer whose features are the classes' scores, or None if the documents are uninformative."""
