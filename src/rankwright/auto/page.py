"""Writes what is known of a fitted AutoRanker as one self-contained HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.auto.sections import auto_sections, summary_of
from rankwright.evaluation.data_sheet import DataSheet, data_section
from rankwright.evaluation.model_card import features_section, model_section, reproduction_section
from rankwright.pages import Page, require_packages

if TYPE_CHECKING:
    import os

    from rankwright.auto.ranker import AutoRanker


def write_auto_page(ranker: AutoRanker, path: str | os.PathLike[str], *, reproduce: str = "") -> None:
    """Write the page of a fitted AutoRanker: estimate, members, features, model card and data sheet.

    `reproduce` is the command or code that makes the model again.
    """
    require_packages()
    run, model = ranker.run_, ranker.model_
    data = run.plan.whole.data
    sections = [
        *auto_sections(ranker),
        features_section("the mixture", model, data, metric=ranker.metric, n_jobs=ranker.n_jobs),
        model_section("AutoRanker", model, data, chosen=f"rounds and weights out of fold; {run.plan}"),
        data_section(DataSheet.of(data, metric=ranker.metric)),
        reproduction_section(reproduce or f"rankwright.{ranker!r}.fit(data)"),
    ]
    Page("AutoRanker report", summary_of(ranker), sections).write(path)
