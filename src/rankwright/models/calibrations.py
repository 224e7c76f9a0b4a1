"""Calibrations: scorers whose features are the scores that a classifier gives each class.

All add up class by class, because a library's sum of a row may depend on the rows beside it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from rankwright.errors import InputError
from rankwright.models.scorer import Scorer
from rankwright.models.state import State, checked_number, frozen_numbers
from rankwright.models.wrapping import WrappingScorer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.arrays import Doubles
    from rankwright.data.groups import QueryGroups

HIGHEST_DEGREE = 8


@dataclass(frozen=True, eq=False, repr=False)
class BayesScorer(Scorer):
    """The gain to be expected: sum over classes of gain x probability (Cossock & Zhang 2008).

    Parameters
    ----------
    gains
        What each class is worth.
    """

    gains: Doubles

    def __post_init__(self) -> None:
        self._set("gains", frozen_numbers("gains", self.gains))
        if not len(self.gains):
            raise InputError("gains must hold a number for at least one class.")
        self._set("n_features", len(self.gains))
        super().__post_init__()

    @abstractmethod
    def log_odds(self, scores: Doubles) -> Doubles:
        """Return logarithms of numbers in proportion to the probabilities, a row a document."""

    def probabilities(self, scores: Doubles) -> Doubles:
        """Return the probability of each class, a row a document."""
        logs = self.log_odds(np.asarray(scores, dtype=np.float64))
        raised = np.exp(logs - logs.max(axis=1, keepdims=True))
        total = np.zeros(len(raised))
        for column in raised.T:
            total += column
        return np.asarray(raised / total[:, None])

    def expected_gains(self, scores: Doubles) -> Doubles:
        """Return the expected gain of each document, a row of scores each."""
        expected = np.zeros(len(scores))
        for gain, share in zip(self.gains, self.probabilities(scores).T, strict=True):
            expected += gain * share
        return expected

    def _score(self, X: NDArray[np.float32], _groups: QueryGroups, _threads: int, /) -> Doubles:
        return self.expected_gains(X)  # type: ignore[arg-type]  # made doubles there


@dataclass(frozen=True, eq=False, repr=False)
class StandardCalibration(BayesScorer):
    """Votes as they are: probabilities in proportion to total + score.

    That is equation 3 of Busa-Fekete, Kégl, Éltető & Szarvas (2011), where the total is the sum of all rounds'
    weights, beyond which no score lies.
    """

    kind: ClassVar[str] = "standard_calibration"
    total: float

    def __post_init__(self) -> None:
        self._set("total", checked_number("total", self.total))
        super().__post_init__()

    def log_odds(self, scores: Doubles) -> Doubles:
        """Return the logarithms of total + score; all classes voted down in every round are equally likely."""
        return np.log(np.maximum(self.total + scores, np.finfo(np.float64).tiny))

    def state(self) -> State:
        """Return the gains and the total."""
        return State(fields={"total": self.total}, arrays={"gains": self.gains})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a calibration from the gains and the total."""
        return cls(state.array("gains", np.float64), state.number("total"))


@dataclass(frozen=True, eq=False, repr=False)
class SigmoidCalibration(BayesScorer):
    """Probabilities in proportion to 1 / (1 + exp(-slope (score - middle))), equation 4 of the same paper."""

    kind: ClassVar[str] = "sigmoid_calibration"
    slope: float
    middle: float

    def __post_init__(self) -> None:
        self._set("slope", checked_number("slope", self.slope))
        self._set("middle", checked_number("middle", self.middle))
        super().__post_init__()

    def log_odds(self, scores: Doubles) -> Doubles:
        """Return the logarithms of the sigmoids."""
        return log_sigmoid(self.slope * (scores - self.middle))

    def state(self) -> State:
        """Return the gains, the slope and the middle."""
        return State(fields={"slope": self.slope, "middle": self.middle}, arrays={"gains": self.gains})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a calibration from the gains, the slope and the middle."""
        return cls(state.array("gains", np.float64), state.number("slope"), state.number("middle"))


def log_sigmoid(values: Doubles) -> Doubles:
    """Return log(1 / (1 + exp(-value))), exact far out on both sides."""
    return np.minimum(values, 0.0) - np.log1p(np.exp(-np.abs(values)))


@dataclass(frozen=True, eq=False, repr=False)
class LogisticCalibration(BayesScorer):
    """Probabilities by multinomial logistic regression on the classes' scores.

    Parameters
    ----------
    weights
        A row for each class's score, a column for each class's probability.
    intercepts
        One for each class's probability.
    """

    kind: ClassVar[str] = "logistic_calibration"
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

    def state(self) -> State:
        """Return the gains, the weights and the intercepts."""
        arrays = {"gains": self.gains, "weights": self.weights, "intercepts": self.intercepts}
        return State(arrays=arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a calibration from the gains, the weights and the intercepts."""
        weights = state.array("weights", np.float64, n_dimensions=2)
        return cls(state.array("gains", np.float64), weights, state.array("intercepts", np.float64))


