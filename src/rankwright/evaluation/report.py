"""What was measured: a value for every system, metric and query; all else derives from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.errors import InputError
from rankwright.evaluation.comparison import Comparison, compare, mean_interval
from rankwright.metrics import mean_over_queries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.arrays import Doubles


@dataclass(frozen=True, eq=False)
class Report:
    """Values of metrics on every query; NaN where a query was left out.

    `empty` says, for each metric, in how many queries no ranking is better than another.
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    queries: tuple[Any, ...]
    values: Mapping[tuple[str, str], Doubles]
    empty: Mapping[str, int]
    convention: str

    def per_query(self, system: str, metric: str) -> Doubles:
        """Return the value of every query."""
        if (system, metric) not in self.values:
            raise InputError(
                f"The report has no {metric} of {system}; it has {', '.join(self.metrics)} "
                f"of {', '.join(self.systems)}."
            )
        return self.values[system, metric]

    def mean(self, system: str, metric: str) -> float:
        """Return the mean over queries."""
        return mean_over_queries(self.per_query(system, metric))

    def interval(self, system: str, metric: str) -> tuple[float, float]:
        """Return where the mean would lie for 95 of 100 other samples of such queries (bootstrap)."""
        return mean_interval(self.per_query(system, metric))

    def compare(self, one: str, other: str, metric: str) -> Comparison:
        """Test whether `one` is better than `other`, query by query."""
        return compare(self.per_query(one, metric), self.per_query(other, metric))

    def to_dict(self) -> dict[str, Any]:
        """Return means and counts as plain JSON."""
        means = {
            system: {metric: _number(self.mean(system, metric)) for metric in self.metrics}
            for system in self.systems
        }
        return {
            "convention": self.convention,
            "queries": len(self.queries),
            "empty_queries": dict(self.empty),
            "systems": means,
        }

    def __str__(self) -> str:
        width = max(map(len, self.systems))
        columns = {metric: max(14, len(metric) + 2) for metric in self.metrics}
        lines = [" " * width + "".join(f"{metric:>{column}}" for metric, column in columns.items())]
        for system in self.systems:
            means = "".join(f"{self.mean(system, metric):>{column}.4f}" for metric, column in columns.items())
            lines.append(f"{system:<{width}}{means}")
        return "\n".join([*lines, self.footnote()])

    def footnote(self) -> str:
        """Say how many queries there were, in how many all rankings are equal, and who counts so."""
        several = ", ".join(f"{count:,} ({metric})" for metric, count in self.empty.items())
        counts = set(self.empty.values())
        empty = f"{counts.pop():,}" if len(counts) == 1 else several
        return f"{len(self.queries):,} queries, {empty} of them empty; convention {self.convention}"


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value
