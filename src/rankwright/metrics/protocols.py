"""What training needs of a metric: pairwise gradients and sweeps over a weight, whatever computes them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.groups import QueryGroups, Ranking

    Sums = tuple[Doubles, Doubles]
    Pull = Callable[[int, Doubles], Doubles]


class RankingMetric(Hashable, Protocol):
    """The part of `Metric` from which gradients, sweeps and means over ties are computed."""

    @property
    def has_batch_form(self) -> bool: ...

    @property
    def has_kernel(self) -> bool: ...

    def of_ranking(self, labels: Doubles) -> float: ...

    def of_rankings(self, rankings: Doubles) -> Doubles: ...

    def swap_deltas(self, labels: Doubles) -> Doubles: ...

    def rows_by_ties(self, labels: Doubles, groups: QueryGroups) -> tuple[Integers, bool]: ...

    def per_query_with_empty(
        self, labels: ArrayLike, ranking: Ranking, *, n_jobs: int | None = None
    ) -> Doubles: ...


class LambdaKernel(Protocol):
    """The pairwise gradients of one metric, for documents with given labels."""

    def sums(
        self,
        *,
        offsets: Integers,
        order: Integers,
        scores: Doubles,
        labels: Doubles,
        query_weights: Doubles | None,
        truncation: int | None,
        normalise: bool,
        sigma: float,
        n_threads: int,
    ) -> Sums:
        """Return gradient and hessian, in row order, of documents ranked by `sort_within_queries`."""

    def pull(
        self,
        *,
        offsets: Integers,
        labels: Doubles,
        query_weights: Doubles | None,
        truncation: int | None,
        normalise: bool,
        sigma: float,
    ) -> Pull:
        """Return a function of a query's number and its documents' scores that gives their gradients.

        The rows of a query must be adjacent, and queries in order.
        """


class Sweep(NamedTuple):
    """The value of each query just above the lowest alpha (NaN if it is empty), and the changes of their sum.

    `alphas` are ascending. Just above `alphas[i]` the sum differs from that of `starts` by `changes[i]`.
    """

    starts: Doubles
    alphas: Doubles
    changes: Doubles


class SweepKernel(Protocol):
    """Evaluates one metric on fixed labels for every alpha in the open interval from `low` to `high`."""

    def __call__(self, s: Doubles, t: Doubles, *, low: float, high: float, n_threads: int) -> Sweep:
        """Return the sweep of s + alpha t; both columns of scores must be finite."""
