"""Scorers that turn the scores of the classes into class probabilities, and these into the expected gain.

Sums run class by class, because a library's sum over a row may depend on the rows beside it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.models.scorer import Scorer
from rankwright.models.serialisation import Saved, State, checked_number, frozen_numbers

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Floats
    from rankwright.data.groups import QueryGroups


@dataclass(frozen=True, eq=False, repr=False)
class BayesScorer(Scorer):
    """The expected gain: the sum over classes of gain x probability (Cossock & Zhang 2008).

    Parameters
    ----------
    gains
        The gain of each class.
    """

    gains: Doubles

    def __post_init__(self) -> None:
        self._set("gains", frozen_numbers("gains", self.gains))
        if not len(self.gains):
            raise InputError("gains must hold at least one number, one per class.")
        self._set("n_features", len(self.gains))
        super().__post_init__()

    @abstractmethod
    def log_odds(self, scores: Doubles) -> Doubles:
        """Return the unnormalised log-probabilities, one row per document."""

    def probabilities(self, scores: Doubles) -> Doubles:
        """Return the probability of each class, one row per document."""
        logs = self.log_odds(np.asarray(scores, dtype=np.float64))
        raised = np.exp(logs - logs.max(axis=1, keepdims=True))
        total = np.zeros(len(raised))
        for column in raised.T:
            total += column
        return np.asarray(raised / total[:, None])

    def expected_gains(self, scores: Doubles) -> Doubles:
        """Return the expected gain of each document, given one row of class scores per document."""
        expected = np.zeros(len(scores))
        for gain, probability in zip(self.gains, self.probabilities(scores).T, strict=True):
            expected += gain * probability
        return expected

    def _score(self, X: Floats, _groups: QueryGroups, _threads: int, /) -> Doubles:
        return self.expected_gains(X)  # type: ignore[arg-type]  # converted to doubles there


@dataclass(frozen=True, eq=False, repr=False)
class StandardCalibration(BayesScorer):
    """Probabilities proportional to total + score: equation 3 of Busa-Fekete, Kégl, Éltető & Szarvas (2011).

    The total is the sum of the weights of all rounds; no score is larger in absolute value.
    """

    kind: ClassVar[str] = "standard_calibration"
    saved: ClassVar[Saved] = {"gains": State.vector, "total": State.number}
    total: float

    def __post_init__(self) -> None:
        self._set("total", checked_number("total", self.total))
        super().__post_init__()

    def log_odds(self, scores: Doubles) -> Doubles:
        """Return the logarithms of total + score; classes that every round voted against are equally likely."""
        return np.log(np.maximum(self.total + scores, np.finfo(np.float64).tiny))


@dataclass(frozen=True, eq=False, repr=False)
class SigmoidCalibration(BayesScorer):
    """Probabilities proportional to 1 / (1 + exp(-slope (score - middle))), equation 4 of the same paper."""

    kind: ClassVar[str] = "sigmoid_calibration"
    saved: ClassVar[Saved] = {"gains": State.vector, "slope": State.number, "middle": State.number}
    slope: float
    middle: float

    def __post_init__(self) -> None:
        self._set("slope", checked_number("slope", self.slope))
        self._set("middle", checked_number("middle", self.middle))
        super().__post_init__()

    def log_odds(self, scores: Doubles) -> Doubles:
        """Return the logarithms of the sigmoids."""
        return log_sigmoid(self.slope * (scores - self.middle))


def log_sigmoid(values: Doubles) -> Doubles:
    """Return log(1 / (1 + exp(-value))) without overflow or cancellation."""
    return np.minimum(values, 0.0) - np.log1p(np.exp(-np.abs(values)))


@dataclass(frozen=True, eq=False, repr=False)
class LogisticCalibration(BayesScorer):
    """Probabilities by multinomial logistic regression on the scores of the classes.

    Parameters
    ----------
    weights
        One row per score, one column per class.
    intercepts
        One per class.
    """

    kind: ClassVar[str] = "logistic_calibration"
    saved: ClassVar[Saved] = {"gains": State.vector, "weights": State.matrix, "intercepts": State.vector}
    weights: Doubles
    intercepts: Doubles

    def __post_init__(self) -> None:
        n_classes = len(frozen_numbers("gains", self.gains))
        self._set("weights", frozen_numbers("weights", self.weights, (n_classes, n_classes)))
        self._set("intercepts", frozen_numbers("intercepts", self.intercepts, (n_classes,)))
        super().__post_init__()

    def log_odds(self, scores: Doubles) -> Doubles:
        """Return intercept + sum of weight x score."""
        logs = np.tile(self.intercepts, (len(scores), 1))
        for column, weights in zip(scores.T, self.weights, strict=True):
            logs += column[:, None] * weights
        return logs
