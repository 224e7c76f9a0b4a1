"""Writes everything about a fitted AutoRanker as one HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.auto.old_sections import OldSections
from rankwright.cards.data_sheet import DataSheet, data_section
from rankwright.cards.held_out_sections import with_document_names
from rankwright.cards.model_card import features_section, model_section
from rankwright.cards.query_browser import browser_section
from rankwright.data.splitting import concat
from rankwright.evaluation.evaluate import evaluate
from rankwright.reports.page import write_page
from rankwright.reports.pages.blocks import Note, Section
from rankwright.reports.pages.page import require_packages

if TYPE_CHECKING:
    import os

    from rankwright.auto.ranker import AutoRanker

MIXTURE = "the mixture"


def write_auto_page(ranker: AutoRanker, path: str | os.PathLike[str], *, reproduce: str = "") -> None:
    """Write the page of a fitted AutoRanker: estimate, members, queries, features, model card and data sheet.

    `reproduce` is the command or code that makes the model again.
    """
    require_packages()
    run, model = ranker.run_, ranker.model_
    data = run.plan.whole.data
    cards = [
        _browser(ranker),
        features_section(MIXTURE, model, data, metric=ranker.metric, n_jobs=ranker.n_jobs),
        model_section("AutoRanker", model, chosen=f"rounds and weights out of fold; {run.plan}"),
        data_section(DataSheet.of(data, metric=ranker.metric)),
    ]
    code = reproduce or f"rankwright.{ranker!r}.fit(data)"
    write_page([run, OldSections(cards)], path, title="AutoRanker report", reproduce=code)


def _browser(ranker: AutoRanker) -> Section:
    """Return the lists of the mixture and of its members, each query ranked by fits that have not seen it."""
    plan, kept = ranker.run_.plan, ranker.run_.kept.mix
    data = with_document_names(concat(*(part.judges.data for part in plan.parts[: plan.folds])))  # queries once
    members = {kept.entries[i].name: kept.entries[i].scores[kept.round_indices[i]] for i in kept.kept}
    scores = {MIXTURE: kept.scores, **members} if len(members) > 1 else members
    systems = {name: column[: len(data)] for name, column in scores.items()}
    report = evaluate(systems, data, metrics=[ranker.metric], n_jobs=ranker.n_jobs)
    browser = browser_section(systems, report, data, n_jobs=ranker.n_jobs)
    how = "Every query is ranked by fits that have not seen it; scores are standardised within the query."
    return Section(browser.title, [*browser.blocks, Note(how)])
