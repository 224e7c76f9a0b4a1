"""Partial dependence: the mean score as the value of one feature moves (Friedman 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.resources import resolve_threads
from rankwright.data.alignment import aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.crossval.out_of_fold import HeldOutModels
    from rankwright.data.dataset import RankingData
    from rankwright.models.scorer import Scorer

    Rows = NDArray[np.int64]

STEPS = 21
SAMPLE_DOCUMENTS = 200
MAX_ROWS = 4_000  # scored for each value of a feature


@dataclass(frozen=True, eq=False)
class Dependence:
    """The mean score for several values of a feature, its quantiles, lowest first."""

    feature: int
    values: Doubles
    scores: Doubles


def partial_dependence(
    scorer: Scorer | HeldOutModels,
    data: RankingData,
    features: Sequence[int],
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> list[Dependence]:
    """Return how the mean score depends on each of these features.

    One document of each query has the value of the feature replaced; the others stay, so that a scorer that
    compares the documents of a query sees a document move among the others. Features without two different values
    are left out.
    """
    judged = aligned(data, scorer)
    moved, rows = _sampled(judged, np.random.default_rng(random_state), whole_queries=scorer.needs_queries)
    part, positions, threads = judged.take(rows), np.searchsorted(rows, moved), resolve_threads(n_jobs)
    curves = []
    for feature in features:
        values = _steps(judged.X[:, feature].astype(np.float64))
        if len(values) < 2:
            continue
        X, scores = part.X.copy(), []
        for value in values:
            X[positions, feature] = value
            changed = part.with_features(X, part.feature_names, part.categories)
            scores.append(float(scorer.predict(changed, n_jobs=threads)[positions].mean()))
        curves.append(Dependence(int(feature), values, np.array(scores)))
    return curves


def _sampled(data: RankingData, random: np.random.Generator, *, whole_queries: bool) -> tuple[Rows, Rows]:
    """Return the rows of the documents that move, one per query, and all rows to score, in ascending order."""
    chosen: list[int] = []
    rows: list[Rows] = []
    total = 0
    for query in random.permutation(len(data.groups))[:SAMPLE_DOCUMENTS]:
        own = data.groups.rows[data.groups.offsets[query] : data.groups.offsets[query + 1]]
        row = int(random.choice(own))
        total += len(own) if whole_queries else 1
        if chosen and total > MAX_ROWS:
            break
        chosen.append(row)
        rows.append(own if whole_queries else np.array([row]))
    return np.sort(chosen), np.sort(np.concatenate(rows))


def _steps(column: Doubles) -> Doubles:
    """Return quantiles of a feature from 2 % to 98 %, each value once."""
    known = column[~np.isnan(column)]
    if not len(known):
        return known
    return np.unique(np.quantile(known, np.linspace(0.02, 0.98, STEPS), method="nearest"))
