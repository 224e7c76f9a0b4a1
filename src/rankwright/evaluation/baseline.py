"""The simplest system to beat: one feature, ascending or descending."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.metrics import as_metric
from rankwright.models import FeatureScorer

if TYPE_CHECKING:
    from rankwright.data import RankingData
    from rankwright.metrics import MetricLike


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
    return max(candidates, key=lambda one: asked.mean(data.y, one.predict(data, n_jobs=n_jobs), data.groups))
