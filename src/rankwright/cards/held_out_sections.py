"""Sections about models that were each fitted without some of the queries, shown on those queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.wording import counted
from rankwright.cards.model_card import features_section, held_out_model_section, model_section
from rankwright.cards.query_browser import browser_section
from rankwright.data.dataset import RankingData
from rankwright.evaluation.evaluate import evaluate
from rankwright.reports.pages.blocks import Figure, Note, Section, Text
from rankwright.reports.pages.cells import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.crossval.out_of_fold import HeldOutModels
    from rankwright.evaluation.report import Report
    from rankwright.metrics.parse import MetricLike
    from rankwright.models.scorer import Scorer

HOW = "Every query is ranked by the model of the fold that did not learn from it."


def query_sections(
    systems: Mapping[str, HeldOutModels],
    data: RankingData,
    *,
    metric: MetricLike,
    convention: str = "standard",
    warning: str = "",
    n_jobs: int | None = None,
) -> list[Section]:
    """Return the first system beside the second on every query, and the lists of all of them in a query browser.

    `warning` says what the first system may know of the queries even so.
    """
    report = evaluate(dict(systems), data, metrics=[metric], convention=convention, n_jobs=n_jobs)
    found = browser_section(systems, report, data, n_jobs=n_jobs)
    note = Note(f"{HOW} {warning}".strip())
    return [_difference(report, note), Section(found.title, [*found.blocks, note])]


def _difference(report: Report, note: Note) -> Section:
    one, other, *_ = report.systems
    metric = report.metrics[0]
    pair = report.compare(one, other, metric)
    means = ", ".join(f"{name} {shown(report.mean(name, metric))}" for name in report.systems)
    counts = f"better on {counted(pair.better, 'query')} and worse on {pair.worse:,}"
    caption = f"{one} is {counts} than {other}. Click a bar to open its query."
    chart = Figure(report.difference_chart(one, other, metric), caption, compares=(one, other))
    return Section("Query by query", [Text(f"Mean {metric} over all queries: {means}."), chart, note])


def model_sections(
    name: str,
    held_out: HeldOutModels,
    final: Scorer | None,
    data: RankingData,
    *,
    metric: MetricLike,
    chosen: str,
    expected: str,
    n_jobs: int | None = None,
) -> list[Section]:
    """Return features and model card of the model of all queries; without any, of the models of the folds."""
    if final is not None:
        card = model_section(name, final, chosen=chosen, expected=expected)
        return [features_section(name, final, data, metric=metric, n_jobs=n_jobs), card]
    limits = ("No model of all queries was fitted; --model writes one.",)
    card = held_out_model_section(name, held_out, chosen=chosen, expected=expected, limits=limits)
    return [features_section(name, held_out, data, metric=metric, n_jobs=n_jobs), card]


def with_document_names(data: RankingData) -> RankingData:
    """Return documents with names; numbers of rows would be those of several parts together, not of a file."""
    if data.document_ids is not None:
        return data
    names = np.empty(len(data), dtype=object)
    for rows in data.groups:
        names[rows] = [f"document {number}" for number in range(1, len(rows) + 1)]
    return RankingData(
        data.X,
        data.y,
        data.qid,
        document_ids=names,
        feature_names=data.feature_names,
        categories=data.categories,
        copy=False,
    )
