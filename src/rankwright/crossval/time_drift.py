"""How the values of systems change from the first to the last fold in time order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.wording import difference, interval, metric_value, percent, plain
from rankwright.metrics.base import mean_over_queries
from rankwright.reports.blocks import Column, Figure, Interval, Kind, Table, Text
from rankwright.reports.result import Result
from rankwright.statistics.intervals import LEVEL
from rankwright.statistics.paired_tests import t_limit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart


@dataclass(frozen=True, eq=False, repr=False)
class TimeDrift(Result):
    """The values of systems by fold, in time order.

    Parameters
    ----------
    metric
        The metric.
    periods
        The times of each fold's test queries.
    values
        For each system, one array per fold, with one value per query.
    """

    metric: str
    periods: tuple[str, ...]
    values: Mapping[str, Sequence[Doubles]]

    def means(self, system: str) -> list[float]:
        """Return the mean over queries of each fold."""
        return [mean_over_queries(fold) for fold in self.values[system]]

    def change(self, system: str) -> Interval:
        """Return the last fold's mean minus the first one's, with its interval: the folds have other queries."""
        first, last = (fold[~np.isnan(fold)] for fold in (self.values[system][0], self.values[system][-1]))
        moved = mean_over_queries(last) - mean_over_queries(first)
        if min(len(first), len(last)) < 2:
            return Interval(moved, np.nan, np.nan)
        error = np.sqrt(first.var(ddof=1) / len(first) + last.var(ddof=1) / len(last))
        reach = float(t_limit(min(len(first), len(last)), LEVEL) * error)
        return Interval(moved, moved - reach, moved + reach)

    @property
    def summary(self) -> str:
        """The change of the first system, in one sentence."""
        system = next(iter(self.values))
        means, change = self.means(system), self.change(system)
        limits = (
            f", {percent(LEVEL)} interval {interval(change.low, change.high, signed=True)}"
            if np.isfinite(change.low)
            else ""
        )
        verdict = (
            "" if not np.isfinite(change.low) or change.low > 0 or change.high < 0 else ", which may be chance"
        )
        return (
            f"From the first fold ({self.periods[0]}) to the last ({self.periods[-1]}), the mean {self.metric} of "
            f"{system} goes from {metric_value(means[0])} to {metric_value(means[-1])} "
            f"({difference(change.value)}{limits}{verdict})."
        )

    def blocks(self) -> list[Block]:
        """Return the means of every fold, and the change from the first to the last."""
        columns = [Column("time", Kind.TEXT), Column("queries", Kind.COUNT), *map(Column, self.values)]
        counts = [len(fold) for fold in next(iter(self.values.values()))]
        means = [self.means(system) for system in self.values]
        rows: list[Sequence[Any]] = [
            [period, count, *values] for period, count, *values in zip(self.periods, counts, *means, strict=True)
        ]
        changes = [self.change(system) for system in self.values]
        change = Table(
            [Column("first to last fold", Kind.TEXT), Column("change", Kind.DIFFERENCE)],
            list(zip(self.values, changes, strict=True)),
            f"The change from the first to the last fold, with its {percent(LEVEL)} interval.",
        )
        meaning = (
            f"Mean {self.metric} by fold in time order; every fold is judged by fits on earlier queries only. "
            "Later folds learn from more queries, so a value that falls means that queries have become harder, or "
            "have changed: compare it with what learns nothing, such as a feature or the order of today."
        )
        figure = Figure(self.chart, f"Mean {self.metric} by fold, in time order.")
        return [Text(self.summary), figure, Table(columns, rows, meaning), change]

    def chart(self) -> Chart:
        """Return the means by fold, one line per system."""
        from rankwright.reports.charts.lines import line_chart

        lines = {
            system: [(float(fold), mean) for fold, mean in enumerate(self.means(system), start=1)]
            for system in self.values
        }
        return line_chart(lines, "fold", self.metric, description=self.summary)

    def to_dict(self) -> dict[str, Any]:
        """Return periods, means and changes as JSON values."""
        facts: dict[str, Any] = plain(
            {
                "metric": self.metric,
                "periods": self.periods,
                "means": {system: self.means(system) for system in self.values},
                "change": {system: self.change(system) for system in self.values},
            }
        )
        return facts
