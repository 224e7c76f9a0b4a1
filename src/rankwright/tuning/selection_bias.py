"""Corrects the best setting's value for selection bias.

The choice is repeated on resampled queries and judged by the queries left out (bootstrap bias corrected
cross-validation: Tsamardinos, Greasidou & Borboudakis 2018). Nothing is fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.wording import counted, difference, interval, metric_value, percent, said_p_value
from rankwright.reports.blocks import Text
from rankwright.reports.result import Result
from rankwright.statistics.intervals import LEVEL, Rival, interval_of
from rankwright.statistics.paired_tests import compare_values
from rankwright.tuning.trials import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.tuning.trials import Trial

RESAMPLES = 2000
SIGNIFICANT = 0.05  # p-value below which the search clearly beats the ranker's own setting
BLOCK = 100  # resamples drawn together; limits memory


@dataclass(frozen=True, repr=False)
class Correction(Result):
    """The value of the best setting, corrected for selection bias.

    Parameters
    ----------
    metric
        The metric.
    chosen
        The best setting's value, on the queries that chose it.
    value, interval
        The value to expect of a setting chosen like this on queries that did not choose it, with its confidence
        interval.
    selection_bias
        The difference: `chosen - value`.
    settings, queries
        The number of complete trials, each of which has its own setting, and of the queries that judged.
    default
        The ranker's own setting on the same queries, which is free of selection bias, and how far a chosen setting
        is ahead of it; None if it was not tried.
    """

    metric: str
    chosen: float
    value: float
    interval: tuple[float, float]
    selection_bias: float
    settings: int
    queries: int
    default: Rival | None

    @property
    def summary(self) -> str:
        """The value to expect, and the bias of the best setting's value."""
        return (
            f"On new queries, expect a mean {self.metric} of {metric_value(self.value)} ({percent(LEVEL)} "
            f"interval {interval(*self.interval)}); {metric_value(self.selection_bias)} of the best setting's "
            f"{metric_value(self.chosen)} is selection bias, from choosing among "
            f"{counted(self.settings, 'complete trial')} on {counted(self.queries, 'query')}."
        )

    def blocks(self) -> Iterator[Text]:
        """Yield how the value compares with that of the ranker's own setting."""
        if self.default is None:
            return
        own = metric_value(self.default.value)
        if self.chosen == self.default.value:
            yield Text(f"No setting is better than the ranker's own, {own}.")
            return
        ahead, p = self.default.ahead, self.default.p_value
        verdict = "beats" if ahead > 0 and p < SIGNIFICANT else "does not clearly beat"
        yield Text(
            f"The search {verdict} the ranker's own setting, {own} on the same queries: {difference(ahead)} after "
            f"the correction, {said_p_value(p)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the correction as JSON values; null for unknown values."""
        facts = super().to_dict()
        # The key in JSON is older than the name of the field, and programs read it.
        return {("luck" if name == "selection_bias" else name): value for name, value in facts.items()}


def corrected(metric: str, trials: Sequence[Trial], best: Trial, baseline: Trial | None) -> Correction:
    """Return the value of the best trial, corrected for selection bias.

    Pruned trials take no part: they were clearly worse on the queries that they saw.
    """
    table = np.array([each.values for each in trials if each.state == COMPLETE and each.values is not None])
    judging = ~np.any(np.isnan(table), axis=0)
    winner = np.full(len(judging), np.nan) if best.values is None else best.values
    expected = np.full(len(judging), np.nan)
    expected[judging] = out_of_bag(table[:, judging])
    bias = _mean(winner[judging]) - _mean(expected[judging]) if len(table) > 1 else 0.0
    value = best.value - bias
    gain = value - _mean(expected[judging])  # parts of different size count alike, queries do not
    default = None if baseline is None else _default(baseline, best, value, expected)
    limits = interval_of(expected, 0.0 if np.isnan(gain) else gain)
    return Correction(metric, best.value, value, limits, bias, len(table), int(judging.sum()), default)


def out_of_bag(table: Doubles, *, resamples: int = RESAMPLES, random_state: int = 0) -> Doubles:
    """Return, for every query, the mean value of the settings that resamples without the query choose.

    `table` has one row per setting and one column per query. A resample draws as many queries as there are, with
    replacement, and chooses the setting with the highest mean; between equals, the first.
    """
    n_queries = table.shape[1]
    random = np.random.default_rng(random_state)
    total, times = np.zeros(n_queries), np.zeros(n_queries)
    if n_queries < 2:
        return np.full(n_queries, np.nan)
    for _ in range(0, resamples, BLOCK):
        drawn = random.multinomial(n_queries, np.full(n_queries, 1 / n_queries), size=BLOCK)
        chosen = np.round(drawn @ table.T, 9).argmax(axis=1)
        left_out = drawn == 0
        total += np.where(left_out, table[chosen], 0.0).sum(axis=0)
        times += left_out.sum(axis=0)
    return total / times


def _default(baseline: Trial, best: Trial, value: float, expected: Doubles) -> Rival:
    """Return the ranker's own setting beside one chosen without the judging query."""
    if best.number == baseline.number:
        return Rival("the ranker's own setting", baseline.value, 0.0, 1.0)
    if baseline.values is None or np.isnan(expected - baseline.values).all():
        return Rival("the ranker's own setting", baseline.value, np.nan, np.nan)
    p_value = compare_values(expected, baseline.values).p_value
    return Rival("the ranker's own setting", baseline.value, value - baseline.value, p_value)


def _mean(values: Doubles) -> float:
    return float(values.mean()) if len(values) else float("nan")
