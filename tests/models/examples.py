"""Scorers and data to try things on."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from rankwright.models import Combination, FeatureScorer, LinearScorer, Scorer
from reference.trees import random_ensemble

N_FEATURES = 3

weights = npst.arrays(np.float64, N_FEATURES, elements=st.floats(-1e6, 1e6) | st.just(0.0))
features = npst.arrays(
    np.float32,
    st.tuples(st.integers(0, 12), st.just(N_FEATURES)),
    elements=st.floats(-1e6, 1e6, width=32) | st.just(np.nan),
)

feature_scorers = st.builds(
    FeatureScorer,
    st.integers(0, N_FEATURES - 1),
    st.sampled_from([1, -1]),
    n_features=st.just(N_FEATURES),
    missing=st.floats(-1e6, 1e6),
)
linear_scorers = st.builds(LinearScorer, weights, weights, st.floats(-1e6, 1e6))


def tree_ensemble(seed: int, leaves: list[int]) -> Scorer:
    thresholds = np.array([-1e5, -1.0, 0.0, 0.5, 1e3], dtype=np.float32)
    return random_ensemble(np.random.default_rng(seed), leaves, thresholds, n_features=N_FEATURES)


tree_scorers = st.builds(tree_ensemble, st.integers(0, 2**32), st.lists(st.integers(1, 40), max_size=5))


def combinations(members: st.SearchStrategy[Scorer]) -> st.SearchStrategy[Scorer]:
    weighted = st.lists(st.tuples(members, st.floats(-10, 10)), min_size=1, max_size=3)
    return weighted.map(lambda pairs: Combination(*zip(*pairs, strict=True)))


scorers = st.recursive(feature_scorers | linear_scorers | tree_scorers, combinations, max_leaves=5)


def example() -> Combination:
    """A small model with a bit of everything."""
    linear = LinearScorer([0.5, 0.0, -2.0], [0.0, 1.0, -1.0], intercept=0.25)
    feature = FeatureScorer(1, -1, n_features=N_FEATURES, missing=-3.5)
    inner = Combination([linear, feature, tree_ensemble(1, [3, 1])], [1.0, 0.5, 0.25])
    return Combination([inner, feature], [2.0, -1.0]).described(
        feature_names=["bm25", "length", "pagerank"],
        about={"ranker": "AdaRank", "rounds": 7, "metric": "ndcg@10"},
    )


X_EXAMPLE = np.array([[1, 2, 3], [np.nan, 0.1, -7], [4, np.nan, np.nan], [0, 0, 0]], dtype=np.float32)
