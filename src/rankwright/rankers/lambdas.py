"""The gradients of LambdaMART and LambdaRank: pairwise, weighted by the metric (Wu et al. 2010, section 3)."""

from __future__ import annotations

from dataclasses import fields
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.data import Ranking
from rankwright.data.dataset import checked_labels
from rankwright.errors import InputError
from rankwright.metrics.lambdas import even_lambda_kernel
from rankwright.threads import resolve_threads

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rankwright.arrays import Doubles
    from rankwright.data import QueryGroups
    from rankwright.metrics import Metric
    from rankwright.metrics.lambdas import Pull


class LambdaGradients:
    """How far, and which way, each pair of a query's documents with different labels wants to move their scores.

    With label_i > label_j, and |delta| the change of the metric if the two traded ranks:

        rho = 1 / (1 + exp(sigma (score_i - score_j)))
        gradient_i += |delta| rho, gradient_j -= |delta| rho
        hessian_i, hessian_j += |delta| sigma rho (1 - rho)

    A positive gradient says that the score should rise.

    Parameters
    ----------
    metric
        Whose swap deltas weigh the pairs; None: every |delta| is 1.
    labels, groups
        The documents; all that does not depend on scores is computed here, once.
    truncation
        Only pairs with a document among so many first ranks count; None: all. The cost of a query is its length
        times this, or times the metric's own cut-off where that is smaller.
    normalise
        Keep queries with many pairs from drowning the others, as LightGBM does: |delta| is divided by
        .01 + |score_i - score_j| unless all scores of the query are equal, and then the query's sums are
        multiplied by log2(1 + S) / S, where S is twice the sum of |delta| rho over its pairs.
    sigma
        The slope of the logistic function.
    query_weights
        A factor for each query, applied last.
    """

    def __init__(
        self,
        metric: Metric | None,
        labels: ArrayLike,
        groups: QueryGroups,
        *,
        truncation: int | None = None,
        normalise: bool = True,
        sigma: float = 1.0,
        query_weights: ArrayLike | None = None,
    ) -> None:
        self._labels, self._groups = checked_labels(labels, groups.n_rows), groups
        self._arguments: dict[str, Any] = {
            "offsets": groups.offsets,
            "labels": self._labels,
            "query_weights": None if query_weights is None else _checked_weights(query_weights, len(groups)),
            "truncation": _checked_truncation(truncation, int(groups.sizes.max(initial=1))),
            "normalise": normalise,
            "sigma": sigma,
        }
        self._kernel = even_lambda_kernel() if metric is None else metric.lambda_kernel(self._labels, groups)
        if not 0 < sigma < np.inf:
            raise InputError(f"sigma must be above 0, not {sigma!r}.")

    def __call__(self, scores: ArrayLike, *, n_threads: int | None = None) -> tuple[Doubles, Doubles]:
        """Return gradient and hessian, one a row. A hessian of zeros says that no pair has a delta.

        Each query's gradients sum to zero. Pairs are computed in single precision: expect about four digits of
        the query's largest gradient. The bytes are the same for any number of threads.
        """
        threads = resolve_threads(n_threads)
        ranking = Ranking.of(scores, self._groups, n_jobs=threads)
        if not np.isfinite(ranking.scores).all():
            raise InputError("scores must be finite.")
        return self._kernel.sums(order=ranking.order, scores=ranking.scores, n_threads=threads, **self._arguments)

    def pull(self) -> Pull:
        """Return the gradient of one query's documents, as a function of the query's number and their scores.

        The rows of a query must be adjacent, and queries in order.
        """
        return self._kernel.pull(**self._arguments)


def without_cut(metric: Metric) -> Metric:
    """Return the metric over all ranks, where it can be; `truncation` says which pairs count."""
    optional = any(one.name == "k" and one.default is None for one in fields(metric))
    return metric.with_options(k=None) if optional else metric


def _checked_truncation(truncation: int | None, longest: int) -> int | None:
    """Return the truncation, or the length of the longest query where that says the same."""
    try:
        if truncation is None:
            return None
        if index(truncation) >= 1 and truncation is not True:
            return min(truncation, longest)
    except TypeError:
        pass
    raise InputError(f"truncation must be None or a whole number from 1, not {truncation!r}.")


def _checked_weights(query_weights: ArrayLike, n_queries: int) -> Doubles:
    weights = np.ascontiguousarray(query_weights, dtype=np.float64)
    if weights.shape != (n_queries,):
        raise InputError(f"There are {n_queries} queries but query_weights of shape {weights.shape}.")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise InputError("query_weights must be finite and not below 0.")
    return weights
