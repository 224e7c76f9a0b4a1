"""A small feed-forward network."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.models.scorer import Scorer
from rankwright.models.state import State, frozen_numbers, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.data.groups import QueryGroups

MAX_WIDTH = 2**31 - 1


@dataclass(frozen=True, eq=False, repr=False)
class NetworkScorer(Scorer):
    """Hidden layers of tanh units and a linear output: see native/networks/network.hpp.

    Every row is summed in one fixed order, so its score does not depend on the other rows.

    Parameters
    ----------
    widths
        Number of features, number of units of each hidden layer, and 1.
    parameters
        Layer by layer: the weights, one row per input and one column per unit, then one bias per unit.
    missing
        The value that replaces a missing one, one per feature.
    """

    kind: ClassVar[str] = "network"
    widths: NDArray[np.int64]
    parameters: NDArray[np.float64]
    missing: NDArray[np.float64]

    def __post_init__(self) -> None:
        self._set("widths", _checked_widths(self.widths))
        n_parameters = count_parameters(self.widths)
        self._set("parameters", frozen_numbers("parameters", self.parameters))
        if len(self.parameters) != n_parameters:
            raise InputError(
                f"A network of widths {shown(self.widths.tolist())} has {n_parameters} parameters, "
                f"not {len(self.parameters)}."
            )
        self._set("n_features", int(self.widths[0]))
        self._set("missing", frozen_numbers("missing", self.missing, (self.n_features,)))
        super().__post_init__()

    def _score(self, X: NDArray[np.float32], _groups: QueryGroups, n_threads: int, /) -> NDArray[np.float64]:
        return _native.network_scores(
            widths=self.widths,
            parameters=self.parameters,
            missing=self.missing,
            values=np.ascontiguousarray(X),
            n_threads=n_threads,
        )

    @classmethod
    def of_layers(
        cls, layers: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]], missing: NDArray[np.float64]
    ) -> Self:
        """Return the network of these layers, each with its weights and biases."""
        widths = np.array([len(layers[0][0]), *(len(biases) for _, biases in layers)])
        return cls(widths, np.concatenate([part.ravel() for layer in layers for part in layer]), missing)

    @property
    def layers(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """The weights, one row per input and one column per unit, and the biases of each layer."""
        found, start = [], 0
        for n_inputs, n_units in pairwise(self.widths.tolist()):
            middle, end = start + n_inputs * n_units, start + (n_inputs + 1) * n_units
            found.append((self.parameters[start:middle].reshape(n_inputs, n_units), self.parameters[middle:end]))
            start = end
        return found

    @property
    def used_features(self) -> NDArray[np.int64]:
        """The features that have a weight other than zero."""
        return np.flatnonzero(self.layers[0][0].any(axis=1))

    def state(self) -> State:
        """Return widths, parameters and missing values."""
        return State(arrays={"widths": self.widths, "parameters": self.parameters, "missing": self.missing})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild a network from widths, parameters and missing values."""
        parameters, missing = state.array("parameters", np.float64), state.array("missing", np.float64)
        return cls(state.array("widths", np.int64), parameters, missing)


def count_parameters(widths: NDArray[np.int64]) -> int:
    """Return the number of weights and biases of a network of these widths."""
    sizes = widths.tolist()  # Python integers cannot overflow
    return sum((inputs + 1) * units for inputs, units in pairwise(sizes))


def _checked_widths(widths: ArrayLike) -> NDArray[np.int64]:
    sizes = np.asarray(widths)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or len(sizes) < 2 or sizes[-1] != 1:
        raise InputError("widths must be integers: the number of features, of units of each hidden layer, and 1.")
    if not ((sizes >= 1) & (sizes <= MAX_WIDTH)).all():
        raise InputError(f"widths must be from 1 to {MAX_WIDTH}, not {shown(sizes.tolist())}.")
    sizes = sizes.astype(np.int64)
    sizes.flags.writeable = False
    return sizes
