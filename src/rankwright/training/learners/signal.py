"""The signals that boosting rules give to weak learners, and the weak models that learners return."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, log
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankwright.base.arrays import Doubles, Floats
    from rankwright.training.monitor import RoundBlock, WeakModel

    # Runs rounds, given the scores before them, their number, and the features of documents that only get outputs.
    RunRounds = Callable[[Doubles, int, Floats], RoundBlock]

Signal = TypeVar("Signal", contravariant=True)

# Keeps the step finite if a weak model is perfect, or entirely wrong, on every query with a positive weight.
SMALLEST_ERROR = 1e-12
ROUNDING = 1e-9  # how far rounding may take a metric out of its range


@dataclass(frozen=True, eq=False)
class Weak:
    """A weak model and its outputs for the training documents."""

    model: WeakModel
    outputs: Doubles


class WeakLearner(Protocol[Signal]):
    """Fits weak models to one training set."""

    def fit(self, signal: Signal) -> Weak:
        """Return the weak model that fits the signal best."""


@runtime_checkable
class NativeLearner(Protocol):
    """A learner that runs blocks of rounds of some rules."""

    def in_core(self, rule: Any) -> RunRounds | None:
        """Return the rounds of a rule in native code, which are those of the loop in Python; None if unknown."""


def half_log_odds(agreement: float) -> float:
    """Return half the log-odds of an agreement in [-1, 1]: AdaBoost's weight of a weak model."""
    most = 1.0 - SMALLEST_ERROR
    kept = min(max(agreement, -most), most)
    return 0.5 * log((1.0 + kept) / (1.0 - kept))  # the logarithm of the native code, to the last bit


@dataclass(frozen=True, eq=False)
class QueryWeights:
    """One weight per query, with sum 1, and the scores, loss and quality of the ensemble that they derive from."""

    weights: Doubles
    scores: Doubles
    loss: float
    quality: Doubles | float = 0.0

    def half_log_odds(self, quality: Doubles) -> Any:
        """Return half the log-odds of the weighted mean quality, given one quality in [-1, 1] per query.

        With one row of qualities per weak model, return one number per weak model.
        """
        largest = np.abs(quality).max(initial=0.0)
        if largest > 1.0 + ROUNDING:  # only a measure of scores, such as a dot product, can be
            raise InputError(
                f"The metric of a weak ranker must be between -1 and 1, and is up to {largest:g} here; scale the "
                "features to lie between 0 and 1."
            )
        mean = self.mean(quality)
        return np.array([half_log_odds(of_model) for of_model in np.ravel(mean)]).reshape(np.shape(mean))

    def mean(self, quality: Doubles) -> Any:
        """Return the weighted mean over queries of the quality of a weak model, or of each row of several models.

        The sum is exact: it depends neither on the order of the queries nor on the other rows.
        """
        return np.apply_along_axis(fsum, -1, quality * self.weights)


@dataclass(frozen=True, eq=False)
class Gradients:
    """Gradient and second derivative (hessian) of each document's score.

    A positive gradient means that the score should rise. If documents have one score per class, both have one row
    per class.
    """

    gradient: Doubles
    hessian: Doubles
