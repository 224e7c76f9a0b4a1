"""Systems compared by one metric: means with intervals and the tests of all pairs, on all queries or by slices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.wording import counted, metric_value, percent, said_p_value
from rankwright.evaluation.slices import MEANINGS
from rankwright.statistics.paired_tests import RANDOMISATION

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.reports.charts.chart import Chart
    from rankwright.statistics.paired_tests import PairComparison, PairedTests

MOST_PAIRS = 45  # listed in a table: all pairs of ten systems


@dataclass(frozen=True, eq=False)
class Compared:
    """Systems compared by one metric on some queries; `means` and `intervals` have one row per system."""

    metric: str
    level: float
    baseline: str | None
    means: Doubles
    intervals: Doubles
    pairs: PairedTests

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return self.pairs.systems

    @property
    def n_queries(self) -> int:
        """Number of queries for which all systems have a value."""
        return self.pairs.n_queries

    def ranked(self) -> list[str]:
        """Return the systems, the highest mean first."""
        return [self.systems[number] for number in np.argsort(-self.means, kind="stable")]

    def mean(self, system: str) -> float:
        """Return the mean over queries."""
        return float(self.means[self.systems.index(system)])

    def interval(self, system: str) -> tuple[float, float]:
        """Return the bootstrap interval of the mean over queries."""
        low, high = self.intervals[self.systems.index(system)].tolist()
        return low, high

    def is_significant(self, pair: PairComparison) -> bool:
        """Return whether the corrected p-value of a pair is below 1 - level."""
        return pair.corrected[RANDOMISATION] < 1.0 - self.level

    def leading_pair(self) -> PairComparison:
        """Return the comparison of the best system with the next one or, if there is a baseline, with that."""
        best, second, *_ = self.ranked()
        return self.pairs.pair(best, second if self.baseline in (None, best) else self.baseline)

    @property
    def reference(self) -> str:
        """The baseline or, without any, the best system."""
        return self.baseline or self.ranked()[0]

    def against_reference(self) -> list[PairComparison]:
        """Return the comparison of every other system with the reference, the best system first."""
        return [self.pairs.pair(name, self.reference) for name in self.ranked() if name != self.reference]

    def listed_pairs(self) -> list[PairComparison]:
        """Return the pairs to list, better system first: all, or those with the best one if there are too many."""
        ranked = self.ranked()
        if self.baseline is not None:
            return self.against_reference()
        if len(self.pairs) > MOST_PAIRS:
            return [self.pairs.pair(ranked[0], name) for name in ranked[1 : MOST_PAIRS + 1]]
        return [self.pairs.pair(name, other) for rank, name in enumerate(ranked) for other in ranked[rank + 1 :]]

    @property
    def summary(self) -> str:
        """The main result in a sentence: the best system against the next, or against the baseline."""
        pair = self.leading_pair()
        if self.n_queries == 1:
            values = " and ".join(f"{name} {metric_value(self.mean(name))}" for name in (pair.system, pair.other))
            return f"There is only one query, so no test is possible; {self.metric}: {values}."
        others = self._significant_others()
        if pair.equal == self.n_queries:
            return f"{pair.system} and {pair.other} have the same {self.metric} on every query{others}."
        chance = said_p_value(pair.corrected[RANDOMISATION]) + (" (Holm)" if len(self.pairs) > 1 else "")
        amount = f"by {metric_value(pair.difference)} {self.metric}"
        if self.is_significant(pair):
            finding = f"{pair.system} beats {pair.other} {amount}, {chance}"
        else:
            finding = f"{pair.system} is ahead of {pair.other} {amount}, which may be chance, {chance}"
        worse = f"{counted(pair.worse, 'query')} {'is' if pair.worse == 1 else 'are'} worse"
        return f"{finding}; {worse}{others}."

    def _significant_others(self) -> str:
        """Return how many of three or more systems differ significantly from the reference."""
        if len(self.systems) == 2:
            return ""
        against, reference = self.against_reference(), self.reference
        certain = [pair for pair in against if self.is_significant(pair)]
        ahead, behind = (sum(sign * pair.difference > 0 for pair in certain) for sign in (1, -1))
        if self.baseline is None:
            return f"; {reference} beats {behind:,} of {len(against):,} systems significantly" if behind else ""
        return f"; of {len(against):,} systems, {ahead:,} significantly ahead of {reference}, {behind:,} behind it"

    def chart(self) -> Chart:
        """Return the means of all systems with their intervals, best first."""
        from rankwright.reports.charts.rows import described, interval_chart

        rows = [(system, self.mean(system), *self.interval(system)) for system in self.ranked()]
        over = f"{percent(self.level)} interval over {counted(self.n_queries, 'query')}"
        description = f"Mean {self.metric} with its {over}: {described(rows)}."
        return interval_chart(rows, self.metric, description=description)

    def differences_chart(self) -> Chart:
        """Return the difference of each system from the baseline or, without any, from the best one."""
        from rankwright.reports.charts.rows import described, interval_chart

        rows = [(pair.system, pair.difference, *pair.interval) for pair in self.against_reference()]
        label = f"difference in {self.metric} from {self.reference}"
        description = f"{label.capitalize()}, with its {percent(self.level)} interval: {described(rows)}."
        return interval_chart(rows, label, description=description, mark=0.0)


@dataclass(frozen=True, eq=False)
class SliceComparison:
    """Systems compared on the queries of one slice; one with too few queries is not tested."""

    name: str
    compared: Compared
    tested: bool

    def to_dict(self) -> dict[str, Any]:
        """Return means and tests as JSON values."""
        return {
            "name": self.name,
            "queries": self.compared.n_queries,
            "tested": self.tested,
            "means": dict(zip(self.compared.systems, self.compared.means.tolist(), strict=True)),
            "pairs": [pair.to_dict() for pair in self.compared.pairs],
        }


@dataclass(frozen=True, eq=False)
class Slicing:
    """Queries divided into slices by a property; p-values are corrected over all slices."""

    by: str
    slices: tuple[SliceComparison, ...]

    @property
    def meaning(self) -> str:
        """What the queries are divided by, in words."""
        return MEANINGS.get(self.by, self.by)
