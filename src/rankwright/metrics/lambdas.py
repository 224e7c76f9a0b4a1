"""Pairwise gradients weighted by any metric; the formulas are in native/pairs/lambdas.hpp."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups, Ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.metrics.protocols import LambdaKernel, Pull, RankingMetric, Sums


@dataclass(frozen=True, eq=False)
class NativeLambdas:
    """A `LambdaKernel` in native code: `NAME_lambdas`, `NAME_pull` and `NAME_rule` with the metric's arguments."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def sums(self, **documents: Any) -> Sums:
        """Return gradient and hessian, in row order."""
        gradient, hessian = self._call("lambdas", documents)
        return gradient, hessian

    def pull(self, **documents: Any) -> _native.QueryPull:
        """Return a native function of a query's number and its documents' scores that gives their gradients."""
        return cast("_native.QueryPull", self._call("pull", documents))

    def rule(self, **documents: Any) -> _native.GradientRule:
        """Return the sums as a function of the scores, for boosting in native code."""
        return cast("_native.GradientRule", self._call("rule", documents))

    def _call(self, form: str, documents: Mapping[str, Any]) -> Any:
        return getattr(_native, f"{self.name}_{form}")(**documents, **self.arguments)


def even_lambda_kernel() -> LambdaKernel:
    """Return the kernel that gives every pair the same weight."""
    return NativeLambdas("even")


def neighbour_lambda_kernel(labels: Doubles, *, n_orders: int, seed: int) -> LambdaKernel:
    """Return the kernel of neighbours in random orders; differences of labels count in standard deviations."""
    largest = float(np.abs(labels).max())
    spread = float((labels / largest).std()) * largest  # squares of large labels would overflow
    return NativeLambdas("neighbour", {"scale": 1.0 / spread, "n_orders": n_orders, "seed": seed})


def linear_lambda_kernel(
    gains: Doubles, discounts: Doubles, query_factors: Doubles, groups: QueryGroups
) -> LambdaKernel:
    """Return the kernel of a metric that sums gain x discount, times one factor per query.

    Only differences of gains count, so gains are shifted and scaled to [0, 1] within each query: this keeps their
    precision in 32-bit floats.
    """
    scaled, ranges = scaled_gains(gains, groups)
    own = {"gains": scaled, "discounts": discounts, "query_factors": ranges * query_factors}
    return NativeLambdas("linear", own)


def scaled_gains(gains: Doubles, groups: QueryGroups) -> tuple[Floats, Doubles]:
    """Return gains shifted and scaled to [0, 1] within each query, and the range of each query's gains."""
    grouped, starts, query_of_row = gains[groups.rows], groups.offsets[:-1], groups.query_of_row
    lowest = np.minimum.reduceat(grouped, starts)
    ranges = np.maximum.reduceat(grouped, starts) - lowest
    scaled = (gains - lowest[query_of_row]) / np.where(ranges > 0, ranges, 1.0)[query_of_row]
    return scaled.astype(np.float32), ranges


@dataclass(frozen=True, eq=False)
class GivenLambdas:
    """A `LambdaKernel` of swap deltas that a Python function computes for one query after the other.

    The function takes the labels and the scores of a ranking, best first, and `truncation`. It returns the matrix
    of |change of the metric| by upper rank, at least down to `truncation`, and by lower rank.
    """

    deltas_of: Callable[[Doubles, Doubles, int | None], Doubles]

    def sums(
        self,
        *,
        offsets: Integers,
        order: Integers,
        scores: Doubles,
        labels: Doubles,
        truncation: int | None,
        n_threads: int,
        **options: Any,
    ) -> Sums:
        """Return gradient and hessian, in row order."""
        gradient, hessian = np.zeros(len(scores)), np.zeros(len(scores))
        for query in range(len(offsets) - 1):
            ranked = order[offsets[query] : offsets[query + 1]]
            gradient[ranked], hessian[ranked] = _native.given_lambdas(
                offsets=np.array([0, len(ranked)]),
                order=np.arange(len(ranked)),
                scores=scores[ranked],
                labels=labels[ranked],
                truncation=truncation,
                n_threads=n_threads,
                deltas=self.deltas_of(labels[ranked], scores[ranked], truncation),
                **_of_query(query, **options),
            )
        return gradient, hessian

    def pull(self, **documents: Any) -> Pull:
        """Return a function of a query's number and its documents' scores that gives their gradients."""
        return _pull(self, **documents)


