"""What each feature adds to a score: equal to Shapley's definition, and summing to the score."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.query_features import QueryFeature
from rankwright.models import Combination, FeatureScorer, LinearScorer, QueryFeatureScorer, TreeEnsemble
from rankwright.models.level_sets import SETS
from reference import shapley


def grown(rng, n_splits):
    """Children of a tree that grows at a leaf drawn anew each time: every new split becomes a leaf's place."""
    left, right, leaves = [], [], [None]
    for split in range(n_splits):
        parent = leaves.pop(rng.integers(len(leaves)))
        if parent is not None:
            children, place = parent
            children[place] = split
        left.append(None)
        right.append(None)
        leaves += [(left, split), (right, split)]
    for leaf, (children, place) in enumerate(leaves if n_splits else []):
        children[place] = -1 - leaf
    return left, right


def forest(seed, *, n_features, n_splits, covers=None):
    """Return an ensemble with a tree for each number of splits, thresholds among few values."""
    rng = np.random.default_rng(seed)
    trees = [grown(rng, n) for n in n_splits]
    n, n_leaves = sum(n_splits), sum(n_splits) + len(n_splits)
    return TreeEnsemble(
        np.concatenate([[0], np.cumsum(n_splits)]).astype(np.int64),
        rng.integers(0, n_features, n),
        rng.integers(-2, 3, n) / 2,
        rng.integers(0, 2, n),
        np.array([child for left, _ in trees for child in left], dtype=np.int64),
        np.array([child for _, right in trees for child in right], dtype=np.int64),
        rng.normal(size=n_leaves),
        np.ones(n),
        rng.choice([1.0, 2.0, 30.0] if covers is None else covers, n_leaves),
        n_features=n_features,
    )


def documents(seed, n_rows, n_features):
    rng = np.random.default_rng([seed, 1])
    X = (rng.integers(-3, 4, (n_rows, n_features)) / 2).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def chain(n_splits, n_features, **changes):
    """Return one tree as deep as it has splits: each sends to a leaf on the left, and on to the right."""
    rng = np.random.default_rng(n_splits)
    right = np.append(np.arange(1, n_splits), -1 - n_splits)
    arrays = {
        "splits": [0, n_splits],
        "feature": np.arange(n_splits) % n_features,
        "threshold": np.zeros(n_splits),
        "missing_left": np.zeros(n_splits, dtype=int),
        "left": -1 - np.arange(n_splits),
        "right": right,
        "leaf_value": rng.normal(size=n_splits + 1),
        "gain": np.zeros(n_splits),
        "cover": np.ones(n_splits + 1),
    }
    return TreeEnsemble(**(arrays | changes), n_features=n_features)


def sums_to_scores(model, X, qid=None):
    found = model.contributions(X, qid)
    assert found.shape == (len(X), model.n_features + 1)
    scale = max(1.0, np.abs(found).sum(axis=1).max(initial=0.0))
    np.testing.assert_allclose(found.sum(axis=1), model.predict(X, qid), rtol=0, atol=1e-12 * scale)
    return found


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.lists(st.integers(0, 9), min_size=1, max_size=3),
    st.sampled_from([[1.0, 2.0, 30.0], [0.0, 1.0], [0.0], [1e-300, 1.0, 1e297]]),
)
def test_they_are_shapley_values(seed, n_features, n_splits, covers):
    model = forest(seed, n_features=n_features, n_splits=n_splits, covers=covers)
    X = documents(seed, 5, n_features)
    found = sums_to_scores(model, X)
    np.testing.assert_allclose(found, shapley.contributions(model, X), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("n_features", "n_splits"), [(136, 30), (5, 200), (300, 1000)])
def test_they_sum_to_the_scores_of_larger_models(n_features, n_splits):
    model = forest(3, n_features=n_features, n_splits=[n_splits] * 10)
    found = sums_to_scores(model, documents(3, 100, n_features))
    unused = np.setdiff1d(np.arange(n_features), model.used_features)
    assert not found[:, unused].any()


def test_neither_threads_nor_neighbours_matter():
    model = forest(4, n_features=20, n_splits=[30] * 8)
    X = documents(4, 333, 20)
    found = model.contributions(X, n_jobs=1)
    assert model.contributions(X, n_jobs=5).tobytes() == found.tobytes()
    assert model.contributions(X[7:9]).tobytes() == found[7:9].tobytes()


@pytest.mark.parametrize(("n_splits", "n_features"), [(20_000, 3), (3000, 3000), (400, 400)])
def test_a_chain_of_splits(n_splits, n_features):
    model = chain(n_splits, n_features)
    sums_to_scores(model, np.ones((2, n_features), dtype=np.float32))
    sums_to_scores(model, documents(5, 2, n_features))


