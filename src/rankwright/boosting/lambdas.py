"""The signal of LambdaMART: metric-weighted pairwise gradients (Wu, Burges, Svore & Gao 2010, section 3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankwright.data import Ranking
from rankwright.errors import InputError
from rankwright.threads import resolve_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.data import QueryGroups
    from rankwright.metrics import Metric
    from rankwright.metrics.lambdas import LambdaKernel

    Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
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
        Whose swap deltas weigh the pairs.
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

    metric: Metric
    labels: Doubles
    groups: QueryGroups
    truncation: int | None = field(default=None, kw_only=True)
    normalise: bool = field(default=True, kw_only=True)
    sigma: float = field(default=1.0, kw_only=True)
    query_weights: Doubles | None = field(default=None, kw_only=True)
    _kernel: LambdaKernel = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.truncation is not None and self.truncation < 1:
            raise InputError(f"truncation must be None or a whole number from 1, not {self.truncation!r}.")
        if not 0 < self.sigma < np.inf:
            raise InputError(f"sigma must be above 0, not {self.sigma!r}.")
        if self.query_weights is not None:
            _check_query_weights(self.query_weights, len(self.groups))
        object.__setattr__(self, "_kernel", self.metric.lambda_kernel(self.labels, self.groups))

    def __call__(self, scores: Doubles, *, n_threads: int | None = None) -> tuple[Doubles, Doubles]:
        """Return gradient and hessian, one a row. A hessian of zeros says that no pair has a delta.

        Each query's gradients sum to zero. Pairs are computed in single precision, so all is exact to about six
        digits of the query's largest gradient; the bytes are the same for any number of threads.
        """
        threads = resolve_threads(n_threads)
        ranking = Ranking.of(scores, self.groups, n_threads=threads)
        if not np.isfinite(ranking.scores).all():
            raise InputError("scores must be finite.")
        return self._kernel(
            offsets=self.groups.offsets,
            order=ranking.order,
            scores=ranking.scores,
            labels=self.labels,
            query_weights=self.query_weights,
            truncation=self.truncation,
            normalise=self.normalise,
            sigma=self.sigma,
            n_threads=threads,
        )


def _check_query_weights(weights: Doubles, n_queries: int) -> None:
    if weights.shape != (n_queries,):
        raise InputError(f"There are {n_queries} queries but query_weights of shape {weights.shape}.")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise InputError("query_weights must be finite and not below 0.")
