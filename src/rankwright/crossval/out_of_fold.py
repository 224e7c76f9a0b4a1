"""Scores of all documents by models that have not seen their queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.crossval.splits import SplitOptions
from rankwright.data.dataset import canonical_queries
from rankwright.data.splitting import deal_folds, generator
from rankwright.training.concurrent_fits import run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.categories import Category
    from rankwright.data.dataset import Documents, RankingData
    from rankwright.models.scorer import Scorer
    from rankwright.rankers.ranker import Ranker
    from rankwright.training.concurrent_fits import OnRound
    from rankwright.tuning.judging_queries import JudgingPart


@dataclass(frozen=True, eq=False)
class HeldOutModels:
    """The models of several folds as one system: every query is scored by the model that has not seen it.

    Parameters
    ----------
    models
        One per fold, all with the same features.
    fold_of_query
        For the id of every query, as text, the fold that did not learn from it.
    """

    takes_documents: ClassVar[bool] = True  # with their query ids
    models: tuple[Scorer, ...]
    fold_of_query: Mapping[str, int]

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.models[0].n_features

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the features, if they have any."""
        return self.models[0].feature_names

    @property
    def categories(self) -> tuple[Category, ...]:
        """How features are made from columns of categories."""
        return self.models[0].categories

    @property
    def needs_queries(self) -> bool:
        """Whether the score of a document depends on the others of its query."""
        return any(model.needs_queries for model in self.models)

    def predict(self, X: Documents, *, n_jobs: int | None = None) -> Doubles:
        """Return one score per document, by the model that has not seen its query."""
        scores = np.empty(len(X))
        for model, rows in self.parts(X):
            scores[rows] = model.predict(X.take(rows), n_jobs=n_jobs)
        return scores

    def parts(self, documents: Documents) -> Iterator[tuple[Scorer, NDArray[np.int64]]]:
        """Yield each model with the rows that it scores."""
        fold_of_row = self.folds_of_rows(documents)
        for fold, model in enumerate(self.models):
            rows = np.flatnonzero(fold_of_row == fold)
            if len(rows):
                yield model, rows

    def folds_of_rows(self, documents: Documents) -> NDArray[np.int64]:
        """Return for each document the fold that did not learn from its query."""
        unknown = [query for query in documents.groups.ids if str(query) not in self.fold_of_query]
        if unknown:
            raise InputError(f"Query {str(unknown[0])!r} is in the test part of no fold.")
        folds = np.array([self.fold_of_query[str(query)] for query in documents.groups.ids], dtype=np.int64)
        return np.asarray(folds[documents.groups.query_of_row])


def held_out_fits(
    rankers: Mapping[str, Ranker], parts: Sequence[JudgingPart], *, on_fit: Callable[[], None] = lambda: None
) -> dict[str, HeldOutModels]:
    """Fit copies of rankers on the training queries of every part; a part's models score its judging queries."""

    def fit(task: tuple[Ranker, JudgingPart], on_round: OnRound) -> Scorer:
        ranker, part = task
        return ranker.unfitted().fit(part.train, on_round=on_round).model_

    fold_of_query = {str(query): fold for fold, part in enumerate(parts) for query in part.judges.data.groups.ids}
    return {
        name: HeldOutModels(
            tuple(run_all(fit, [(ranker, part) for part in parts], workers=1, on_done=on_fit)), fold_of_query
        )
        for name, ranker in rankers.items()
    }


def out_of_fold_scores(
    rankers: Mapping[str, Ranker],
    data: RankingData,
    *,
    folds: int = 5,
    random_state: int = 0,
    on_fit: Callable[[], None] = lambda: None,
) -> dict[str, Doubles]:
    """Return each ranker's scores of all documents, so that several rankers can be compared on all queries.

    The queries are split into folds, as `cross_validate` does with the same random state; the documents of a
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
        Seed of the folds.
    on_fit : callable, optional
        Called after each fit; there are as many as rankers times folds.
    """
    SplitOptions(folds, random_state=random_state)  # checks them
    fold_of_query = deal_folds(canonical_queries(data), folds, generator(random_state))
    fold_of_row = fold_of_query[data.groups.query_of_row]
    scores = {name: np.empty(len(data)) for name in rankers}
    for fold in range(folds):
        is_test = fold_of_row == fold
        train, test = data.take(~is_test), data.take(is_test)
        for name, ranker in rankers.items():
            scores[name][is_test] = ranker.unfitted().fit(train).predict(test)
            on_fit()
    return scores