@pytest.mark.parametrize("n", [100, 144, 145, 1000])
def test_features_alike_on_a_long_path_share_alike(n):
    """Half of the documents go on at each split, and only the last leaf counts: all features add the same."""
    halves = np.ldexp(1.0, -np.arange(1, n + 1))
    model = chain(n, n, leaf_value=np.append(np.zeros(n), 1.0), cover=np.append(halves, halves[-1]))
    found = model.contributions(np.ones((1, n)))[0]
    np.testing.assert_allclose(found[:-1], (1 - 2.0**-n) / n, rtol=1e-11)
    assert found[n] == 2.0**-n


def test_rare_ways_of_a_long_path():
    """A document that takes one rare way among n common ones: Shapley's weights in closed form."""
    n, rare = 2000, 1e-9
    cover = np.append(np.zeros(n), 1.0)
    cover[0] = 1 / rare - 1
    value = np.append(np.zeros(n), 1.0)
    found = chain(n, n, leaf_value=value, cover=cover).contributions(np.ones((1, n)))[0]
    assert found[0] == pytest.approx(1 - rare, rel=1e-12)
    assert np.abs(found[1:-1]).max() == 0.0
    assert found[n] == pytest.approx(rare, rel=1e-12)


def test_no_trees_no_documents_and_single_leaves():
    stump = forest(6, n_features=2, n_splits=[0, 0])
    assert stump.contributions(np.zeros((1, 2))).tolist() == [[0, 0, stump.leaf_value.sum()]]
    assert stump.first(0).contributions(np.zeros((2, 2))).tolist() == [[0, 0, 0]] * 2
    assert forest(6, n_features=2, n_splits=[3]).contributions(np.zeros((0, 2))).shape == (0, 3)


def test_splits_that_nobody_reached_send_halves():
    model = chain(1, 1, leaf_value=[2.0, 4.0], cover=[0.0, 0.0])
    assert model.contributions([[1.0]]).tolist() == [[1.0, 3.0]]


@pytest.mark.parametrize("cover", [[0.0, 5e-324], [1e308, 1e308], [0.0, 1e308], [5e-324, 1e308]])
def test_extreme_covers(cover):
    model = chain(1, 1, leaf_value=[2.0, 4.0], cover=cover)
    for x, score in ((0.0, 2.0), (1.0, 4.0)):
        assert model.contributions([[x]]).sum() == score


def test_numbers_too_large_are_refused():
    model = chain(1, 1, leaf_value=[-1.7e308, 1.7e308], cover=[1.0, 0.0])
    with pytest.raises(InputError, match="A contribution in row 0 is not finite"):
        model.contributions([[1.0]])


def test_linear_and_single_features():
    X = np.array([[1, np.nan], [3, 4]], dtype=np.float32)
    linear = LinearScorer([2.0, -1.0], [0.0, 5.0], intercept=0.5)
    assert linear.contributions(X).tolist() == [[2, -5, 0.5], [6, -4, 0.5]]
    feature = FeatureScorer(1, -1, n_features=2, missing=7.0)
    assert feature.contributions(X).tolist() == [[0, -7, 0], [0, -4, 0]]
    mix = Combination([linear, feature], [2.0, 3.0])
    assert mix.contributions(X).tolist() == [[4, -31, 1], [12, -20, 1]]
    assert (linear.used_features.tolist(), feature.used_features.tolist()) == ([0, 1], [1])
    assert mix.used_features.tolist() == [0, 1]


def test_columns_made_within_the_query_count_for_their_feature():
    inner = forest(7, n_features=9, n_splits=[12] * 4)
    model = QueryFeatureScorer(inner, (QueryFeature.RANK, QueryFeature.ZSCORE))
    X, qid = documents(7, 20, 3), np.arange(20) // 5
    found = sums_to_scores(model, X, qid)
    first = model.contributions(X[:5], 0)
    assert found[:5].tolist() == first.tolist()
    assert Combination([model], [2.0]).contributions(X, qid).tolist() == (2 * found).tolist()
    assert model.used_features.tolist() == np.unique(inner.feature % 3).tolist()


def test_a_scorer_without_contributions_says_so():
    class Silent(FeatureScorer):
        kind = "silent"
        _contributions = FeatureScorer.__mro__[1]._contributions

    with pytest.raises(InputError, match="'silent' cannot compute contributions"):
        Silent(0, n_features=1, missing=0.0).contributions([[1.0]])


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("splits", [0, 3], "offsets"),
        ("feature", [0, 2], "feature is out of range"),
        ("left", [0, -2], "child is out of range"),
        ("right", [2, -3], "child is out of range"),
        ("right", [1, -2], "two parents"),
        ("cover", [1, 1, np.nan], "cover"),
        ("cover", [1, 1], "one value per leaf"),
        ("threshold", [0.0], "one value per split"),
    ],
)
def test_the_core_refuses_what_is_no_tree(name, values, sentence):
    model = chain(2, 2)
    names = ("splits", "feature", "threshold", "missing_left", "left", "right", *SETS, "leaf_value", "cover")
    arrays = {one: getattr(model, one) for one in names}
    arrays[name] = np.array(values, dtype=arrays[name].dtype)
    with pytest.raises(ValueError, match=sentence):
        _native.tree_contributions(**arrays, values=np.zeros((1, 2), dtype=np.float32), n_threads=1)
