"""Gradients of LambdaMART and LambdaRank: pairwise, weighted by the metric (Wu et al. 2010, section 3)."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.resources import resolve_threads
from rankwright.data.dataset import checked_labels
from rankwright.data.groups import Ranking
from rankwright.metrics.lambdas import DoubleLambdas, NativeLambdas, even_lambda_kernel
from rankwright.rankers.parameters.checks import Flag, Integer
from rankwright.rankers.parameters.declaration import MetricParameter, Parameters, parameter
from rankwright.rankers.shared.click_lambdas import ClickLambdas

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rankwright import _native
    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups
    from rankwright.metrics.base import Metric
    from rankwright.metrics.protocols import LambdaKernel, Pull
    from rankwright.training.fit_task import Exposure
    from rankwright.training.training_set import QueryLabels


DOUBLE_PAIRS = 20_000  # more take hundreds of milliseconds per round in double precision


class LambdaGradients:
    """Gradients and hessians of scores: sums over pairs of a query's documents with different labels.

    With label_i > label_j, and |delta| the change of the metric if the two documents are swapped:

        rho = 1 / (1 + exp(sigma (score_i - score_j)))
        gradient_i += |delta| rho, gradient_j -= |delta| rho
        hessian_i, hessian_j += |delta| sigma rho (1 - rho)

    A positive gradient means that the score should rise.

    Parameters
    ----------
    metric
        The metric whose swap deltas weight the pairs; None: every |delta| is 1.
    labels, groups
        The documents; everything that does not depend on scores is computed once, by the constructor.
    truncation
        Only pairs with at least one document among this many first ranks count; None: all pairs. The cost of a
        query is its number of documents times this number, or times the cut-off of the metric if that is smaller.
    normalise
        Limit the weight of queries with many pairs, as LightGBM does: |delta| is divided by
        .01 + |score_i - score_j| unless all scores of the query are equal; then the query's sums are multiplied by
        log2(1 + S) / S, where S is twice the sum of |delta| rho over its pairs.
    sigma
        The slope of the logistic function.
    query_weights
        One factor per query, applied last.
    double
        Whether pairs are computed in double precision, one query after the other; otherwise in single precision.
    kernel
        Computes the sums instead, as `neighbour_lambda_kernel` does; None: that of the metric.
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
        double: bool = False,
        kernel: LambdaKernel | None = None,
    ) -> None:
        Integer(1, optional=True).require("truncation", truncation)
        self._labels, self._groups = checked_labels(labels, groups.n_rows), groups
        self._arguments: dict[str, Any] = {
            "offsets": groups.offsets,
            "labels": self._labels,
            "query_weights": None if query_weights is None else _checked_weights(query_weights, len(groups)),
            "truncation": truncation and min(truncation, int(groups.sizes.max(initial=1))),
            "normalise": normalise,
            "sigma": sigma,
        }
        self._kernel = kernel or (DoubleLambdas(metric) if double else _kernel(metric, self._labels, groups))
        if not 0 < sigma < np.inf:
            raise InputError(f"sigma must be above 0, not {sigma!r}.")

    def __call__(self, scores: ArrayLike, *, n_threads: int | None = None) -> tuple[Doubles, Doubles]:
        """Return gradient and hessian, one of each per row. All hessians are 0 if all deltas are 0.

        The gradients of each query sum to zero. In single precision, errors are about 1e-4 of the query's largest
        gradient. The result does not depend on the number of threads.
        """
        threads = resolve_threads(n_threads)
        ranking = Ranking.of(scores, self._groups, n_jobs=threads)
        if not np.isfinite(ranking.scores).all():
            raise InputError("scores must be finite.")
        return self._kernel.sums(order=ranking.order, scores=ranking.scores, n_threads=threads, **self._arguments)

    def native_rule(self, row_weights: Doubles | None) -> _native.GradientRule | None:
        """Return the gradients, times the weights, in native code; None if only Python computes them."""
        if not isinstance(self._kernel, NativeLambdas):
            return None
        return self._kernel.rule(rows=self._groups.rows, row_weights=row_weights, **self._arguments)

    def pull(self) -> Pull:
        """Return a function of a query's number and its documents' scores that gives their gradients.

        The rows of a query must be adjacent, and queries in order.
        """
        return self._kernel.pull(**self._arguments)


class LambdaParameters(Parameters):
    """How lambdas are computed from pairs of documents."""

    if TYPE_CHECKING:
        metric: MetricParameter  # of the ranker

    normalise: bool = parameter(
        Flag(),
        "Whether the lambdas of queries with many pairs, and of pairs far apart in score, are made smaller, as in "
        "LightGBM. False: the lambdas of the paper.",
        default=True,
    )
    cut_lambdas: bool = parameter(
        Flag(),
        "Whether the metric's cut-off applies in the lambdas too, as in the paper: two documents that are both "
        "below it then do not count as a pair.",
        default=False,
    )

    double_lambdas: bool | None = parameter(
        Flag(optional=True),
        "Whether lambdas are computed in double precision, which is many times slower. None: for training data "
        f"with at most {DOUBLE_PAIRS:,} pairs of documents.",
        default=False,
    )

    def _gradients(self, judged: QueryLabels, truncation: int | None = None) -> LambdaGradients:
        """Return the lambdas of judged documents."""
        metric = self.metric if self.cut_lambdas else without_cut(self.metric)
        few = bool((judged.groups.sizes**2).sum() <= 2 * DOUBLE_PAIRS)
        double = few if self.double_lambdas is None else self.double_lambdas
        return LambdaGradients(metric, *judged, truncation=truncation, normalise=self.normalise, double=double)

    def _click_lambdas(self, judged: QueryLabels, exposure: Exposure, truncation: int | None) -> ClickLambdas:
        """Return the lambdas of clicks, corrected for position bias."""
        metric = self.metric if self.cut_lambdas else without_cut(self.metric)
        return ClickLambdas(metric, judged, exposure, truncation=truncation, normalise=self.normalise)

    def _check_together(self) -> None:
        super()._check_together()
        if self.cut_lambdas and without_cut(self.metric) == self.metric:
            raise InputError(f"cut_lambdas=True changes nothing: {self.metric} has no cut-off to leave out.")


def without_cut(metric: Metric) -> Metric:
    """Return the metric without its cut-off, if that is optional: `truncation` then limits the pairs."""
    optional = any(option.name == "k" and option.default is None for option in fields(metric))
    return metric.with_options(k=None) if optional else metric


def _kernel(metric: Metric | None, labels: Doubles, groups: QueryGroups) -> LambdaKernel:
    return even_lambda_kernel() if metric is None else metric.lambda_kernel(labels, groups)


def _checked_weights(query_weights: ArrayLike, n_queries: int) -> Doubles:
    weights = np.ascontiguousarray(query_weights, dtype=np.float64)
    if weights.shape != (n_queries,):
        raise InputError(f"There are {n_queries} queries but query_weights of shape {weights.shape}.")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise InputError("query_weights must be finite and not negative.")
    return weights
