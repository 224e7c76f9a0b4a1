"""Scores of all documents by models that have not seen their queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.data.canonical import canonical_queries
from rankwright.data.splitting import deal_folds, generator
from rankwright.evaluation.division import Division

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankwright.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.rankers.ranker import Ranker


def out_of_fold_scores(
    rankers: Mapping[str, Ranker],
    data: RankingData,
    *,
    folds: int = 5,
    random_state: int = 0,
    on_fit: Callable[[], None] | None = None,
) -> dict[str, Doubles]:
    """Return each ranker's scores of all documents, so that several rankers can be compared on all queries.

    The queries are divided into folds, as `cross_validate` does with the same random state; the documents of a
    fold are scored by a model that was fitted on the other folds.

    Parameters
    ----------
    rankers : mapping
        Rankers by name; they are copied, and stay unfitted.
    data : RankingData
        Judged documents.
    folds : int
        The number of folds.
    random_state : int
        Seed of the division.
    on_fit : callable, optional
        Called after each fit; there are as many as rankers times folds.
    """
    division = Division(folds, random_state=random_state)
    fold_of_query = deal_folds(canonical_queries(data), division.folds, generator(division.random_state))
    fold_of_row = fold_of_query[data.groups.query_of_row]
    scores = {name: np.empty(len(data)) for name in rankers}
    for fold in range(division.folds):
        is_test = fold_of_row == fold
        train, test = data.take(~is_test), data.take(is_test)
        for name, ranker in rankers.items():
            scores[name][is_test] = ranker.unfitted().fit(train).predict(test)
            if on_fit is not None:
                on_fit()
    return scores
