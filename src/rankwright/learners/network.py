"""A small network in training: a step of gradient descent for each query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from rankwright import _native
from rankwright.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.arrays import Doubles, Floats
    from rankwright.data import QueryGroups

# Of Adam (Kingma & Ba 2015): the shares of the old mean slope and of the old mean square that each step keeps, and
# what keeps a step finite.
KEPT_MEAN, KEPT_SQUARE, LEAST_SPREAD = 0.9, 0.999, 1e-8


class Pull(Protocol):
    """What a method's loss asks of a query: how far, and which way, each score should move."""

    def __call__(self, query: int, scores: Doubles) -> Doubles:
        """Return the negative derivative of the query's loss by each of its documents' scores."""


class Network:
    """Weights and biases (see `NetworkScorer`) that learn from one query after another by Adam's rule.

    Without hidden layers all weights start at zero. With them, weights are drawn uniformly within 1 / sqrt(n) of
    zero, for n inputs; but those of a feature that is zero for all documents, which teach nothing of it, are zero.

    Parameters
    ----------
    X, groups
        Scaled features, query by query: nothing is missing.
    hidden
        The units of each hidden layer.
    learning_rate
        About how far a step moves each weight.
    random
        Draws the first weights, and the order of queries.
    """

    def __init__(
        self,
        X: Floats,
        groups: QueryGroups,
        *,
        hidden: Sequence[int],
        learning_rate: float,
        random: np.random.Generator,
    ) -> None:
        self._X, self._offsets = X, groups.offsets
        self._learning_rate, self._random = learning_rate, random
        self.widths = np.array([X.shape[1], *hidden, 1], dtype=np.int64)
        self.parameters = self._first_parameters()
        self._mean, self._mean_square = np.zeros_like(self.parameters), np.zeros_like(self.parameters)
        self._steps = 0

    def learn(self, queries: NDArray[np.int64], pull: Pull) -> None:
        """Go through the queries once, in an order drawn anew, and make a step for each."""
        with np.errstate(over="ignore", invalid="ignore"):  # told by what is no longer finite
            for query in self._random.permutation(queries):
                X = self._X[self._offsets[query] : self._offsets[query + 1]]
                self._step(self.slope(X, pull(query, _finite(self.scores(X)))))
        _finite(self.parameters)

    def scores(self, X: Floats | None = None, *, n_threads: int = 1) -> Doubles:
        """Return the score of each row; without rows, of all that it learns from."""
        return _native.network_scores(
            widths=self.widths,
            parameters=self.parameters,
            missing=np.zeros(self.widths[0]),
            values=self._X if X is None else X,
            n_threads=n_threads,
        )

    def slope(self, X: Floats, pull: Doubles) -> Doubles:
        """Return the sum over rows of pull x the derivative of the score by each parameter: back-propagation."""
        return _native.network_slope(
            widths=self.widths,
            parameters=self.parameters,
            missing=np.zeros(self.widths[0]),
            values=X,
            pull=pull,
        )

    def _step(self, slope: Doubles) -> None:
        self._steps += 1
        self._mean += (1 - KEPT_MEAN) * (slope - self._mean)
        self._mean_square += (1 - KEPT_SQUARE) * (slope**2 - self._mean_square)
        mean = self._mean / (1 - KEPT_MEAN**self._steps)
        spread = np.sqrt(self._mean_square / (1 - KEPT_SQUARE**self._steps))
        self.parameters = self.parameters + self._learning_rate * mean / (spread + LEAST_SPREAD)

    def _first_parameters(self) -> Doubles:
        parts = []
        for n_inputs, n_units in zip(self.widths[:-1], self.widths[1:], strict=True):
            reach = 1 / np.sqrt(n_inputs) if len(self.widths) > 2 else 0.0
            parts += [self._random.uniform(-reach, reach, (n_inputs, n_units)), np.zeros(n_units)]
        parts[0][~self._X.any(axis=0)] = 0.0
        return np.concatenate([part.ravel() for part in parts])


def _finite(numbers: Doubles) -> Doubles:
    if not np.isfinite(numbers).all():
        raise InputError("The network's numbers are no longer finite; learning_rate must be lower.")
    return numbers
