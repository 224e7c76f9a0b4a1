"""Small trees as other libraries write them, and documents on both sides of every threshold."""

import copy

import numpy as np
from hypothesis import strategies as st

from rankwright.base.errors import InputError

ZERO = np.float32(1e-35)  # the highest that LightGBM takes for 0
HIGHEST = np.finfo(np.float32).max
EDGES = np.array(
    [
        np.nan,
        0.0,
        -0.0,
        ZERO,
        -ZERO,
        5e-36,
        -5e-36,
        1.2e-35,
        -1.2e-35,
        1e-45,
        -1e-45,
        HIGHEST,
        -HIGHEST,
        1.0,
        -1.0,
    ],
    dtype=np.float32,
)
THRESHOLDS = st.one_of(
    st.sampled_from([float(value) for value in EDGES[1:]]),
    st.sampled_from([1e300, -1e300, np.inf, -1.7976931348623157e308, 0.1, -0.1, 1e-36, -1e-36, 16777217.0]),
    st.floats(-2.0, 2.0),
)
N_FEATURES = 3
JUNK = (None, True, 0, 1, -1, 5, 2**31, 10**400, 0.5, 1e300, float("nan"), float("inf"), "", "1", "[5E-1]", "x")
JUNK += ([], [1], [[1]], {}, {"a": 1}, [None], ["x"], [{}])


def rows_around(scorer, n=500, seed=0, X=None, *, infinite=False):
    """Return documents on, just below and just above the thresholds, with zeros, extremes and missing values.

    Infinite values are among them only if a tool takes them.
    """
    random, rows = np.random.default_rng(seed), np.empty((n, scorer.n_features), dtype=np.float32)
    for feature in range(scorer.n_features):
        at = scorer.threshold[scorer.feature == feature]
        with np.errstate(over="ignore"):
            beside = [np.nextafter(at, np.float32(side)) for side in (-np.inf, np.inf)]
        seen = [] if X is None else [X[:, feature]]
        pool = np.concatenate([at, *beside, EDGES, *seen])
        ends = [-np.inf, np.inf] if infinite else []
        rows[:, feature] = random.choice(np.concatenate([pool[~np.isinf(pool)], ends]), n)
    return rows


@st.composite
def small_trees(draw):
    """Draw one tree: for each split its feature, threshold and two children, leaves being negative."""
    n_splits = draw(st.integers(0, 5))
    left, right, features, thresholds, open_leaves = [], [], [], [], [None]
    for split in range(n_splits):
        place = draw(st.integers(0, split))  # the leaf that becomes this split
        parent = open_leaves[place]
        if parent is not None:
            parent[0][parent[1]] = split
        left.append(-1 - place)
        right.append(-1 - len(open_leaves))
        open_leaves[place] = (left, split)
        open_leaves.append((right, split))
        features.append(draw(st.integers(0, N_FEATURES - 1)))
        thresholds.append(draw(THRESHOLDS))
    return features, thresholds, left, right


def judged(seed=0, n_queries=30, size=20, missing=0.0):
    """Return features with zeros, ties and a constant, labels, and the sizes of queries."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_queries * size, 6)).astype(np.float32)
    X[random.random(X.shape) < 0.2] = 0.0
    X[:, 1], X[:, 2], X[:, 5] = np.round(X[:, 1]), np.abs(X[:, 2]), 1.0
    y = (X[:, 0] > 0.0).astype(int) + (X[:, 2] > 1.0)
    X[random.random(len(X)) < missing * y, 3] = np.nan  # so that a split may tell missing values apart
    X[random.random(X.shape) < missing] = np.nan
    return X, y, np.full(n_queries, size)


def used_or_refused(read, model):
    """Read a damaged model: an InputError of one sentence, or a scorer that works, and nothing else."""
    sentence = ""
    try:
        scorer = read(model)
        if scorer.n_features < 100:
            assert np.isfinite(scorer.predict(np.zeros((2, scorer.n_features)))).all()
    except InputError as error:
        sentence = str(error)
    assert "\n" not in sentence
    assert len(sentence) < 300


@st.composite
def damaged(draw, model):
    """Draw a JSON value that differs from this one in a few places."""
    changed = copy.deepcopy(model)
    for _ in range(draw(st.integers(1, 3))):
        holder, key = None, None
        value = changed
        while isinstance(value, dict | list) and value and (holder is None or draw(st.integers(0, 4))):
            holder = value
            key = draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
            value = value[key]
        if holder is None:
            break
        if draw(st.booleans()):
            holder[key] = copy.deepcopy(draw(st.sampled_from(JUNK)))
        else:
            del holder[key]
    return changed
