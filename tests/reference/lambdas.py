"""Metric-weighted pairwise gradients, slowly: every pair of every query, as the formulas say."""

from __future__ import annotations

from itertools import pairwise
from math import exp, log2
from typing import TYPE_CHECKING

import numpy as np

from rankwright.metrics import Metric
from reference.ranking import sort_within_queries
from reference.swaps import swap_deltas

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.data.groups import QueryGroups

    Doubles = NDArray[np.float64]


def lambda_gradients(
    metric: Metric | None,
    labels: Doubles,
    groups: QueryGroups,
    scores: Doubles,
    *,
    truncation: int | None = None,
    normalise: bool = False,
    sigma: float = 1.0,
    query_weights: Doubles | None = None,
) -> tuple[Doubles, Doubles]:
    gradient, hessian = np.zeros(len(labels)), np.zeros(len(labels))
    order = sort_within_queries(groups.offsets, groups.rows, scores)
    for query in range(len(groups)):
        ranked = order[groups.offsets[query] : groups.offsets[query + 1]]
        pushes, curvatures = _of_query(metric, labels[ranked], scores[ranked], truncation, normalise, sigma)
        weight = 1.0 if query_weights is None else query_weights[query]
        gradient[ranked], hessian[ranked] = weight * pushes, weight * curvatures
    return gradient, hessian


def _of_query(
    metric: Metric | None, labels: Doubles, scores: Doubles, truncation: int | None, normalise: bool, sigma: float
) -> tuple[Doubles, Doubles]:
    n, total = len(labels), 0.0
    gradient, hessian = np.zeros(n), np.zeros(n)
    deltas = np.ones((n, n)) if metric is None else _deltas(metric, labels)
    for better in range(n):
        for worse in range(n):
            if labels[better] <= labels[worse] or min(better, worse) >= (truncation or n):
                continue
            delta, difference = deltas[better, worse], float(scores[better]) - float(scores[worse])
            if normalise and scores[0] != scores[-1]:
                delta /= 0.01 + abs(difference)
            rho, one_less_rho = _logistic(-sigma * difference), _logistic(sigma * difference)
            gradient[better] += delta * rho
            gradient[worse] -= delta * rho
            hessian[[better, worse]] += delta * sigma * rho * one_less_rho
            total += 2.0 * delta * rho
    factor = log2(1.0 + total) / total if normalise and total > 0.0 else 1.0
    return factor * gradient, factor * hessian


def _deltas(metric: Metric, labels: Doubles) -> Doubles:
    """The metric's own closed form, which another test holds equal to every swap tried, or every swap tried."""
    own = type(metric).swap_deltas is not Metric.swap_deltas
    return metric.swap_deltas(labels) if own else swap_deltas(metric, labels)


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + exp(min(700.0, -x)))


def neighbour_gradients(
    labels: Doubles, groups: QueryGroups, scores: Doubles, *, scale: float, n_orders: int, seed: int, sigma: float
) -> tuple[Doubles, Doubles]:
    """Return the gradients of neighbours in random orders, one pair after the other."""
    gradient, hessian = np.zeros(len(labels)), np.zeros(len(labels))
    order = sort_within_queries(groups.offsets, groups.rows, scores)
    for query in range(len(groups)):
        ranked = order[groups.offsets[query] : groups.offsets[query + 1]]
        state = seed
        for row in ranked:
            state = _mixed(_mixed(state, scores[row]), labels[row])
        odds = {row: exp(max(sigma * (float(scores[row]) - float(scores[ranked[0]])), -80.0)) for row in ranked}
        for number in range(n_orders):
            noisy = {}
            for rank, row in enumerate(ranked):
                u = _uniform(state, number * len(ranked) + rank)
                noisy[row] = np.float32(odds[row] * (u / (1.0 - u)))
            drawn = sorted(ranked, key=lambda row: -noisy[row])
            for rank, (upper, lower) in enumerate(pairwise(drawn)):
                better, worse = (upper, lower) if labels[upper] >= labels[lower] else (lower, upper)
                weight = scale / (n_orders * log2(rank + 2)) * (labels[better] - labels[worse])
                rho = odds[worse] / (odds[better] + odds[worse])
                gradient[better] += weight * rho
                gradient[worse] -= weight * rho
                hessian[[better, worse]] += weight * sigma * rho * odds[better] / (odds[better] + odds[worse])
    return gradient, hessian


def _mixed(state: int, number: float) -> int:
    rounded = int(np.rint(np.clip(number, -1e12, 1e12) * 1024))
    state = (state ^ (rounded % 2**64)) * 0x9E3779B97F4A7C15 % 2**64
    return state ^ (state >> 32)


def _uniform(seed: int, i: int) -> float:
    bits = (seed + (i + 1) * 0x9E3779B97F4A7C15) % 2**64
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB % 2**64
    bits ^= bits >> 31
    return ((bits >> 12) + 0.5) * 2.0**-52