@dataclass(frozen=True, eq=False)
class DoubleLambdas:
    """A `LambdaKernel` in double precision: the formulas as they stand, for one query after the other.

    Memory and time of a query are those of all its pairs.

    Parameters
    ----------
    metric
        The metric whose swap deltas weight the pairs; None: all are 1.
    """

    metric: RankingMetric | None

    def sums(
        self,
        *,
        offsets: Integers,
        order: Integers,
        scores: Doubles,
        labels: Doubles,
        query_weights: Doubles | None,
        n_threads: int,  # noqa: ARG002
        **options: Any,
    ) -> Sums:
        """Return gradient and hessian, in row order."""
        gradient, hessian = np.zeros(len(scores)), np.zeros(len(scores))
        for query in range(len(offsets) - 1):
            ranked = order[offsets[query] : offsets[query + 1]]
            weight = 1.0 if query_weights is None else query_weights[query]
            gradient[ranked], hessian[ranked] = self._of_query(labels[ranked], scores[ranked], **options)
            gradient[ranked] *= weight
            hessian[ranked] *= weight
        return gradient, hessian

    def pull(self, **documents: Any) -> Pull:
        """Return a function of a query's number and its documents' scores that gives their gradients."""
        return _pull(self, **documents)

    def _of_query(
        self, labels: Doubles, scores: Doubles, *, truncation: int | None, normalise: bool, sigma: float
    ) -> tuple[Doubles, Doubles]:
        """Return the sums of a query's documents, best first; row i and column j stand for the pair i above j."""
        with np.errstate(over="ignore"):  # a gap or its exp is infinite, and rho 0
            gaps = np.subtract.outer(scores, scores)
            rho = 1.0 / (1.0 + np.exp(sigma * gaps))
        deltas = np.ones_like(gaps) if self.metric is None else _checked_deltas(self.metric, labels)
        deltas = np.where(np.greater.outer(labels, labels), deltas, 0.0)
        if truncation is not None:
            deltas[truncation:, truncation:] = 0.0
        if normalise and scores[0] != scores[-1]:
            deltas /= 0.01 + np.abs(gaps)
        force, curve = deltas * rho, deltas * sigma * rho * rho.T  # 1 - rho, without cancellation
        gradient, hessian = force.sum(axis=1) - force.sum(axis=0), curve.sum(axis=1) + curve.sum(axis=0)
        total = 2.0 * force.sum()
        factor = np.log2(1.0 + total) / total if normalise and total > 0.0 else 1.0
        return gradient * factor, hessian * factor


def own_lambda_kernel(metric: RankingMetric) -> LambdaKernel:
    """Return the kernel of a metric that has its own `swap_deltas`."""

    def deltas_of(labels: Doubles, scores: Doubles, truncation: int | None) -> Doubles:  # noqa: ARG001
        return _checked_deltas(metric, labels)

    return GivenLambdas(deltas_of)


def _checked_deltas(metric: RankingMetric, labels: Doubles) -> Doubles:
    deltas = np.ascontiguousarray(metric.swap_deltas(labels), dtype=np.float64)
    if deltas.shape != (len(labels), len(labels)):
        raise InputError(
            f"{metric}: swap_deltas of {len(labels)} documents must have one row and one column per document, not "
            f"shape {deltas.shape}."
        )
    if not (np.isfinite(deltas) & (deltas >= 0)).all():
        raise InputError(f"{metric}: swap_deltas must be finite and not negative.")
    return deltas


def _pull(
    kernel: LambdaKernel, *, offsets: Integers, labels: Doubles, query_weights: Doubles | None, **options: Any
) -> Pull:
    """Return the pull of a kernel that computes the sums of one query after the other."""

    def of_query(query: int, scores: Doubles) -> Doubles:
        ranking = Ranking.of(scores, QueryGroups.of_one(len(scores)), n_jobs=1)
        return kernel.sums(
            offsets=ranking.groups.offsets,
            order=ranking.order,
            scores=scores,
            labels=labels[offsets[query] : offsets[query + 1]],
            query_weights=None if query_weights is None else query_weights[query : query + 1],
            n_threads=1,
            **options,
        )[0]

    return of_query


def _of_query(query: int, query_weights: Doubles | None, **options: Any) -> dict[str, Any]:
    """Return the options for a call with this query only."""
    return {"query_weights": None if query_weights is None else query_weights[query : query + 1], **options}
