"""The held-out queries of several folds: two systems query by query, and their lists in a query browser."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rankwright.base.wording import counted, metric_value
from rankwright.cards.data_sheet import DataSheet
from rankwright.cards.feature_card import FeatureCard
from rankwright.cards.model_card import ModelCard
from rankwright.cards.query_card import QueryCard
from rankwright.evaluation.evaluate import evaluate
from rankwright.reports.blocks import Figure, Note, Section, Text
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankwright.crossval.out_of_fold import HeldOutModels
    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.report import Report
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.models.scorer import Scorer

HOW = "Every query is ranked by the model of the fold that did not learn from it."


@dataclass(frozen=True, eq=False, repr=False)
class HeldOutQueries(Result):
    """Systems whose models were each fitted without some of the queries, evaluated on those queries.

    The first system stands beside the second on every query; the lists of all are in a query browser.
    """

    report: Report
    card: QueryCard
    note: str

    @property
    def title(self) -> str:
        """The heading on a page."""
        return "Held-out queries"

    @classmethod
    def of(
        cls,
        systems: Mapping[str, HeldOutModels],
        data: RankingData,
        *,
        metric: MetricLike,
        convention: str = "standard",
        warning: str = "",
        n_jobs: int | None = None,
    ) -> HeldOutQueries:
        """Evaluate systems; `warning` says what the first one may know of the queries even so."""
        report = evaluate(dict(systems), data, metrics=[metric], convention=convention, n_jobs=n_jobs)
        note = f"{HOW} {warning}".strip()
        return cls(report, QueryCard.of(systems, report, data, notes=[note], n_jobs=n_jobs), note)

    @property
    def summary(self) -> str:
        """The means of all systems."""
        metric = self.report.metrics[0]
        means = [f"{name} {metric_value(self.report.mean(name, metric))}" for name in self.report.systems]
        return f"Mean {metric} over all queries: {', '.join(means)}."

    def blocks(self) -> Iterator[Section]:
        """Yield the differences of the first two systems, and the query browser."""
        system, other, *_ = self.report.systems
        metric = self.report.metrics[0]
        pair = self.report.compare(system, other, metric)
        counts = f"better on {counted(pair.better, 'query')} and worse on {pair.worse:,}"
        caption = f"{system} is {counts} than {other}. Click a bar to open its query."
        chart = partial(self.report.difference_chart, system, other, metric)
        figure = Figure(chart, caption, compares=(system, other))
        yield Section("Query by query", [Text(self.summary), figure, Note(self.note)])
        yield from self.card.sections


def held_out_cards(
    name: str,
    systems: Mapping[str, HeldOutModels],
    final: Scorer | None,
    data: RankingData,
    *,
    metric: MetricLike,
    chosen: str,
    expected: str,
    warning: str,
    convention: str = "standard",
    n_jobs: int | None = None,
) -> list[Result]:
    """Return the cards of queries, features, model and data of the first system, beside other systems.

    The model is that of all queries, `final`; without any, those of the folds.
    """
    how: dict[str, Any] = {"metric": metric, "n_jobs": n_jobs}
    held_out = next(iter(systems.values()))
    models = held_out.models if final is None else (final,)
    limits = ("No model of all queries was fitted; --model writes one.",) if final is None else ()
    return [
        HeldOutQueries.of(systems, data, convention=convention, warning=warning, **how),
        FeatureCard.of(name, held_out if final is None else final, data, **how),
        ModelCard(name, models, chosen, expected, limits),
        DataSheet.of(data, metric=metric),
    ]
