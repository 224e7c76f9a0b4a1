"""Scorers that regress the gain on the scores of the classes.

Sums run class by class, because a library's sum over a row may depend on the rows beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rankwright.base.errors import InputError
from rankwright.models.nested_scorers import WrappingScorer
from rankwright.models.scorer import Scorer
from rankwright.models.serialisation import Saved, State, checked_number, frozen_numbers, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.data.groups import QueryGroups

HIGHEST_DEGREE = 8


@dataclass(frozen=True, eq=False, repr=False)
class Polynomial(Scorer):
    """A sum of monomials; of degree 1, a linear function.

    Parameters
    ----------
    powers
        One row per monomial: the power of each feature in it.
    coefficients
        One per monomial.
    """

    kind: ClassVar[str] = "polynomial"
    saved: ClassVar[Saved] = {
        "powers": partial(State.array, dtype=np.int64, n_dimensions=2),
        "coefficients": State.vector,
    }
    powers: Integers
    coefficients: Doubles

    def __post_init__(self) -> None:
        powers = np.array(self.powers)
        if powers.ndim != 2 or not powers.shape[1] or powers.dtype.kind not in "iu":
            raise InputError(
                "powers must be a matrix of integers, one row per monomial and one column per feature."
            )
        if not ((powers >= 0) & (powers <= HIGHEST_DEGREE)).all():
            raise InputError(f"powers must be between 0 and {HIGHEST_DEGREE}.")
        self._set("powers", powers.astype(np.int64))
        self._set("coefficients", frozen_numbers("coefficients", self.coefficients, (len(powers),)))
        self._set("n_features", powers.shape[1])
        super().__post_init__()

    def _score(self, X: Floats, _groups: QueryGroups, _threads: int, /) -> Doubles:
        values = np.zeros(len(X))
        for coefficient, powers in zip(self.coefficients, self.powers, strict=True):
            values += coefficient * monomial(X, powers)
        return values


def monomial(X: NDArray[np.floating], powers: Integers) -> Doubles:
    """Return the product of the features, each raised to its power, for every row."""
    product = np.ones(len(X))
    for column, power in zip(X.T, powers, strict=True):
        for _ in range(power):
            product *= column
    return product


@dataclass(frozen=True, eq=False, repr=False)
class HiddenLayer(Scorer):
    """A network with one hidden layer: sum of output weight x tanh(hidden intercept + sum of weight x feature).

    Parameters
    ----------
    weights
        One row per feature, one column per hidden unit.
    intercepts
        One per hidden unit.
    output_weights
        The output weight of each hidden unit.
    intercept
        Added to every score.
    """

    kind: ClassVar[str] = "hidden_layer"
    saved: ClassVar[Saved] = {
        "weights": State.matrix,
        "intercepts": State.vector,
        "output_weights": State.vector,
        "intercept": State.number,
    }
    weights: Doubles
    intercepts: Doubles
    output_weights: Doubles
    intercept: float

    def __post_init__(self) -> None:
        shape = np.shape(self.weights)
        if len(shape) != 2 or not shape[0]:
            raise InputError("weights must be a matrix, one row per feature and one column per hidden unit.")
        self._set("weights", frozen_numbers("weights", self.weights, shape))
        self._set("intercepts", frozen_numbers("intercepts", self.intercepts, (shape[1],)))
        self._set("output_weights", frozen_numbers("output_weights", self.output_weights, (shape[1],)))
        self._set("intercept", checked_number("intercept", self.intercept))
        self._set("n_features", shape[0])
        super().__post_init__()

    def _score(self, X: Floats, _groups: QueryGroups, _threads: int, /) -> Doubles:
        values = np.full(len(X), self.intercept)
        for weights, intercept, output in zip(self.weights.T, self.intercepts, self.output_weights, strict=True):
            values += output * np.tanh(intercept + _weighted_sum(X, weights))
        return values


def _weighted_sum(X: NDArray[np.floating], weights: Doubles) -> Doubles:
    total = np.zeros(len(X))
    for column, weight in zip(X.T, weights, strict=True):
        total += weight * column
    return total


@dataclass(frozen=True, eq=False, repr=False)
class RadialBasis(Scorer):
    """The mean of a Gaussian process: intercept + sum of weight x exp(-|x - centre|^2 / (2 length_scale^2)).

    Parameters
    ----------
    centres
        One row per centre.
    weights
        One per centre.
    length_scale
        The width of the Gaussian around each centre.
    intercept
        Added to every score.
    """

    kind: ClassVar[str] = "radial_basis"
    saved: ClassVar[Saved] = {
        "centres": State.matrix,
        "weights": State.vector,
        "length_scale": State.number,
        "intercept": State.number,
    }
    centres: Doubles
    weights: Doubles
    length_scale: float
    intercept: float

    def __post_init__(self) -> None:
        shape = np.shape(self.centres)
        if len(shape) != 2 or not shape[1]:
            raise InputError("centres must be a matrix, one row per centre and one column per feature.")
        self._set("centres", frozen_numbers("centres", self.centres, shape))
        self._set("weights", frozen_numbers("weights", self.weights, (shape[0],)))
        self._set("length_scale", checked_number("length_scale", self.length_scale))
        self._set("intercept", checked_number("intercept", self.intercept))
        self._set("n_features", shape[1])
        if not self.length_scale > 0:
            raise InputError(f"length_scale must be positive, not {self.length_scale!r}.")
        super().__post_init__()

    def _score(self, X: Floats, _groups: QueryGroups, _threads: int, /) -> Doubles:
        columns = [np.ascontiguousarray(column, dtype=np.float64) for column in X.T]
        values = np.full(len(X), self.intercept)
        for weight, centre in zip(self.weights, self.centres, strict=True):
            distance = np.zeros(len(X))
            for column, coordinate in zip(columns, centre, strict=True):
                distance += ((column - coordinate) / self.length_scale) ** 2
            values += weight * np.exp(-0.5 * distance)
        return values


@dataclass(frozen=True, eq=False, repr=False)
class Rescaled(WrappingScorer):
    """Another scorer's scores of standardised features, mapped from [low, high] to [0, 1].

    Parameters
    ----------
    inner
        The scorer.
    centre, scale
        One per feature: the inner scorer takes (feature - centre) / scale.
    low, high
        The inner scores that map to 0 and 1.
    clip
        Whether scores outside the range are clipped to it, so that none can outweigh the other scorers of a
        mixture. Otherwise they keep their order.
    """

    kind: ClassVar[str] = "rescaled"
    centre: Doubles
    scale: Doubles
    low: float
    high: float
    clip: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.clip, bool):
            raise InputError(f"clip must be True or False, not {shown(self.clip)}.")
        self._set("centre", frozen_numbers("centre", self.centre, (self.n_features,)))
        self._set("scale", frozen_numbers("scale", self.scale, (self.n_features,)))
        self._set("low", checked_number("low", self.low))
        self._set("high", checked_number("high", self.high))
        if not self.low < self.high or not (self.scale > 0).all():
            raise InputError("low must be below high, and every scale must be positive.")

    def _score(self, X: Floats, groups: QueryGroups, n_threads: int, /) -> Doubles:
        shifted = (np.asarray(X, dtype=np.float64) - self.centre) / self.scale
        values = self.inner._score(shifted, groups, n_threads)  # type: ignore[arg-type]  # in full precision
        rescaled = (values - self.low) / (self.high - self.low)
        return np.asarray(np.clip(rescaled, 0.0, 1.0) if self.clip else rescaled)

    def state(self) -> State:
        """Return the inner scorer, the centre, the scale and the range."""
        arrays = {"centre": self.centre, "scale": self.scale}
        fields: dict[str, Any] = {"low": self.low, "high": self.high}
        if not self.clip:  # files from before this field clip
            fields["clip"] = False
        return State(fields=fields, arrays=arrays, children={"inner": self.inner})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a scorer from the inner one, the centre, the scale and the range."""
        centre, scale = state.array("centre", np.float64), state.array("scale", np.float64)
        low, high = state.number("low"), state.number("high")
        return cls(state.child("inner"), centre, scale, low, high, clip=state.fields.get("clip", True))  # type: ignore[arg-type]  # checked above