@dataclass(frozen=True, eq=False, repr=False)
class Polynomial(Scorer):
    """A sum of monomials, linear regression among them.

    Parameters
    ----------
    powers
        A row a monomial: the power of each feature in it.
    coefficients
        One a monomial.
    """

    kind: ClassVar[str] = "polynomial"
    powers: NDArray[np.int64]
    coefficients: Doubles

    def __post_init__(self) -> None:
        powers = np.array(self.powers)
        if powers.ndim != 2 or not powers.shape[1] or powers.dtype.kind not in "iu":
            raise InputError("powers must be a matrix of whole numbers, a row a monomial, a column a feature.")
        if not ((powers >= 0) & (powers <= HIGHEST_DEGREE)).all():
            raise InputError(f"powers must be from 0 to {HIGHEST_DEGREE}.")
        self._set("powers", powers.astype(np.int64))
        self._set("coefficients", frozen_numbers("coefficients", self.coefficients, (len(powers),)))
        self._set("n_features", powers.shape[1])
        super().__post_init__()

    def _score(self, X: NDArray[np.float32], _groups: QueryGroups, _threads: int, /) -> Doubles:
        values = np.zeros(len(X))
        for coefficient, powers in zip(self.coefficients, self.powers, strict=True):
            values += coefficient * monomial(X, powers)
        return values

    def state(self) -> State:
        """Return the powers and the coefficients."""
        return State(arrays={"powers": self.powers, "coefficients": self.coefficients})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a polynomial from its powers and coefficients."""
        powers = state.array("powers", np.int64, n_dimensions=2)
        return cls(powers, state.array("coefficients", np.float64))


def monomial(X: NDArray[np.floating], powers: NDArray[np.int64]) -> Doubles:
    """Return the product of the features, each to its power, for every row."""
    product = np.ones(len(X))
    for column, power in zip(X.T, powers, strict=True):
        for _ in range(power):
            product *= column
    return product


@dataclass(frozen=True, eq=False, repr=False)
class HiddenLayer(Scorer):
    """A network of one hidden layer: sum of output weight x tanh(hidden intercept + sum of weight x feature).

    Parameters
    ----------
    weights
        A row a feature, a column a hidden unit.
    intercepts
        One a hidden unit.
    output_weights
        The output weight of each hidden unit.
    intercept
        What every score starts from.
    """

    kind: ClassVar[str] = "hidden_layer"
    weights: Doubles
    intercepts: Doubles
    output_weights: Doubles
    intercept: float

    def __post_init__(self) -> None:
        shape = np.shape(self.weights)
        if len(shape) != 2 or not shape[0]:
            raise InputError("weights must be a matrix, a row a feature, a column a hidden unit.")
        self._set("weights", frozen_numbers("weights", self.weights, shape))
        self._set("intercepts", frozen_numbers("intercepts", self.intercepts, (shape[1],)))
        self._set("output_weights", frozen_numbers("output_weights", self.output_weights, (shape[1],)))
        self._set("intercept", checked_number("intercept", self.intercept))
        self._set("n_features", shape[0])
        super().__post_init__()

    def _score(self, X: NDArray[np.float32], _groups: QueryGroups, _threads: int, /) -> Doubles:
        values = np.full(len(X), self.intercept)
        for weights, intercept, output in zip(self.weights.T, self.intercepts, self.output_weights, strict=True):
            values += output * np.tanh(intercept + _weighted_sum(X, weights))
        return values

    def state(self) -> State:
        """Return all weights and intercepts."""
        arrays = {name: getattr(self, name) for name in ("weights", "intercepts", "output_weights")}
        return State(fields={"intercept": self.intercept}, arrays=arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a network from its weights and intercepts."""
        weights = state.array("weights", np.float64, n_dimensions=2)
        intercepts, outputs = state.array("intercepts", np.float64), state.array("output_weights", np.float64)
        return cls(weights, intercepts, outputs, state.number("intercept"))


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
        A row a centre.
    weights
        One a centre.
    length_scale
        How far a centre's influence goes.
    intercept
        What every score starts from.
    """

    kind: ClassVar[str] = "radial_basis"
    centres: Doubles
    weights: Doubles
    length_scale: float
    intercept: float

    def __post_init__(self) -> None:
        shape = np.shape(self.centres)
        if len(shape) != 2 or not shape[1]:
            raise InputError("centres must be a matrix, a row a centre, a column a feature.")
        self._set("centres", frozen_numbers("centres", self.centres, shape))
        self._set("weights", frozen_numbers("weights", self.weights, (shape[0],)))
        self._set("length_scale", checked_number("length_scale", self.length_scale))
        self._set("intercept", checked_number("intercept", self.intercept))
        self._set("n_features", shape[1])
        if not self.length_scale > 0:
            raise InputError(f"length_scale must be above 0, not {self.length_scale!r}.")
        super().__post_init__()

    def _score(self, X: NDArray[np.float32], _groups: QueryGroups, _threads: int, /) -> Doubles:
        columns = [np.ascontiguousarray(column, dtype=np.float64) for column in X.T]
        values = np.full(len(X), self.intercept)
        for weight, centre in zip(self.weights, self.centres, strict=True):
            distance = np.zeros(len(X))
            for column, place in zip(columns, centre, strict=True):
                distance += ((column - place) / self.length_scale) ** 2
            values += weight * np.exp(-0.5 * distance)
        return values

    def state(self) -> State:
        """Return the centres, their weights and the two numbers."""
        fields = {"length_scale": self.length_scale, "intercept": self.intercept}
        return State(fields=fields, arrays={"centres": self.centres, "weights": self.weights})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a scorer from the centres, their weights and the two numbers."""
        centres, weights = state.array("centres", np.float64, n_dimensions=2), state.array("weights", np.float64)
        return cls(centres, weights, state.number("length_scale"), state.number("intercept"))


