"""The page of one training: learning curve, the model beside the best single feature, model card, data sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.cards.data_sheet import DataSheet, data_section
from rankwright.cards.model_card import features_section, model_section, reproduction_section
from rankwright.cards.query_browser import browser_section
from rankwright.cards.sections import report_sections
from rankwright.crossval.best_feature import BEST_FEATURE, best_feature
from rankwright.evaluation.evaluate import evaluate
from rankwright.reports.pages.blocks import Note, Section
from rankwright.reports.pages.cells import shown
from rankwright.reports.pages.page import Page, require_packages

if TYPE_CHECKING:
    import os

    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.report import Report
    from rankwright.rankers.ranker import Ranker

WARNINGS = {
    "training": "Measured on the training queries, from which both have learned: expect less on new queries.",
    "validation": "Measured on the validation queries, which chose the number of rounds: expect a little less on "
    "new queries.",
}


def write_training_page(
    ranker: Ranker,
    path: str | os.PathLike[str],
    *,
    train: RankingData,
    validation: RankingData | None = None,
    chosen: str = "",
    reproduce: str = "",
) -> None:
    """Write the page of a fitted ranker, measured on the validation queries or, without any, on those of training.

    Parameters
    ----------
    chosen
        How parameters and rounds were chosen; by default why the round was kept.
    reproduce
        The command or code that makes the model again.
    """
    require_packages()
    part, data = ("training", train) if validation is None else ("validation", validation)
    name, metric, n_jobs = type(ranker).__name__, ranker.metric, ranker.n_jobs
    systems = {name: ranker.model_, BEST_FEATURE: best_feature(train, metric, n_jobs=n_jobs)}
    report = evaluate(systems, data, metrics=[metric], n_jobs=n_jobs)
    # No test of significance: these queries have taken part in the choice of the model.
    history, (means, *others) = ranker.history_, report_sections(report, {name: ranker.history_})
    how = chosen or (f"round {history.best_round} is {history.reason}" if history.reason else "")
    sections = [
        Section(means.title, [*means.blocks, Note(WARNINGS[part])]),
        *others,
        browser_section(systems, report, data, n_jobs=n_jobs),
        features_section(name, ranker.model_, data, metric=metric, n_jobs=n_jobs),
        model_section(name, ranker.model_, chosen=how),
        data_section(DataSheet.of(train, metric=metric), "The training data"),
        reproduction_section(reproduce or f"rankwright.{ranker!r}.fit(data)"),
    ]
    Page(f"{name}, measured on the {part} queries", _summary(report, part), sections).write(path)


def _summary(report: Report, part: str) -> str:
    metric, (name, baseline) = report.metrics[0], report.systems
    own, other = (shown(report.mean(one, metric)) for one in (name, baseline))
    return f"{name} has {own} {metric} on the {part} queries, the {baseline} {other}; measure it on other queries."
