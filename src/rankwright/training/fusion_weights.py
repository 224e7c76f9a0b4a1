"""Weights of a fusion: maximum likelihood of the relevant documents, shrunk to equal weights.

With scores s = C w of a query's documents, the loss of a query is the cross-entropy of the softmax of s and the
gains of its labels, 2^label - 1, divided by their sum. It is convex in w. Equal weights w0 (their common size
minimises the loss) are the centre of a normal prior: the objective is

    sum over queries of loss(C w) + strength / 2 * |w / w0 - 1|^2,    w >= 0,

so that `strength` is about the number of queries whose evidence equal weights are worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups

STEPS = 100
TOLERANCE = 1e-10
LARGEST = 50.0  # weight of a column of standard deviation 1: then the best document has all of the softmax


def shrunk_weights(
    columns: Doubles, labels: Doubles, groups: QueryGroups, query_weights: Doubles, strength: float
) -> Doubles:
    """Return one weight per column; equal ones if no query has both relevant and other documents."""
    spread = columns.std() or 1.0  # reciprocal ranks are small
    loss = _Loss(columns / spread, labels, groups, query_weights)
    if not loss.is_informative:
        return np.ones(columns.shape[1])
    common = _minimised(lambda w: loss.of(np.full(columns.shape[1], w[0]), common=True), np.ones(1))[0]
    if common <= 0.0:  # together they rank worse than chance
        common = 1.0

    def shrunk(relative: Doubles) -> tuple[float, Doubles, Doubles]:
        value, gradient, hessian = loss.of(relative * common)
        pull = relative - 1.0
        return (
            value + strength / 2.0 * float(pull @ pull),
            gradient * common + strength * pull,
            hessian * common**2 + strength * np.eye(len(pull)),
        )

    return _minimised(shrunk, np.ones(columns.shape[1]))


class _Loss:
    """The loss of all informative queries, with its derivatives."""

    def __init__(self, columns: Doubles, labels: Doubles, groups: QueryGroups, weights: Doubles) -> None:
        self._parts = []
        for rows, weight in zip(groups, weights.tolist(), strict=True):
            gains = np.exp2(np.maximum(labels[rows], 0.0)) - 1.0
            if weight > 0 and gains.sum() > 0 and np.ptp(gains) > 0:
                self._parts.append((columns[rows], gains / gains.sum(), weight))

    @property
    def is_informative(self) -> bool:
        return bool(self._parts)

    def of(self, weights: Doubles, *, common: bool = False) -> tuple[float, Doubles, Doubles]:
        """Return value, gradient and Hessian; `common` is of the one size of all weights."""
        value, n = 0.0, len(weights)
        gradient, hessian = np.zeros(n), np.zeros((n, n))
        for columns, target, weight in self._parts:
            scores = columns @ weights
            shifted = np.exp(scores - scores.max())
            chances = shifted / shifted.sum()
            value += weight * float(np.log(shifted.sum()) + scores.max() - target @ scores)
            mean = chances @ columns
            gradient += weight * (mean - target @ columns)
            hessian += weight * ((columns * chances[:, None]).T @ columns - np.outer(mean, mean))
        if common:
            return value, np.array([gradient.sum()]), np.array([[hessian.sum()]])
        return value, gradient, hessian


def _minimised(function: object, start: Doubles) -> Doubles:
    """Return the minimum of a convex function over weights from 0 to `LARGEST`, by projected Newton steps."""
    weights = start.copy()
    value, gradient, hessian = function(weights)  # type: ignore[operator]
    for _ in range(STEPS):
        free = ~((weights <= 0.0) & (gradient > 0.0)) & ~((weights >= LARGEST) & (gradient < 0.0))
        if not free.any():
            break
        step = np.zeros_like(weights)
        damped = hessian[np.ix_(free, free)] + 1e-9 * np.eye(int(free.sum()))
        step[free] = np.linalg.solve(damped, gradient[free])
        length = 1.0
        while length > 1e-8:
            tried = np.clip(weights - length * step, 0.0, LARGEST)
            tried_value, tried_gradient, tried_hessian = function(tried)  # type: ignore[operator]
            if tried_value <= value:
                break
            length /= 2.0
        else:
            break
        change = value - tried_value
        weights, value, gradient, hessian = tried, tried_value, tried_gradient, tried_hessian
        if change < TOLERANCE * max(1.0, abs(value)):
            break
    return weights
