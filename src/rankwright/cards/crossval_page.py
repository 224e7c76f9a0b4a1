"""The pages of a cross-validation: one ranker with its queries, model and data, or several rankers compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError
from rankwright.cards.data_sheet import DataSheet
from rankwright.cards.held_out_queries import held_out_cards
from rankwright.crossval.best_feature import BEST_FEATURE, held_out_best_features
from rankwright.crossval.out_of_fold import HeldOutModels
from rankwright.models.scorer import scorer_of
from rankwright.reports.page import require_packages, write_page

if TYPE_CHECKING:
    import os

    from rankwright.crossval.cross_comparison_result import CrossComparison
    from rankwright.crossval.cross_validation_result import CrossValidation
    from rankwright.data.dataset import RankingData
    from rankwright.reports.blocks import Section
    from rankwright.reports.result import Result


def write_crossval_page(
    result: CrossValidation,
    path: str | os.PathLike[str],
    *,
    data: RankingData | None = None,
    reproduce: str = "",
) -> None:
    """Write the page of a cross-validation.

    Parameters
    ----------
    data
        The test queries of all folds together. The page then shows them in a query browser, each ranked by the
        model that has not seen it, beside the best single feature of the other queries; and it has features, a
        model card and a data sheet. The card is that of `result.best` if it has been fitted, otherwise of the
        folds' models.
    reproduce
        The command or code that makes the same again.
    """
    require_packages()
    details = [] if data is None else _details(result, data)
    write_page([result, *details], path, title=result.title, reproduce=reproduce)


def write_rankers_page(
    result: CrossComparison,
    path: str | os.PathLike[str],
    *,
    data: RankingData | None = None,
    reproduce: str = "",
) -> None:
    """Write the page of several rankers that were cross-validated over the same folds."""
    require_packages()
    sheets = [] if data is None else [DataSheet.of(data, metric=result.metrics[0])]
    write_page([result, *sheets], path, title=result.title, reproduce=reproduce)


def _details(result: CrossValidation, data: RankingData) -> list[Result | Section]:
    """Return the cards of the queries, the features, the model and the data."""
    metric, n_jobs = result.metrics[0], result.best.n_jobs
    name, models = type(result.best).__name__, _held_out(result)
    is_tested = np.array([str(query) in models.fold_of_query for query in data.groups.ids])  # others were dropped
    data = data.take_queries(is_tested)
    return held_out_cards(
        name,
        {name: models, BEST_FEATURE: held_out_best_features(models, data, metric, n_jobs=n_jobs)},
        scorer_of(result.best),
        data,
        metric=metric,
        chosen=result.how_chosen,
        expected=result.expected,
        warning="The folds are those of the first repeat." if result.repeats > 1 else "",
        convention=result.convention,
        n_jobs=n_jobs,
    )


def _held_out(result: CrossValidation) -> HeldOutModels:
    """Return the models of the first repeat, each for the test queries of its fold."""
    folds = [fold for fold in result.folds if fold.repeat == 1]
    fold_of_query = {str(query): number for number, fold in enumerate(folds) for query in fold.report.queries}
    if len(fold_of_query) < sum(len(fold.report.queries) for fold in folds):
        raise InputError("Some query is in the test parts of several folds, so no single model has not seen it.")
    return HeldOutModels(tuple(fold.model for fold in folds), fold_of_query)
