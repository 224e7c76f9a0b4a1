"""How much of the best setting's value is luck: the more settings are compared, the more the winner's value is.

The choice is repeated on resampled queries and judged by the queries left out (bootstrap bias corrected
cross-validation: Tsamardinos, Greasidou & Borboudakis 2018). Nothing is fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.wording import counted, said_p_value
from rankwright.statistics.intervals import LEVEL, Rival, interval_of, without_nan
from rankwright.statistics.paired_tests import compare_values
from rankwright.tuning.trials import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.tuning.trials import Trial

RESAMPLES = 2000
SIGNIFICANT = 0.05  # p-value below which the search clearly beats the ranker's own setting
BLOCK = 100  # resamples drawn together; limits memory


@dataclass(frozen=True)
class Correction:
    """The winner's value without the luck of having been chosen.

    Parameters
    ----------
    metric
        The metric.
    chosen
        The winner's value, on the queries that chose it.
    value, interval
        The value to expect of a setting chosen like this on queries that did not choose it, with its confidence
        interval.
    luck
        The difference: `chosen - value`.
    settings, queries
        The number of complete trials, each of which has its own setting, and of the queries that judged.
    default
        The ranker's own setting on the same queries, which nothing has chosen, and how far a chosen setting is
        ahead of it; None if it was not tried.
    """

    metric: str
    chosen: float
    value: float
    interval: tuple[float, float]
    luck: float
    settings: int
    queries: int
    default: Rival | None

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.metric} {self.value:.4f} on new queries, {LEVEL:.0%} interval {low:.4f} to {high:.4f}; "
            f"{self.luck:.4f} of the winner's {self.chosen:.4f} is luck of choosing from "
            f"{counted(self.settings, 'complete trial')} on {counted(self.queries, 'query')}"
        )

    def sentences(self) -> Iterator[str]:
        """Yield the winner's value without luck, and how it compares with the ranker's own setting."""
        yield f"Expected: {self}."
        if self.default is None:
            return
        value, ahead, p = self.default.value, self.default.ahead, self.default.p_value
        if self.chosen == value:
            yield f"No setting is better than the ranker's own, {value:.4f}."
            return
        verdict = "beats" if ahead > 0 and p < SIGNIFICANT else "does not clearly beat"
        yield (
            f"The search {verdict} the ranker's own setting, {value:.4f} on the same queries: {ahead:+.4f} "
            f"without luck, {said_p_value(p)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the correction as plain JSON; null for what no query tells."""
        rival = None if self.default is None else vars(self.default)
        facts: dict[str, Any] = without_nan({**vars(self), "default": rival})
        return facts


def corrected(metric: str, trials: Sequence[Trial], best: Trial, baseline: Trial | None) -> Correction:
    """Return the value of the best trial without the luck of choosing it.

    Pruned trials take no part: they were clearly worse on the queries that they saw.
    """
    rivals = [one.values for one in trials if one.state == COMPLETE and one.values is not None]
    table = np.array(rivals)
    judging = ~np.any(np.isnan(table), axis=0)
    winner = np.full(len(judging), np.nan) if best.values is None else best.values
    expected = np.full(len(judging), np.nan)
    expected[judging] = out_of_bag(table[:, judging])
    luck = _mean(winner[judging]) - _mean(expected[judging]) if len(table) > 1 else 0.0
    value = best.value - luck
    gain = value - _mean(expected[judging])  # parts of different size count alike, queries do not
    default = None if baseline is None else _default(baseline, best, value, expected)
    interval = interval_of(expected, 0.0 if np.isnan(gain) else gain)
    return Correction(metric, best.value, value, interval, luck, len(table), int(judging.sum()), default)


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
    found = compare_values(expected, baseline.values)
    return Rival("the ranker's own setting", baseline.value, value - baseline.value, found.p_value)


def _mean(values: Doubles) -> float:
    return float(values.mean()) if len(values) else float("nan")
