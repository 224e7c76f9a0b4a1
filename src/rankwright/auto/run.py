"""The result of a run of AutoRanker: the judged entries, the mixture, its estimate and its cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.auto.frontier import offers
from rankwright.auto.member_analyses import JudgedMember, JudgedQueries
from rankwright.auto.member_sections import (
    changes_section,
    learning_curves_section,
    likeness_section,
    standings_section,
    strengths_section,
)
from rankwright.auto.mixing import Standings, standings_of
from rankwright.base.wording import UNKNOWN, counted, difference, metric_value, microseconds, plain
from rankwright.crossval.best_feature import best_feature
from rankwright.crossval.time_drift import TimeDrift
from rankwright.reports.blocks import Column, Figure, Kind, Note, Section, Table, Text
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankwright.auto.estimate import Estimate
    from rankwright.auto.frontier import Frontier, Priced
    from rankwright.auto.mixing import JudgedEntry
    from rankwright.auto.plan import FitPlan
    from rankwright.reports.charts.chart import Chart

WIDE_RANGE = 20.0  # from so large a ratio on, the axis is logarithmic


@dataclass(frozen=True, eq=False, repr=False)
class AutoRun(Result):
    """The result of all fits.

    Parameters
    ----------
    plan
        The parts that judged.
    frontier
        Values and times mixtures.
    entries
        The judged entries.
    whole
        The mixture of all of them.
    kept
        The mixture that became the model: the whole one, one of fewer members that is better for queries that did
        not choose it, or a cheaper one within the budget.
    estimate
        The value to expect on new queries.
    max_microseconds
        The budget; None without one.
    failures, skipped
        Names of entries that could not be fitted, or that there was no time for, and why.
    """

    plan: FitPlan
    frontier: Frontier
    entries: Sequence[JudgedEntry]
    whole: Priced
    kept: Priced
    estimate: Estimate
    max_microseconds: float | None
    failures: Mapping[str, str]
    skipped: Mapping[str, str]

    @property
    def title(self) -> str:
        """The heading on a page."""
        return "AutoRanker"

    @cached_property
    def standings(self) -> Standings:
        """All judged entries, by weight and then by value."""
        prices = {
            entry.name: self.frontier.prices.of_entry(entry, index)
            for mixture in (self.whole.mix, self.kept.mix)
            for entry, index in zip(mixture.entries, mixture.round_indices, strict=True)
        }
        kept = standings_of(self.kept.mix, prices)
        names = {row.name for row in kept}
        others = [
            row._replace(weight=0.0) for row in standings_of(self.whole.mix, prices) if row.name not in names
        ]
        return Standings(str(self.frontier.metric), (*kept, *sorted(others, key=lambda row: -row.value)))

    @cached_property
    def members(self) -> list[JudgedMember]:
        """All judged members in the order of the standings."""
        entries = {entry.name: entry for entry in self.entries}
        return [JudgedMember.of(standing, entries[standing.name]) for standing in self.standings]

    @cached_property
    def queries(self) -> JudgedQueries:
        """The judging queries with the values of the mixture that became the model."""
        data, held_out = self.plan.whole.data, self.plan.held_out
        queries = np.unique(held_out.query)
        relevant = data.groups.reduce(np.add, (data.y > 0).astype(np.int64))
        values = held_out.values(self.frontier.metric, self.kept.mix.scores, self.frontier.n_threads)
        return JudgedQueries(
            data.groups.ids[queries], data.groups.sizes[queries], relevant[queries], held_out.by_query(values)
        )

    @cached_property
    def mixtures(self) -> list[Priced]:
        """The frontier, from the whole mixture to the cheapest member; the model with its measured time."""
        own = self.kept.mix.member_names
        path = self.frontier.cheaper_and_cheaper(self.entries)
        mixtures = [self.kept if priced.mix.member_names == own else priced for priced in path]
        if any(priced is self.kept for priced in mixtures):
            return mixtures
        return sorted([*mixtures, self.kept], key=lambda priced: -priced.microseconds)  # by other times

    @cached_property
    def drift(self) -> TimeDrift | None:
        """The values by fold in time order, of the model and of what learns nothing; None for random folds."""
        if not self.plan.periods:
            return None
        held_out, metric, data = self.plan.held_out, self.frontier.metric, self.plan.whole.data
        documents = self.plan.judging_rows
        simple = best_feature(data, metric, n_jobs=self.frontier.n_threads)
        scores = {"this model": self.kept.mix.scores, "best feature": simple.predict(data)[documents]}
        if (order := self.estimate.baseline) is not None:
            scores["order today"] = data.scores_by(order.name)[documents]
        values = {
            name: held_out.values(metric, column, self.frontier.n_threads) for name, column in scores.items()
        }
        folds = range(len(self.plan.periods))
        by_fold = {name: [own[held_out.part == fold] for fold in folds] for name, own in values.items()}
        return TimeDrift(str(metric), self.plan.periods, by_fold)

    @property
    def summary(self) -> str:
        """The value to expect."""
        return self.estimate.summary

    def to_dict(self) -> dict[str, Any]:
        """Return standings, estimate and costs as JSON values."""
        data = self.plan.whole.data
        facts: dict[str, Any] = plain(
            {
                "metric": str(self.frontier.metric),
                "documents": len(data),
                "queries": len(data.groups),
                "features": data.n_features,
                "judged": str(self.plan),
                "standings": self.standings.rows,
                "estimate": self.estimate,
                "value": self.kept.value,
                "microseconds": self.kept.microseconds,
                "max_microseconds": self.max_microseconds,
                "without_budget": {"value": self.whole.value, "microseconds": self.whole.microseconds},
                "failures": self.failures,
                "passed_over": self.skipped,
                **({} if self.drift is None else {"drift": self.drift}),
            }
        )
        return facts

    def blocks(self) -> Iterator[Section]:
        """Yield the estimate, the members and their analyses, and the accuracy-latency frontier."""
        metric = str(self.frontier.metric)
        drift = [] if self.drift is None else self.drift.blocks()
        expected = [*self.estimate.blocks(), Note(self._judging()), *drift, Text(self._cost())]
        yield Section("What to expect", expected)
        yield standings_section(self.standings, {"failed": self.failures, "skipped": self.skipped})
        yield learning_curves_section(self.members, metric)
        yield likeness_section(self.members, self.plan.held_out.labels.groups)
        yield strengths_section(self.members, self.queries)
        yield changes_section(self.members, self.queries)
        yield self._frontier_section(metric)

    def _judging(self) -> str:
        data = self.plan.whole.data
        size = f"{counted(len(data.groups), 'query')}, {counted(len(data), 'document')}"
        return (
            f"Fitted on {size}, {counted(data.n_features, 'feature')}; {self.plan}. Whatever was chosen (rounds, "
            "weights, member, feature) was chosen without the queries that judge it. p: paired randomisation test "
            "over queries."
        )

    def _cost(self) -> str:
        kept, whole = self.kept, self.whole
        text = (
            f"Scoring takes {microseconds(kept.microseconds)} per document on one thread of the fitting machine."
        )
        if self.max_microseconds is not None:
            text += (
                f" The budget of {microseconds(self.max_microseconds)} changes the value out of fold from "
                f"{metric_value(whole.value)}, at {microseconds(whole.microseconds)}, to "
                f"{metric_value(kept.value)} ({difference(kept.value - whole.value)}). The same queries chose "
                "what to keep; the estimate is corrected for that. The best single member need not keep the "
                "budget."
            )
        elif len(kept.mix.kept) < len(whole.mix.kept):
            members = counted(len(kept.mix.kept), "selected member")
            text += (
                f" The model has {members}, with {metric_value(kept.value)} out of fold; the mixture of "
                f"{len(whole.mix.kept)} has {metric_value(whole.value)}."
            )
        return text

    def _frontier_section(self, metric: str) -> Section:
        legend = (
            "Line: mixtures, from the cheapest member to the whole mixture; points: members alone. Values are out "
            "of fold, but of rounds and weights that were chosen by the same queries; the estimate at the top is "
            "corrected for that."
        )
        columns = [
            Column("budget (µs)", Kind.NUMBER),
            Column("takes", Kind.MICROSECONDS),
            Column(metric),
            Column("members (rounds)", Kind.TEXT),
        ]
        rows = [
            (budget, priced.microseconds, priced.value, ", ".join(priced.mix.member_names) or UNKNOWN)
            for budget, priced in offers(self.mixtures)
        ]
        known = any(np.isfinite(priced.value) for priced in self.mixtures)
        table = Table(columns, rows, "The mixture within each budget (max_microseconds).")
        figures = [Figure(self.frontier_chart, legend)] if known else []
        return Section("Accuracy-latency frontier", [*figures, table])

    def frontier_chart(self) -> Chart:
        """Return the values of mixtures and of single members by the microseconds that they take per document."""
        from rankwright.reports.charts.points import Point, scatter_chart

        known = [priced for priced in self.mixtures if np.isfinite(priced.value)]
        mixtures = sorted(known, key=lambda priced: priced.microseconds)
        points = [
            *(
                Point(str(priced), priced.microseconds, priced.value, "mixtures", "")
                for priced in mixtures
                if priced is not self.kept
            ),
            Point(str(self.kept), self.kept.microseconds, self.kept.value, "this model", "this model"),
            *(
                Point(row.name, row.microseconds, row.value, "members alone")
                for row in (member.standing for member in self.members)
                if row.microseconds is not None
            ),
        ]
        costs = [point.x for point in points]
        metric = str(self.frontier.metric)
        description = (
            f"{metric} out of fold by microseconds per document: {counted(len(mixtures), 'mixture')}, from the "
            f"cheapest ({mixtures[0]}) to the best; this model: {self.kept}."
        )
        return scatter_chart(
            points,
            "microseconds per document, one thread",
            metric,
            description=description,
            x_log=max(costs) > WIDE_RANGE * min(costs),
            lines={"mixtures": [(priced.microseconds, priced.value) for priced in mixtures]},
        )
