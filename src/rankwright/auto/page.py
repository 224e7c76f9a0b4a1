"""Writes what is known of a fitted AutoRanker as one self-contained HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.auto.sections import auto_sections, summary_of
from rankwright.cards.data_sheet import DataSheet, data_section
from rankwright.cards.held_out_sections import with_document_names
from rankwright.cards.model_card import features_section, model_section, reproduction_section
from rankwright.cards.query_browser import browser_section
from rankwright.data.splitting import concat
from rankwright.evaluation.evaluate import evaluate
from rankwright.reports.pages.blocks import Note, Section
from rankwright.reports.pages.page import Page, require_packages

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
    sections = [
        *auto_sections(ranker),
        _browser(ranker),
        features_section(MIXTURE, model, data, metric=ranker.metric, n_jobs=ranker.n_jobs),
        model_section("AutoRanker", model, chosen=f"rounds and weights out of fold; {run.plan}"),
        data_section(DataSheet.of(data, metric=ranker.metric)),
        reproduction_section(reproduce or f"rankwright.{ranker!r}.fit(data)"),
    ]
    Page("AutoRanker report", summary_of(ranker), sections).write(path)


def _browser(ranker: AutoRanker) -> Section:
    """Return the lists of the mixture and of its members, each query ranked by fits that have not seen it."""
    run, kept = ranker.run_, ranker.run_.kept.mix
    data = with_document_names(
        concat(*(part.judges.data for part in run.plan.parts[: run.plan.folds]))
    )  # every query once
    members = {kept.entries[one].name: kept.entries[one].scores[kept.places[one]] for one in kept.kept}
    scores = {MIXTURE: kept.scores, **members} if len(members) > 1 else members
    systems = {name: one[: len(data)] for name, one in scores.items()}
    report = evaluate(systems, data, metrics=[ranker.metric], n_jobs=ranker.n_jobs)
    found = browser_section(systems, report, data, n_jobs=ranker.n_jobs)
    how = "Every query is ranked by fits that have not seen it; scores are standardised within the query."
    return Section(found.title, [*found.blocks, Note(how)])
