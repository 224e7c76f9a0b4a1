"""Lambdas of clicks: pairs of a clicked and an unclicked document of a list, weighted against position bias.

With |delta|, rho and the limits of `LambdaGradients`, the pair of a clicked document i and an unclicked one j
counts w_i v_j times:

- Inverse propensity weights (Joachims, Swaminathan & Schnabel 2017; Wang et al. 2018): w is 1 / propensity, at
  most 20, and v is 1.
- Unbiased LambdaMART (Hu, Wang, Peng & Li 2019): w is 1 / t+ and v is 1 / t- of the positions. Both are estimated
  in turn with the ranker (equations 30 and 31): with loss_ij = |delta| log(1 + exp(score_j - score_i)),

      t+_k = (sum of loss_ij / t-_j over pairs with i at k, divided by the same sum at position 1) ^ (1 / (1 + p))
      t-_k = (sum of loss_ij / t+_i over pairs with j at k, divided by the same sum at position 1) ^ (1 / (1 + p))

  p is 0, as in the paper's experiments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.groups import Ranking
from rankwright.metrics.lambdas import NativeLambdas

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Integers
    from rankwright.metrics.base import Metric
    from rankwright.training.fit_task import Exposure
    from rankwright.training.training_set import QueryLabels

LEAST_BIAS = 0.05  # weights are at most 20, and those of a pair 400


class ClickPairs(NamedTuple):
    """All pairs of a clicked and an unclicked row of one list, and the number of the list."""

    clicked: Integers
    unclicked: Integers
    query: Integers

    @classmethod
    def of(cls, judged: QueryLabels) -> ClickPairs:
        """Return the pairs, list by list."""
        query_of_row, rows = judged.groups.query_of_row, judged.groups.rows
        clicked, unclicked = rows[judged.y[rows] > 0], rows[judged.y[rows] == 0]
        counts = np.bincount(query_of_row[unclicked], minlength=len(judged.groups))
        begins = np.cumsum(counts) - counts
        partners = counts[query_of_row[clicked]]
        first = np.repeat(begins[query_of_row[clicked]], partners)
        within = np.arange(len(first)) - np.repeat(np.cumsum(partners) - partners, partners)
        above = np.repeat(clicked, partners)
        return cls(above, unclicked[first + within], query_of_row[above])


class ClickLambdas:
    """Gradients and hessians of scores, as those of `LambdaGradients`; weights act after its normalisation.

    Parameters
    ----------
    metric
        A metric that sums gains times discounts, such as NDCG.
    judged
        Clicks, 0 or 1, and the lists.
    exposure
        The positions, whose bias is estimated from call to call, or the propensities of the documents.
    truncation, normalise
        As those of `LambdaGradients`.
    """

    def __init__(
        self, metric: Metric, judged: QueryLabels, exposure: Exposure, *, truncation: int | None, normalise: bool
    ) -> None:
        kernel = metric.lambda_kernel(*judged)
        if not isinstance(kernel, NativeLambdas) or kernel.name != "linear":
            raise InputError(f"Clicks with positions need a metric such as ndcg@10, not {metric}.")
        self._groups, self._pairs = judged.groups, ClickPairs.of(judged)
        self._discounts = np.append(kernel.arguments["discounts"], 0.0)  # ranks after the last have none
        self._factors = kernel.arguments["query_factors"][self._pairs.query]
        self._truncation, self._normalise = truncation, normalise
        self.bias: tuple[Doubles, Doubles] | None = None
        if exposure.position is None:
            self._pair_weights = click_weights(exposure)[self._pairs.clicked]
        else:
            self._positions = exposure.position[self._pairs.clicked], exposure.position[self._pairs.unclicked]
            last = int(exposure.position.max()) + 1
            self.bias = np.ones(last), np.ones(last)

    def __call__(self, scores: Doubles, *, n_threads: int | None = None) -> tuple[Doubles, Doubles]:
        """Return gradient and hessian, one of each per row; then estimate the bias anew."""
        ranking = Ranking.of(scores, self._groups, n_jobs=n_threads)
        deltas = self._deltas(ranking.ranks())
        clicked, unclicked, _ = self._pairs
        gaps = scores[clicked] - scores[unclicked]
        losses = deltas * np.logaddexp(0.0, -gaps)
        with np.errstate(over="ignore"):  # of exp; rho is 0
            rho = 1.0 / (1.0 + np.exp(gaps))
        if self._normalise:
            deltas = deltas * self._normalised(scores, gaps, deltas, rho)
        weighted = deltas * self._weights()
        force, curve = weighted * rho, weighted * rho * (1.0 - rho)
        n_rows = len(scores)
        gradient = sums(clicked, force, n_rows) - sums(unclicked, force, n_rows)
        hessian = sums(clicked, curve, n_rows) + sums(unclicked, curve, n_rows)
        self._estimate(losses)
        return gradient, hessian

    def native_rule(self, row_weights: Doubles | None) -> None:
        """Return None: the bias is estimated in Python, so the rounds are those of the loop there."""

    def _deltas(self, ranks: Integers) -> Doubles:
        """Return the change of the metric if each pair is swapped."""
        discount = self._discounts[np.minimum(ranks, len(self._discounts)) - 1]
        clicked, unclicked, _ = self._pairs
        deltas = self._factors * np.abs(discount[clicked] - discount[unclicked])
        if self._truncation is not None:
            deltas = deltas * (np.minimum(ranks[clicked], ranks[unclicked]) <= self._truncation)
        return np.asarray(deltas)

    def _normalised(self, scores: Doubles, gaps: Doubles, deltas: Doubles, rho: Doubles) -> Doubles:
        """Return the factor of each pair that limits lists with many pairs."""
        query, groups = self._pairs.query, self._groups
        spread = groups.reduce(np.maximum, scores) - groups.reduce(np.minimum, scores)
        factors = np.where(spread[query] > 0.0, 1.0 / (0.01 + np.abs(gaps)), 1.0)
        total = 2.0 * sums(query, deltas * factors * rho, len(groups))
        of_list = np.where(total > 0.0, np.log2(1.0 + total) / np.where(total > 0.0, total, 1.0), 1.0)
        return np.asarray(factors * of_list[query])

    def _weights(self) -> Doubles:
        """Return w_i v_j of each pair."""
        if self.bias is None:
            return self._pair_weights
        above, below = self.bias
        return np.asarray(1.0 / (above[self._positions[0]] * below[self._positions[1]]))

    def _estimate(self, losses: Doubles) -> None:
        """Estimate t+ and t- by the losses of pairs at these scores."""
        if self.bias is None:
            return
        (above, below), (at_clicked, at_unclicked) = self.bias, self._positions
        self.bias = (
            _relative(sums(at_clicked, losses / below[at_unclicked], len(above))),
            _relative(sums(at_unclicked, losses / above[at_clicked], len(below))),
        )


def click_weights(exposure: Exposure) -> Doubles:
    """Return the inverse propensity weight of each document."""
    assert exposure.propensity is not None
    return np.asarray(1.0 / np.maximum(exposure.propensity, LEAST_BIAS))


def sums(numbers: Integers, values: Doubles, length: int) -> Doubles:
    """Return the sum of the values of each number, from 0."""
    return np.asarray(np.bincount(numbers, values, length), dtype=np.float64)


def _relative(losses: Doubles) -> Doubles:
    """Return losses by position relative to the first; ones if that has none."""
    if not losses[1] > 0.0:
        return np.ones_like(losses)
    return np.asarray(np.maximum(losses / losses[1], LEAST_BIAS))
