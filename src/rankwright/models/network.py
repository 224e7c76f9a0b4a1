"""A small feed-forward network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.models.linear import linear_of_columns
from rankwright.models.scorer import Scorer
from rankwright.models.serialisation import Saved, State, frozen_numbers, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.data.groups import QueryGroups
    from rankwright.data.query_features import Scaling

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
    saved: ClassVar[Saved] = {
        "widths": partial(State.array, dtype=np.int64),
        "parameters": State.vector,
        "missing": State.vector,
    }
    widths: Integers
    parameters: Doubles
    missing: Doubles

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

    def _score(self, X: Floats, _groups: QueryGroups, n_threads: int, /) -> Doubles:
        return _native.network_scores(
            widths=self.widths,
            parameters=self.parameters,
            missing=self.missing,
            values=np.ascontiguousarray(X),
            n_threads=n_threads,
        )

    @classmethod
    def of_layers(cls, layers: Sequence[tuple[Doubles, Doubles]], missing: Doubles) -> Self:
        """Return the network of these layers, each with its weights and biases."""
        widths = np.array([len(layers[0][0]), *(len(biases) for _, biases in layers)])
        return cls(widths, np.concatenate([part.ravel() for layer in layers for part in layer]), missing)

    @property
    def layers(self) -> list[tuple[Doubles, Doubles]]:
        """The weights, one row per input and one column per unit, and the biases of each layer."""
        layers, start = [], 0
        for n_inputs, n_units in pairwise(self.widths.tolist()):
            middle, end = start + n_inputs * n_units, start + (n_inputs + 1) * n_units
            layers.append((self.parameters[start:middle].reshape(n_inputs, n_units), self.parameters[middle:end]))
            start = end
        return layers

    @property
    def used_features(self) -> Integers:
        """The features that have a weight other than zero."""
        return np.flatnonzero(self.layers[0][0].any(axis=1))


def count_parameters(widths: Integers) -> int:
    """Return the number of weights and biases of a network of these widths."""
    sizes = widths.tolist()  # Python integers cannot overflow
    return sum((inputs + 1) * units for inputs, units in pairwise(sizes))


def _checked_widths(widths: ArrayLike) -> Integers:
    sizes = np.asarray(widths)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or len(sizes) < 2 or sizes[-1] != 1:
        raise InputError("widths must be integers: the number of features, of units of each hidden layer, and 1.")
    if not ((sizes >= 1) & (sizes <= MAX_WIDTH)).all():
        raise InputError(f"widths must be from 1 to {MAX_WIDTH}, not {shown(sizes.tolist())}.")
    sizes = sizes.astype(np.int64)
    sizes.flags.writeable = False
    return sizes


def network_of_columns(widths: Integers, parameters: Doubles, scaling: Scaling) -> Scorer:
    """Return the scorer of unscaled columns that equals this network of scaled columns.

    Without hidden layers it is linear.
    """
    n_features, n_units = (int(width) for width in widths[:2])
    weights, biases, rest = np.split(parameters, [n_features * n_units, (n_features + 1) * n_units])
    if len(widths) == 2:
        return linear_of_columns(weights, scaling, biases[0])
    raw, added = scaling.folded(weights.reshape(n_features, n_units))
    return NetworkScorer(widths, np.concatenate([raw.ravel(), biases + added, rest]), scaling.missing)
