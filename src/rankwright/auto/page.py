"""Writes what is known of a fitted AutoRanker as one self-contained HTML page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwright.auto.sections import auto_sections, summary_of
from rankwright.cards.data_sheet import DataSheet
from rankwright.cards.feature_card import FeatureCard
from rankwright.cards.model_card import ModelCard
from rankwright.cards.query_browser import QueryCard
from rankwright.data.splitting import concat
from rankwright.evaluation.evaluate import evaluate
from rankwright.reports import blocks as new
from rankwright.reports.page import write_page
from rankwright.reports.pages import blocks as old
from rankwright.reports.pages.page import require_packages
from rankwright.reports.result import Result

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from rankwright.auto.ranker import AutoRanker


MIXTURE = "the mixture"
HOW = "Every query is ranked by fits that have not seen it; scores are standardised within the query."


def write_auto_page(ranker: AutoRanker, path: str | os.PathLike[str], *, reproduce: str = "") -> None:
    """Write the page of a fitted AutoRanker: estimate, members, queries, features, model card and data sheet.

    `reproduce` is the command or code that makes the model again.
    """
    require_packages()
    run, model = ranker.run_, ranker.model_
    data = run.plan.whole.data
    results = [
        _AutoSections(ranker),
        _query_card(ranker),
        FeatureCard.of(MIXTURE, model, data, metric=ranker.metric, n_jobs=ranker.n_jobs),
        ModelCard("AutoRanker", (model,), f"rounds and weights out of fold; {run.plan}"),
        DataSheet.of(data, metric=ranker.metric),
    ]
    code = reproduce or f"rankwright.{ranker!r}.fit(data)"
    write_page(results, path, title="AutoRanker report", reproduce=code)


def _query_card(ranker: AutoRanker) -> QueryCard:
    """Return the lists of the mixture and of its members, each query ranked by fits that have not seen it."""
    run, kept = ranker.run_, ranker.run_.kept.mix
    data = concat(*(part.judges.data for part in run.plan.parts[: run.plan.folds]))  # every query once
    members = {kept.entries[index].name: kept.entries[index].scores[kept.places[index]] for index in kept.kept}
    scores = {MIXTURE: kept.scores, **members} if len(members) > 1 else members
    systems = {name: values[: len(data)] for name, values in scores.items()}
    report = evaluate(systems, data, metrics=[ranker.metric], n_jobs=ranker.n_jobs)
    return QueryCard.of(systems, report, data, of_file=False, notes=[HOW], n_jobs=ranker.n_jobs)


@dataclass(frozen=True, eq=False, repr=False)
class _AutoSections(Result):
    """The sections of the run, until the run itself is a Result."""

    ranker: AutoRanker

    @property
    def summary(self) -> str:
        """The main result."""
        return summary_of(self.ranker)

    def blocks(self) -> Iterator[new.Section]:
        """Yield the sections with new blocks."""
        for section in auto_sections(self.ranker):
            yield new.Section(section.title, list(map(_renewed, section.blocks)))


def _renewed(block: Any) -> Any:
    match block:
        case old.Table():
            columns = [new.Column(column.title, new.Kind.TEXT) for column in block.columns]
            rows = [[new.Cell(cell.text, cell.small, cell.shade) for cell in row] for row in block.rows]
            return new.Table(columns, rows, block.caption, block.folded, block.tiles)
        case old.Figure():
            return new.Figure(lambda: block.chart, block.caption, block.compares)
        case old.Figures():
            return new.Figures(list(map(_renewed, block.figures)))
        case old.Facts():
            return new.Facts(block.facts, block.below)
        case old.Text():
            return new.Text(block.text)
        case old.Note():
            return new.Note(block.text)
    return block