@dataclass(frozen=True, eq=False, repr=False)
class Rescaled(WrappingScorer):
    """Another scorer's scores of shifted and scaled features, brought from `low` to `high` into 0 to 1.

    What is below or above is cut off, so that scorers of different scales can be mixed.

    Parameters
    ----------
    inner
        The scorer.
    centre, scale
        Of each feature: the inner scorer is given (feature - centre) / scale.
    low, high
        The inner scores that become 0 and 1.
    """

    kind: ClassVar[str] = "rescaled"
    centre: Doubles
    scale: Doubles
    low: float
    high: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("centre", frozen_numbers("centre", self.centre, (self.n_features,)))
        self._set("scale", frozen_numbers("scale", self.scale, (self.n_features,)))
        self._set("low", checked_number("low", self.low))
        self._set("high", checked_number("high", self.high))
        if not self.low < self.high or not (self.scale > 0).all():
            raise InputError("low must be below high, and every scale above 0.")

    def _score(self, X: NDArray[np.float32], groups: QueryGroups, n_threads: int, /) -> Doubles:
        shifted = (np.asarray(X, dtype=np.float64) - self.centre) / self.scale
        values = self.inner._score(shifted, groups, n_threads)  # type: ignore[arg-type]  # in full precision
        return np.asarray(np.clip((values - self.low) / (self.high - self.low), 0.0, 1.0))

    def state(self) -> State:
        """Return the inner scorer and the numbers."""
        arrays = {"centre": self.centre, "scale": self.scale}
        return State(fields={"low": self.low, "high": self.high}, arrays=arrays, children={"inner": self.inner})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a scorer from the inner one and the numbers."""
        centre, scale = state.array("centre", np.float64), state.array("scale", np.float64)
        return cls(state.child("inner"), centre, scale, state.number("low"), state.number("high"))
