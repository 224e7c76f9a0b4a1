"""The page of one training: learning curve, the model beside the best single feature, model card, data sheet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankwright.base.wording import metric_value
from rankwright.cards.data_sheet import DataSheet
from rankwright.cards.feature_card import FeatureCard
from rankwright.cards.model_card import ModelCard
from rankwright.cards.query_card import QueryCard
from rankwright.cards.report_page import learning_curves
from rankwright.crossval.best_feature import BEST_FEATURE, best_feature
from rankwright.evaluation.evaluate import evaluate
from rankwright.reports.blocks import Note, Section
from rankwright.reports.page import require_packages, write_page
from rankwright.reports.result import Result

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.report import Report
    from rankwright.rankers.ranker import Ranker

LESS = {"training": "less", "validation": "a little less"}
WARNINGS = {
    "training": "Both have learned from these queries, so expect less on new ones.",
    "validation": "These queries have chosen the number of rounds, so expect a little less on new ones.",
}


@dataclass(frozen=True, eq=False, repr=False)
class TrainingReport(Result):
    """A fitted model beside the best single feature, measured on the `part` training or validation.

    There is no test of significance: these queries have taken part in the choice of the model.
    """

    report: Report
    part: str

    @property
    def title(self) -> str:
        """The title of the page."""
        return f"{self.report.systems[0]}, measured on the {self.part} queries"

    @property
    def summary(self) -> str:
        """Both means."""
        metric, (name, baseline) = self.report.metrics[0], self.report.systems
        own, other = (metric_value(self.report.mean(system, metric)) for system in (name, baseline))
        values = f"{name} has a mean {metric} of {own}, the {baseline} one of {other}"
        return f"On the {self.part} queries, {values}; expect {LESS[self.part]} on new ones."

    def blocks(self) -> Iterator[Section]:
        """Yield the means, with a warning."""
        means, *others = self.report.sections
        yield Section(means.title, [*means.blocks, Note(WARNINGS[self.part])])
        yield from others


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
    name, model, history = type(ranker).__name__, ranker.model_, ranker.history_
    metric, n_jobs = ranker.metric, ranker.n_jobs
    systems = {name: model, BEST_FEATURE: best_feature(train, metric, n_jobs=n_jobs)}
    report = evaluate(systems, data, metrics=[metric], n_jobs=n_jobs)
    how = chosen or (f"round {history.best_round} is {history.reason}" if history.reason else "")
    first = TrainingReport(report, part)
    results: list[Result | Section] = [
        first,
        learning_curves({name: history}),
        QueryCard.of(systems, report, data, n_jobs=n_jobs),
        FeatureCard.of(name, model, data, metric=metric, n_jobs=n_jobs),
        ModelCard(name, (model,), how),
        DataSheet.of(train, metric=metric, heading="The training data"),
    ]
    write_page(results, path, title=first.title, reproduce=reproduce or f"rankwright.{ranker!r}.fit(data)")
