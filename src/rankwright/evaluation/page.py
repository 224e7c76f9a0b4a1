"""Writes a report as one self-contained HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.evaluation.browsing import browser_section
from rankwright.evaluation.data_sheet import DataSheet, data_section
from rankwright.evaluation.model_card import features_section, model_section, reproduction_section
from rankwright.evaluation.sections import report_sections, summary_of
from rankwright.models.fitted import scorer_of
from rankwright.pages import Page, require_packages

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from rankwright.data import RankingData
    from rankwright.evaluation.report import Report
    from rankwright.pages import Section
    from rankwright.training import History


def write_page(
    report: Report,
    path: str | os.PathLike[str],
    *,
    histories: Mapping[str, History] | None = None,
    systems: Mapping[str, Any] | None = None,
    data: RankingData | None = None,
    title: str = "rankwright report",
    reproduce: str = "",
    n_jobs: int | None = None,
) -> None:
    """Write a report as an HTML page that needs no network.

    Parameters
    ----------
    report
        The evaluation: means with intervals, and comparisons of the first system with the others.
    path
        The file to write, completely or not at all.
    histories
        Histories of fits by name, for learning curves and bounds.
    systems, data
        The systems of the report and the judged documents: for the query browser, the first system's features and
        model card, and the data sheet.
    title
        The title of the page.
    reproduce
        The command or code that makes the report again.
    """
    require_packages()
    sections = report_sections(report, histories)
    if systems is not None and data is not None:
        sections += detailed_sections(report, systems, data, n_jobs=n_jobs)
    if reproduce:
        sections.append(reproduction_section(reproduce))
    Page(title, summary_of(report), sections).write(path)


def detailed_sections(
    report: Report,
    systems: Mapping[str, Any],
    data: RankingData,
    *,
    explained: Sequence[str] | None = None,
    n_jobs: int | None = None,
) -> list[Section]:
    """Return query browser, data sheet, and features and model cards of some systems, by default the first."""
    sections = [browser_section(systems, report, data, n_jobs=n_jobs)]
    for name in report.systems[:1] if explained is None else explained:
        model = scorer_of(systems[name])
        if model is not None:
            sections.append(features_section(name, model, data, metric=report.metrics[0], n_jobs=n_jobs))
            sections.append(model_section(name, model, data))
    return [*sections, data_section(DataSheet.of(data, metric=report.metrics[0]))]
