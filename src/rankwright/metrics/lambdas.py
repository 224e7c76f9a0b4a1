"""Pairwise gradients weighted by any metric; native/include/rankwright/lambdas.hpp tells what they are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rankwright import _native
from rankwright.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.arrays import Doubles
    from rankwright.data.groups import QueryGroups
    from rankwright.metrics.base import Metric

    Rows = NDArray[np.int64]


class LambdaKernel(Protocol):
    """Sums, for one metric and set of labels, every pair's gradient and hessian; both are in row order."""

    def __call__(
        self,
        *,
        offsets: Rows,
        order: Rows,
        scores: Doubles,
        labels: Doubles,
        query_weights: Doubles | None,
        truncation: int | None,
        normalise: bool,
        sigma: float,
        n_threads: int,
    ) -> tuple[Doubles, Doubles]:
        """Take documents ranked by `sort_within_queries`."""


def linear_lambda_kernel(
    gains: Doubles, discounts: Doubles, query_factors: Doubles, groups: QueryGroups
) -> LambdaKernel:
    """Return the kernel of a metric that sums gain x discount, times a factor of each query's own.

    Only differences of gains count: moved and scaled to 0 to 1 within the query, they all fit single precision.
    """
    grouped, starts, query_of_row = gains[groups.rows], groups.offsets[:-1], groups.query_of_row
    lowest = np.minimum.reduceat(grouped, starts)
    ranges = np.maximum.reduceat(grouped, starts) - lowest
    scaled = (gains - lowest[query_of_row]) / np.where(ranges > 0, ranges, 1.0)[query_of_row]
    return partial(
        _native.linear_lambdas,
        gains=scaled.astype(np.float32),
        discounts=discounts,
        query_factors=ranges * query_factors,
    )


def lambdas_by_swaps(
    metric: Metric,
    *,
    offsets: Rows,
    order: Rows,
    scores: Doubles,
    labels: Doubles,
    query_weights: Doubles | None,
    truncation: int | None,
    normalise: bool,
    sigma: float,
    n_threads: int,
) -> tuple[Doubles, Doubles]:
    """Ask the metric for its swap deltas, query by query: the kernel of a metric that has none of its own."""
    gradient, hessian = np.zeros(len(scores)), np.zeros(len(scores))
    for query in range(len(offsets) - 1):
        ranked = order[offsets[query] : offsets[query + 1]]
        gradient[ranked], hessian[ranked] = _native.given_lambdas(
            offsets=np.array([0, len(ranked)]),
            order=np.arange(len(ranked)),
            scores=scores[ranked],
            labels=labels[ranked],
            query_weights=None if query_weights is None else query_weights[query : query + 1],
            truncation=truncation,
            normalise=normalise,
            sigma=sigma,
            n_threads=n_threads,
            deltas=_checked_deltas(metric, labels[ranked]),
        )
    return gradient, hessian


def _checked_deltas(metric: Metric, labels: Doubles) -> Doubles:
    deltas = np.ascontiguousarray(metric.swap_deltas(labels), dtype=np.float64)
    if deltas.shape != (len(labels), len(labels)):
        raise InputError(f"{metric}: swap_deltas of {len(labels)} documents has shape {deltas.shape}.")
    if not (np.isfinite(deltas) & (deltas >= 0)).all():
        raise InputError(f"{metric}: swap_deltas must be finite and not below 0.")
    return deltas
