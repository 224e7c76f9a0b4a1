"""The best alpha of s + alpha t, exactly (Wu, Burges, Svore & Gao 2010, section 4)."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.ensembling.metric_curve import SAME, MetricCurve, alphas_within, odds_within
from rankwright.ensembling.mixtures import weighted_sum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups
    from rankwright.metrics.base import Metric


class LineSearch:
    """Finds the best weight of one column of scores in a sum with another, for a metric and judged documents."""

    def __init__(self, metric: Metric, labels: Doubles, groups: QueryGroups, *, n_threads: int) -> None:
        self.metric, self._labels, self._groups, self._n_threads = metric, labels, groups, n_threads
        self._sweep = metric.sweep_kernel(labels, groups)

    def value(self, scores: Doubles) -> float:
        """Return the mean of the metric over queries."""
        return self.metric.mean(self._labels, scores, self._groups, n_jobs=self._n_threads)

    def is_better(self, value: float, other: float) -> bool:
        """Return whether a value is higher than another by more than rounding."""
        return value > other + SAME

    def curve(self, s: Doubles, t: Doubles, *, low: float, high: float) -> MetricCurve:
        """Return the mean of the metric of s + alpha t over queries, for every alpha from `low` to `high`."""
        swept = self._sweep(s, t, low=low, high=high, n_threads=self._n_threads)
        starts = self.metric.count_empty(swept.starts)
        counted = starts[~np.isnan(starts)]
        if not len(counted):
            raise InputError(f"There is nothing to choose by: no query counts for {self.metric}.")
        with np.errstate(over="ignore"):
            finite = np.isfinite([np.abs(counted).sum(), np.abs(swept.changes).max(initial=0.0)]).all()
        if not finite:
            raise InputError(f"{self.metric} must be a finite number for every ranking, but for some it is not.")
        values = (fsum(counted.tolist()) + np.append(0.0, swept.changes)) / len(counted)
        return MetricCurve(np.concatenate([[low], swept.alphas, [high]]), values)

    def settle(
        self, curve: MetricCurve, scores_at: Callable[[float], Doubles], *, odds: bool = False
    ) -> tuple[float, float]:
        """Return an alpha, or `odds`, within the curve's best interval, and the metric of the scores there.

        A value above the interval's is rejected: it comes from documents that tie at exactly that alpha.
        """
        low, high, expected = curve.best(odds=odds)
        best = (0.0, -np.inf)
        for alpha in odds_within(low, high) if odds else alphas_within(low, high):
            value = self.value(scores_at(alpha))
            if abs(value - expected) <= SAME:
                return alpha, value
            if value > best[1]:
                best = alpha, value
        return best


class Refined(NamedTuple):
    """Weights of columns, and the metric of their weighted sum."""

    weights: Doubles
    value: float


def refined_in_turn(
    search: LineSearch,
    columns: Sequence[Doubles],
    weights: Iterable[float],
    *,
    turns: Sequence[int],
    low: float,
    high: float,
    on_step: Callable[[float], None] | None = None,
) -> Refined:
    """Set each weight in turn to its best value while the others are fixed, until a pass improves nothing.

    No step lowers the metric, so the search ends, but not necessarily at the best weights (last paragraph of the
    section). `turns` lists the columns whose weights may change, in order. `on_step` is called with the metric
    after each step.
    """
    best = Refined(np.array(list(weights), dtype=np.float64), -np.inf)
    best = best._replace(value=search.value(weighted_sum(columns, best.weights)))
    before = -np.inf
    while search.is_better(best.value, before):
        before = best.value
        for turn in turns:
            others = [column for number, column in enumerate(columns) if number != turn]
            rest = weighted_sum(others, np.delete(best.weights, turn))
            if rest.any():  # alone, a column ranks the same with every weight
                best = _improved(search, best, turn, rest, columns[turn], low, high)
            if on_step is not None:
                on_step(best.value)
    return best


def _improved(
    search: LineSearch, best: Refined, turn: int, rest: Doubles, column: Doubles, low: float, high: float
) -> Refined:
    curve = search.curve(rest, column, low=low, high=high)
    candidates = [search.settle(curve, lambda alpha: rest + alpha * column)]
    if low <= 0.0 <= high:  # without the column, ties of the rest remain ties
        candidates.insert(0, (0.0, search.value(rest)))
    for alpha, value in candidates:
        if search.is_better(value, best.value):
            weights = best.weights.copy()
            weights[turn] = alpha
            best = Refined(weights, value)
    return best
