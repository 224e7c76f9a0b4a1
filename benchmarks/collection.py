"""Generates a large judged collection that resembles web search data, in a few seconds."""

from __future__ import annotations

import numpy as np

from rankwright.data.dataset import RankingData

N_FEATURES = 136
DOCUMENTS_PER_QUERY = 117
N_FACTORS = 24
LABEL_SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)


def web_search(n_queries: int, *, seed: int, n_features: int = N_FEATURES) -> RankingData:
    """Return documents whose features are noisy, redundant views of a few factors; some are counts or often zero.

    The factors determine relevance together with the query. Samples with different seeds have the same true
    function.
    """
    truth, random = np.random.default_rng(0), np.random.default_rng(seed)
    n_documents = n_queries * DOCUMENTS_PER_QUERY
    qid = np.repeat(np.arange(n_queries), DOCUMENTS_PER_QUERY)
    factors = random.normal(size=(n_documents, N_FACTORS)).astype(np.float32)
    factors[:, :4] += random.normal(size=(n_queries, 4)).astype(np.float32)[qid]  # the influence of the query
    merit = _merit(factors, truth) + random.normal(size=n_documents, scale=1.5)
    thresholds = np.quantile(merit, np.cumsum(LABEL_SHARES)[:-1])
    return RankingData(_features(factors, n_features, truth, random), np.searchsorted(thresholds, merit), qid)


def _merit(factors: np.ndarray, truth: np.random.Generator) -> np.ndarray:
    merit = factors[:, 4:] @ truth.normal(size=N_FACTORS - 4, scale=0.5)
    for _ in range(12):
        one, other = truth.choice(N_FACTORS, 2, replace=False)
        merit += truth.normal() * np.tanh(factors[:, one]) * factors[:, other]
    return merit


def _features(
    factors: np.ndarray, n_features: int, truth: np.random.Generator, random: np.random.Generator
) -> np.ndarray:
    X = np.empty((len(factors), n_features), dtype=np.float32)
    for feature in range(n_features):
        one, other = truth.choice(N_FACTORS, 2, replace=False)
        column = factors[:, one] + 0.5 * factors[:, other]
        column = column + random.normal(size=len(factors), scale=truth.uniform(0.2, 1.5))
        kind = feature % 4
        if kind == 0:  # a count, mostly small
            column = np.floor(np.exp(column))
        elif kind == 1:  # often zero
            column = np.maximum(0.0, column)
        X[:, feature] = column
    return X
