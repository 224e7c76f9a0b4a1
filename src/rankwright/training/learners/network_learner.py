"""Trains a small neural network, one gradient step per query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Floats
    from rankwright.data.groups import QueryGroups
    from rankwright.metrics.protocols import Pull

CALL_DOCUMENTS = 10_000  # a native call learns from about so many; Ctrl-C ends a fit between two calls


class Network:
    """Weights and biases (see `NetworkScorer`) trained by gradient descent, one query after another.

    Without hidden layers all weights start at zero. With them, weights are drawn uniformly within 1 / sqrt(n) of
    zero, for n inputs, except that the weights of a feature that is zero for all documents stay zero.

    Parameters
    ----------
    X, groups
        Scaled features without missing values; the rows of a query are adjacent, and queries in order.
    hidden
        Number of units of each hidden layer.
    learning_rate
        With Adam, roughly how far a step moves each weight; otherwise the factor of the gradient.
    adam
        Whether steps are Adam's, or plain gradient descent.
    random
        Generator of the first weights and of the order of queries.
    """

    def __init__(
        self,
        X: Floats,
        groups: QueryGroups,
        *,
        hidden: Sequence[int],
        learning_rate: float,
        adam: bool = True,
        random: np.random.Generator,
    ) -> None:
        self._X, self._offsets = X, groups.offsets
        self._learning_rate, self._random = learning_rate, random
        self.widths = np.array([X.shape[1], *hidden, 1], dtype=np.int64)
        self.parameters = self._first_parameters()
        n_means = len(self.parameters) if adam else 0
        self._mean, self._mean_square = np.zeros(n_means), np.zeros(n_means)
        self._n_steps = 0

    def learn(self, queries: NDArray[np.int64], pull: Pull, weights: Doubles | None = None) -> None:
        """Make one step for each of the queries, in random order.

        Parameters
        ----------
        queries
            Numbers of the queries to learn from.
        pull
            Returns the negative derivative of a query's loss by each of its documents' scores: how far, and which
            way, each score should move.
        weights
            Factors of the pull, one per document.
        """
        drawn = self._random.permutation(queries)
        n_calls = min(len(drawn), 1 + len(self._X) // CALL_DOCUMENTS)
        for part in np.array_split(drawn, n_calls):
            self._step(part, pull, weights)
        if not np.isfinite(self.parameters).all():
            raise _diverged()

    def scores(self, *, n_threads: int = 1) -> Doubles:
        """Return the score of each training document."""
        return _native.network_scores(
            widths=self.widths,
            parameters=self.parameters,
            missing=np.zeros(self.widths[0]),
            values=self._X,
            n_threads=n_threads,
        )

    def _step(self, queries: NDArray[np.int64], pull: Pull, weights: Doubles | None) -> None:
        state = _native.train_network(
            widths=self.widths,
            parameters=self.parameters,
            mean=self._mean,
            mean_square=self._mean_square,
            n_steps=self._n_steps,
            learning_rate=self._learning_rate,
            values=self._X,
            offsets=self._offsets,
            queries=queries,
            weights=weights,
            pull=pull,
        )
        if state is None:
            raise _diverged()
        self.parameters, self._mean, self._mean_square = state
        self._n_steps += len(queries)

    def _first_parameters(self) -> Doubles:
        parts = []
        for n_inputs, n_units in zip(self.widths[:-1], self.widths[1:], strict=True):
            reach = 1 / np.sqrt(n_inputs) if len(self.widths) > 2 else 0.0
            parts += [self._random.uniform(-reach, reach, (n_inputs, n_units)), np.zeros(n_units)]
        parts[0][~self._X.any(axis=0)] = 0.0
        return np.concatenate([part.ravel() for part in parts])


def _diverged() -> InputError:
    return InputError("The network's scores are no longer finite; use a lower learning_rate.")
