"""The simplest baseline: one feature, ascending or descending."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.crossval.out_of_fold import HeldOutModels
from rankwright.metrics.catalogue import as_metric
from rankwright.models.feature import FeatureScorer

if TYPE_CHECKING:
    from rankwright.data.dataset import RankingData
    from rankwright.metrics.catalogue import MetricLike

BEST_FEATURE = "best feature"  # its name in pages
MAX_DOCUMENTS = 100_000  # of the queries that choose the feature of a fold


def best_feature(data: RankingData, metric: MetricLike = "ndcg@10", *, n_jobs: int | None = None) -> FeatureScorer:
    """Return the single feature, with its better direction, that ranks judged documents best."""
    asked = as_metric(metric)
    missing = np.nan_to_num(np.fmin.reduce(data.X, axis=0))
    candidates = [
        FeatureScorer(
            feature,
            direction,
            n_features=data.n_features,
            missing=float(missing[feature]),
            feature_names=data.feature_names,
            categories=data.categories,
        )
        for feature in range(data.n_features)
        for direction in (1, -1)
    ]
    return max(candidates, key=lambda scorer: asked.mean(data.y, scorer.predict(data, n_jobs=n_jobs), data.groups))


def held_out_best_features(
    beside: HeldOutModels, data: RankingData, metric: MetricLike = "ndcg@10", *, n_jobs: int | None = None
) -> HeldOutModels:
    """Return for each fold of other models the feature that ranks the queries of the other folds best.

    If there are many queries, a random sample of them chooses the feature.
    """
    fold_of_query = np.array([beside.fold_of_query[str(query)] for query in data.groups.ids])
    order = np.random.default_rng(0).permutation(len(data.groups))
    models = []
    for fold in range(len(beside.models)):
        others = order[fold_of_query[order] != fold]
        fitting = np.cumsum(data.groups.sizes[others]) <= MAX_DOCUMENTS
        models.append(best_feature(data.take_queries(others[: max(1, fitting.sum())]), metric, n_jobs=n_jobs))
    return HeldOutModels(tuple(models), beside.fold_of_query)
