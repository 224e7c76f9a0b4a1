"""A small AutoRanker to test with."""

import numpy as np

import rankwright as rw
from rankwright.data.dataset import RankingData


def small_data(n_queries=24, *, names="query {}", feature_names=None):
    """Queries of 4 to 12 documents, graded from a noisy sum of two of four features; the first has no relevant."""
    random = np.random.default_rng(3)
    query = np.repeat(np.arange(n_queries), 4 + np.arange(n_queries) % 9)
    X = random.normal(size=(len(query), 4))
    y = np.clip(np.round(X[:, 0] + X[:, 1] + random.normal(size=len(query))), 0, 2)
    y[query == 0] = 0
    return RankingData(X, y, [names.format(number) for number in query], feature_names=feature_names)


def small_ranker(data=None, **options):
    """Return a fitted AutoRanker of three members, one of which has rounds to choose."""
    portfolio = [rw.RankSVM(), rw.AdaRank(rounds=4), rw.LambdaMART(rounds=20, max_leaves=4, min_documents=5)]
    ranker = rw.AutoRanker(**{"portfolio": portfolio, "n_jobs": 1} | options)
    return ranker.fit(small_data() if data is None else data)
