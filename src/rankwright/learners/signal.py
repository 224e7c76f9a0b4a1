"""What passes between a rule and a weak learner: what is still wrong, and the answer to it."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from rankwright.arrays import Doubles
    from rankwright.data import Documents

Signal = TypeVar("Signal", contravariant=True)

# Keeps the step finite where a weak model is perfect, or all wrong, on every query that has weight.
SMALLEST_ERROR = 1e-12


class WeakModel(Protocol):
    """A scorer, or something else whose outputs boosting adds up: trees that score classes."""

    def outputs(self, data: Documents, *, n_jobs: int | None = None) -> Doubles:
        """Return what it says of documents."""


@dataclass(frozen=True, eq=False)
class Weak:
    """A weak model and what it says of the training documents."""

    model: WeakModel
    outputs: Doubles


class WeakLearner(Protocol[Signal]):
    """Fits weak models to one training set."""

    def fit(self, signal: Signal) -> Weak:
        """Return the weak model that answers the signal best."""


def half_log_odds(agreement: Any) -> Any:
    """Return half the log-odds of an agreement in [-1, 1], or of each of several: AdaBoost's weight of a model."""
    most = 1.0 - SMALLEST_ERROR
    kept = np.clip(agreement, -most, most)
    return 0.5 * np.log((1.0 + kept) / (1.0 - kept))


@dataclass(frozen=True, eq=False)
class QueryWeights:
    """A weight for each query, summing to one, and the ensemble that left them: its scores, loss and quality."""

    weights: Doubles
    scores: Doubles
    loss: float
    quality: Doubles | float = 0.0

    def half_log_odds(self, quality: Doubles) -> Any:
        """Return half the log-odds of the weighted quality, a quality in [-1, 1] a query.

        With a row of qualities for each of several weak models, return one number for each.
        """
        return half_log_odds(self.mean(quality))

    def mean(self, quality: Doubles) -> Any:
        """Return the weighted mean of a quality a query, or of each row of several weak models' qualities.

        Summed exactly, so that neither the order of the queries nor the models beside it change a bit of it.
        """
        return np.apply_along_axis(fsum, -1, quality * self.weights)


@dataclass(frozen=True, eq=False)
class Gradients:
    """How each document's score should move to improve the ranking, and how fast that wears off.

    Where documents have a score for each class, a row for each class.
    """

    gradient: Doubles
    hessian: Doubles
