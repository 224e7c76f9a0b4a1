"""What passes between a rule and a weak learner: what is still wrong, and the answer to it."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.data import RankingData

    Doubles = NDArray[np.float64]

Signal = TypeVar("Signal", contravariant=True)

# Keeps the step finite where a weak model is perfect, or all wrong, on every query that has weight.
SMALLEST_ERROR = 1e-12


class WeakModel(Protocol):
    """A scorer, or something else whose outputs boosting adds up: trees that score classes."""

    def outputs(self, data: RankingData, *, n_threads: int | None = None) -> Doubles:
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


@dataclass(frozen=True, eq=False)
class QueryWeights:
    """A weight for each query, summing to one, and the scores and the loss of the ensemble that left them."""

    weights: Doubles
    scores: Doubles
    loss: float

    def half_log_odds(self, quality: Doubles) -> Any:
        """Return half the log-odds of the weighted quality, a quality in [-1, 1] a query.

        With a row of qualities for each of several weak models, return one number for each.
        """
        most = 1.0 - SMALLEST_ERROR
        agreement = np.clip(self.mean(quality), -most, most)
        return 0.5 * np.log((1.0 + agreement) / (1.0 - agreement))

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
