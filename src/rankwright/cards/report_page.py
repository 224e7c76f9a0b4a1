"""Writes a report as one self-contained HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.cards.browsed_runs import browsable
from rankwright.cards.data_sheet import DataSheet, data_section
from rankwright.cards.model_card import features_section, model_section, reproduction_section
from rankwright.cards.query_browser import browser_section
from rankwright.cards.sections import compared, report_sections
from rankwright.data.readers.trec import Judgements
from rankwright.evaluation.report import Report
from rankwright.models.fitted import scorer_of
from rankwright.reports.pages.page import Page, require_packages

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.system_comparison import SystemComparison
    from rankwright.reports.pages.blocks import Section
    from rankwright.training.history import History


def write_page(
    report: Report | SystemComparison,
    path: str | os.PathLike[str],
    *,
    histories: Mapping[str, History] | None = None,
    systems: Mapping[str, Any] | None = None,
    data: RankingData | Judgements | None = None,
    title: str = "rankwright report",
    reproduce: str = "",
    n_jobs: int | None = None,
) -> None:
    """Write a report as an HTML page that needs no network.

    Parameters
    ----------
    report
        The evaluation, or a comparison of several systems; of a report, all pairs are compared.
    path
        The file to write, completely or not at all.
    histories
        Histories of fits by name, for learning curves and bounds.
    systems, data
        The systems of the report and the judged documents: for the query browser, the features and the model card
        of the best model, and the data sheet.
    title
        The title of the page.
    reproduce
        The command or code that makes the report again.
    """
    require_packages()
    found = compared(report) if isinstance(report, Report) else report
    sections = report_sections(found, histories)
    if systems is not None and data is not None:
        sections += _detailed_sections(found, systems, data, n_jobs=n_jobs)
    if reproduce:
        sections.append(reproduction_section(reproduce))
    Page(title, found.summary, sections).write(path)


def _detailed_sections(
    found: Report | SystemComparison,
    systems: Mapping[str, Any],
    data: RankingData | Judgements,
    *,
    n_jobs: int | None,
) -> list[Section]:
    """Return the query browser, features and model card of the best model, and the data sheet."""
    if isinstance(found, Report):
        report, ranked = found, [*found.systems]
    else:
        pair = found.by().leading_pair()
        report, ranked = found.report, list(dict.fromkeys([pair.system, pair.other, *found.by().ranked()]))
    ordered = {name: systems[name] for name in ranked}
    shown = browsable(ordered, report, data)
    sections = [browser_section(shown.systems, report, shown.data, judged=shown.judged, n_jobs=n_jobs)]
    if isinstance(data, Judgements):
        return sections
    models = {name: model for name in ranked if (model := scorer_of(systems[name])) is not None}
    for name, model in list(models.items())[:1]:
        sections.append(features_section(name, model, data, metric=report.metrics[0], n_jobs=n_jobs))
        sections.append(model_section(name, model))
    return [*sections, data_section(DataSheet.of(data, metric=report.metrics[0]), "The test data")]
