"""A feed-forward network, slowly: one unit of one row at a time, slopes by the chain rule, Adam as published."""

from __future__ import annotations

from itertools import pairwise
from math import exp, isnan, sqrt, tanh
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]


def layers(widths: Sequence[int], parameters: Doubles) -> list[tuple[Doubles, Doubles]]:
    """Weights (a row an input) and biases of each layer."""
    found, start = [], 0
    for n_inputs, n_units in pairwise(widths):
        middle, end = start + n_inputs * n_units, start + (n_inputs + 1) * n_units
        found.append((parameters[start:middle].reshape(n_inputs, n_units), parameters[middle:end]))
        start = end
    return found


def activations(
    row: Sequence[float], widths: Sequence[int], parameters: Doubles, missing: Sequence[float]
) -> list[list[float]]:
    """What each layer says of a row, the features themselves first."""
    said = [[instead if isnan(value) else float(value) for value, instead in zip(row, missing, strict=True)]]
    for number, (weights, biases) in enumerate(layers(widths, parameters), start=2):
        units = []
        for unit in range(len(biases)):
            total = float(biases[unit])
            for place, value in enumerate(said[-1]):
                total += value * float(weights[place, unit])
            units.append(tanh(total) if number < len(widths) else total)
        said.append(units)
    return said


def scores(
    X: NDArray[np.float32], widths: Sequence[int], parameters: Doubles, missing: Sequence[float]
) -> Doubles:
    return np.array([activations(row, widths, parameters, missing)[-1][0] for row in X])


def slope(
    X: NDArray[np.float32], widths: Sequence[int], parameters: Doubles, missing: Sequence[float], pull: Doubles
) -> Doubles:
    """The sum over rows of pull x the derivative of the score by each parameter."""
    total = np.zeros(len(parameters))
    for row, factor in zip(X, pull, strict=True):
        said = activations(row, widths, parameters, missing)
        back, parts = np.array([factor]), []
        for (weights, _), inputs in zip(layers(widths, parameters)[::-1], said[-2::-1], strict=True):
            parts.insert(0, np.concatenate([np.outer(inputs, back).ravel(), back]))
            back = (weights @ back) * (1 - np.array(inputs) ** 2)
        total += np.concatenate(parts)
    return total


class Adam:
    """Kingma & Ba (2015): steps along a slope, one parameter at a time."""

    def __init__(self, parameters: Doubles, learning_rate: float) -> None:
        self.parameters, self.learning_rate, self.steps = parameters.tolist(), learning_rate, 0
        self.mean, self.mean_square = [0.0] * len(parameters), [0.0] * len(parameters)

    def step(self, slope: Sequence[float]) -> None:
        self.steps += 1
        for place, value in enumerate(slope):
            self.mean[place] += (1 - 0.9) * (value - self.mean[place])
            self.mean_square[place] += (1 - 0.999) * (value * value - self.mean_square[place])
            mean = self.mean[place] / (1 - 0.9**self.steps)
            spread = sqrt(self.mean_square[place] / (1 - 0.999**self.steps))
            self.parameters[place] += self.learning_rate * mean / (spread + 1e-8)


class Descent:
    """Plain gradient descent."""

    def __init__(self, parameters: Doubles, learning_rate: float) -> None:
        self.parameters, self.learning_rate = parameters.tolist(), learning_rate

    def step(self, slope: Sequence[float]) -> None:
        for place, value in enumerate(slope):
            self.parameters[place] += self.learning_rate * value


def trained(
    X: NDArray[np.float32],
    parts: Sequence[slice],
    widths: Sequence[int],
    parameters: Doubles,
    queries: Iterable[int],
    pull: Callable[[int, Doubles], Doubles],
    *,
    learning_rate: float,
    weights: Doubles | None = None,
    adam: bool = True,
) -> Doubles:
    """Return the parameters after one step for each of the queries."""
    steps, missing = (Adam if adam else Descent)(parameters, learning_rate), np.zeros(X.shape[1])
    for query in queries:
        rows, now = parts[query], np.array(steps.parameters)
        pulls = pull(query, scores(X[rows], widths, now, missing))
        pulls = pulls if weights is None else weights[rows] * pulls
        steps.step(slope(X[rows], widths, now, missing, pulls).tolist())
    return np.array(steps.parameters)


def softmax(values: Sequence[float]) -> Doubles:
    """exp(value), over their sum."""
    most, powers, total = max(values), [], 0.0
    for value in values:
        powers.append(exp(value - most))
        total += powers[-1]
    return np.array([power / total for power in powers])
