"""Writes everything about a fitted AutoRanker as one HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.cards.data_sheet import DataSheet
from rankwright.cards.feature_card import FeatureCard
from rankwright.cards.model_card import ModelCard
from rankwright.cards.query_card import QueryCard
from rankwright.data.splitting import concat
from rankwright.evaluation.evaluate import evaluate
from rankwright.reports.page import require_packages, write_page

if TYPE_CHECKING:
    import os

    from rankwright.auto.leaderboard import Leaderboard
    from rankwright.auto.run import AutoRun
    from rankwright.models.scorer import Scorer

MIXTURE = "the mixture"
HOW = "Every query is ranked by fits that have not seen it; their scores are standardised within the query."


def write_auto_page(
    run: AutoRun,
    model: Scorer,
    path: str | os.PathLike[str],
    *,
    reproduce: str,
    leaderboard: Leaderboard | None = None,
) -> None:
    """Write the page of a run and its model: estimate, members, queries, features, model card and data sheet.

    `reproduce` is the command or code that makes the model again. A leaderboard comes after the run.
    """
    require_packages()
    data, metric, n_jobs = run.plan.whole.data, run.frontier.metric, run.frontier.n_threads
    results = [
        run,
        *([] if leaderboard is None else [leaderboard]),
        _queries(run),
        FeatureCard.of(MIXTURE, model, data, metric=metric, n_jobs=n_jobs),
        ModelCard("AutoRanker", (model,), f"rounds and weights out of fold; {run.plan}"),
        DataSheet.of(data, metric=metric),
    ]
    write_page(results, path, title="AutoRanker report", reproduce=reproduce)


def _queries(run: AutoRun) -> QueryCard:
    """Return the lists of the mixture and of its members, each query ranked by fits that have not seen it."""
    plan, kept, n_jobs = run.plan, run.kept.mix, run.frontier.n_threads
    data = concat(*(part.judges.data for part in plan.parts[: plan.folds]))  # every query once
    members = {kept.entries[i].name: kept.entries[i].scores[kept.round_indices[i]] for i in kept.kept}
    scores = {MIXTURE: kept.scores, **members} if len(members) > 1 else members
    systems = {name: column[: len(data)] for name, column in scores.items()}
    if (order := run.estimate.baseline) is not None:
        first, *others = systems.items()
        systems = dict([first, (order.name, data.scores_by(order.name)), *others])
    report = evaluate(systems, data, metrics=[run.frontier.metric], n_jobs=n_jobs)
    return QueryCard.of(systems, report, data, notes=[HOW], n_jobs=n_jobs)
