"""The held-out queries of several folds: two systems query by query, and their lists in a query browser."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rankwright.base.wording import enumerated, metric_value
from rankwright.cards.data_sheet import DataSheet
from rankwright.cards.feature_card import FeatureCard
from rankwright.cards.model_card import ModelCard
from rankwright.cards.query_card import QueryCard
from rankwright.evaluation.compared import better_and_worse
from rankwright.evaluation.evaluate import evaluate
from rankwright.reports.blocks import Figure, Note, Section, Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.crossval.out_of_fold import HeldOutModels
    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.report import Report
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.models.scorer import Scorer
    from rankwright.reports.result import Result

HOW = "Every query is ranked by the model of the fold that did not learn from it."


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
) -> list[Result | Section]:
    """Return the cards of queries, features, model and data of the first system, beside other systems.

    The model is that of all queries, `final`; without any, those of the folds.
    """
    how: dict[str, Any] = {"metric": metric, "n_jobs": n_jobs}
    held_out = next(iter(systems.values()))
    models = held_out.models if final is None else (final,)
    limits = ("No model of all queries was fitted; --model writes one.",) if final is None else ()
    report = evaluate(dict(systems), data, metrics=[metric], convention=convention, n_jobs=n_jobs)
    note = f"{HOW} {warning}".strip()
    return [
        _query_by_query(report, note),
        QueryCard.of(systems, report, data, notes=[note], n_jobs=n_jobs),
        FeatureCard.of(name, held_out if final is None else final, data, **how),
        ModelCard(name, models, chosen, expected, limits),
        DataSheet.of(data, metric=metric),
    ]


def _query_by_query(report: Report, note: str) -> Section:
    """Return the means of all systems, and the differences of the first two."""
    metric, (system, other, *_) = report.metrics[0], report.systems
    means = enumerated(f"{metric_value(report.mean(name, metric))} for {name}" for name in report.systems)
    caption = better_and_worse(report.compare(system, other, metric), system, other)
    chart = partial(report.difference_chart, system, other, metric)
    figure = Figure(chart, caption, compares=(system, other))
    text = Text(f"The mean {metric} over all queries is {means}.")
    return Section("Query by query", [text, figure, Note(note)])
