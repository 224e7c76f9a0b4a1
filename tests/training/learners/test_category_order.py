"""Trees that split categories by sets of levels, whose order is fitted to the gradients."""

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import rankwright as rw
from properties import examples
from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.categories import Category
from rankwright.metrics import NDCG
from rankwright.models import TreeEnsemble
from rankwright.training.learners.tree import TreeLearner
from reference.binning import encode
from reference.category_order import CategoryGrower
from training.learners.test_tree import DRAWN_LIMITS, LIMITS, WORKSPACE, all_rows_task, tasks

LEVELS = st.integers(0, 9).map(float) | st.just(np.nan)


def binned_levels(X, n_levels, max_bins=255, *, coarse=False):
    rows = np.arange(len(X))
    edges = _native.find_all_edges(X, rows, max_bins, 1)
    edges = [[] if n else own for n, own in zip(n_levels, edges, strict=True)]
    return _native.encode(X, rows, np.arange(len(rows)), edges, coarse, 1, n_levels)


def grow(binned, task, limits, n_threads=1, workspace=WORKSPACE):
    tree, outputs = _native.grow_tree(binned, **task, **limits, n_threads=n_threads, workspace=workspace)
    return TreeEnsemble(np.array([0, len(tree["feature"])]), **tree, n_features=binned.n_features), outputs


@st.composite
def tasks_of_categories(draw, most=(25, 4)):
    """Some features are levels of categories, of which some levels have no rows."""
    X, max_bins, task = draw(tasks(most=most))
    n_levels = [draw(st.sampled_from([0, 10, 12, 40])) for _ in range(X.shape[1])]
    for feature, n in enumerate(n_levels):
        if n:
            X[:, feature] = draw(arrays.arrays(np.float32, len(X), elements=LEVELS))
    return X, max_bins, task, n_levels


def assert_grown_alike(X, max_bins, task, n_levels, limits, *, coarse=False):
    binned = binned_levels(X, n_levels, max_bins, coarse=coarse)
    tree, outputs = grow(binned, task, limits)
    levels = binned.levels() if coarse else None
    slow_grower = CategoryGrower(
        encode(X, binned.edges), binned.edges, **task, **limits, coarse=levels, columns=X, n_levels=n_levels
    )
    slow, slow_outputs = slow_grower.grow()
    close = {"leaf_value"}  # sums in another order
    for name, wanted in asdict(slow).items():
        compare = np.testing.assert_allclose if name in close else np.testing.assert_array_equal
        compare(getattr(tree, name), wanted, **({"rtol": 1e-12, "atol": 1e-12} if name in close else {}))
    np.testing.assert_allclose(outputs, slow_outputs, rtol=1e-12, atol=1e-12)
    sets = {split: own for split, own in enumerate(slow_grower.sets) if own is not None}
    assert {split: own.tolist() for split, own in tree.level_sets.items()} == sets
    assert tree.predict(X).tobytes() == outputs.tobytes()
    return tree, outputs


@examples(300)
@given(tasks_of_categories(), DRAWN_LIMITS)
def test_grows_as_the_slow_twin(task, limits):
    assert_grown_alike(*task, limits)


@examples(200)
@given(tasks_of_categories(most=(60, 8)), DRAWN_LIMITS)
def test_grows_as_the_slow_twin_on_coarse_levels(task, limits):
    assert_grown_alike(*task, limits, coarse=True)


@pytest.mark.parametrize("coarse", [False, True])
def test_more_levels_than_codes(coarse):
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(0, 300, 400), rng.normal(size=400)]).astype(np.float32)
    task = all_rows_task(rng.normal(size=300)[X[:, 0].astype(int)] + rng.normal(size=400), n_features=2)
    tree, _ = assert_grown_alike(X, 255, task, [300, 0], LIMITS, coarse=coarse)
    assert 0 in tree.feature


def levels_by_effect(seed=0, n_rows=4000, n_levels=50, effect=2.0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, n_levels, n_rows), rng.normal(size=n_rows)]).astype(np.float32)
    effects = rng.normal(size=n_levels)
    return X, effects, effect * effects[X[:, 0].astype(int)] + X[:, 1] + rng.normal(size=n_rows)


def test_the_levels_with_high_gradients_are_told_from_those_with_low_ones():
    X, effects, gradient = levels_by_effect(effect=50.0)
    tree, _ = grow(binned_levels(X, [50, 0]), all_rows_task(gradient, n_features=2), LIMITS | {"max_leaves": 2})
    assert tree.feature.tolist() == [0]
    left = np.isin(np.arange(50), tree.level_sets[0])
    assert effects[left].max() < effects[~left].min()


def test_levels_that_differ_by_chance_lose_most_of_their_gain():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 300, (3000, 1)).astype(np.float32)
    for seed in range(20):
        task = all_rows_task(np.random.default_rng(seed).normal(size=3000))
        tree, _ = grow(binned_levels(X, [300]), task, LIMITS | {"max_leaves": 2})
        by_rank = X.copy()
        means = np.bincount(X[:, 0].astype(int), task["gradient"]) / np.bincount(X[:, 0].astype(int))
        by_rank[:, 0] = np.argsort(np.argsort(means))[X[:, 0].astype(int)]
        numeric, _ = grow(binned_levels(by_rank, [0]), task, LIMITS | {"max_leaves": 2})
        assert tree.gain.sum() < 0.5 * numeric.gain[0]


def test_a_rare_level_is_not_put_at_an_end():
    frequent = np.repeat(np.arange(4), 100)
    levels = np.append(frequent, 4)
    gradient = np.append(np.repeat([-3.0, -1.0, 1.0, 3.0], 100), 4.0)
    noise = np.random.default_rng(0).normal(size=401) * 4
    noise[-1] = 0.0
    X = levels[:, None].astype(np.float32)
    tree, _ = grow(binned_levels(X, [5]), all_rows_task(gradient + noise), LIMITS | {"max_leaves": 5})
    highest = [own.tolist() for own in tree.level_sets.values()]
    assert highest
    assert [0, 1, 2, 3] not in highest


@pytest.mark.parametrize("missing", [False, True])
def test_levels_without_rows_go_with_the_missing_values(missing):
    levels = np.array([0.0, 0, 0, 2, 2, 2] * 20 + ([np.nan] * 50 if missing else []), dtype=np.float32)
    gradient = np.where(np.isnan(levels), 3.0, np.where(levels == 2, 3.0, -3.0))
    gradient += np.random.default_rng(1).normal(size=len(levels)) * 0.1
    tree, _ = grow(binned_levels(levels[:, None], [4]), all_rows_task(gradient), LIMITS | {"max_leaves": 2})
    own = set(tree.level_sets[0].tolist())
    assert ({1, 3} <= own) == bool(tree.missing_left[0])
    assert own & {0, 2} == {0}
    if missing:
        assert not tree.missing_left[0]


@pytest.mark.parametrize("coarse", [False, True])
def test_threads_and_earlier_trees_change_no_bit(coarse):
    X, _, gradient = levels_by_effect(n_rows=70_000, n_levels=400)
    X[::7, 0] = np.nan
    binned = binned_levels(X, [400, 0], coarse=coarse)
    limits = LIMITS | {"max_leaves": 31, "min_documents": 20}
    task = all_rows_task(gradient, n_features=2)
    expected, outputs = grow(binned, task, limits, workspace=_native.GrowthWorkspace())
    shared = _native.GrowthWorkspace()
    grow(binned, all_rows_task(-gradient[::-1], n_features=2), limits, workspace=shared)
    for n_threads in (1, 2, 3):
        tree, own = grow(binned, task, limits, n_threads, shared)
        assert own.tobytes() == outputs.tobytes() == tree.predict(X).tobytes()
        assert tree.set_words.tobytes() == expected.set_words.tobytes()


@pytest.mark.parametrize(
    ("X", "n_levels", "sentence"),
    [
        ([[0.0], [3.0]], [3], "not one of its levels"),
        ([[-1.0], [1.0]], [3], "not one of its levels"),
        ([[0.5], [1.0]], [3], "not one of its levels"),
        ([[np.inf], [1.0]], [3], "not one of its levels"),
        ([[0.0], [1.0]], [3, 3], "one number per feature"),
        ([[0.0], [1.0]], [2**24 + 1], "too many levels"),
    ],
)
def test_what_is_no_category_is_refused(X, n_levels, sentence):
    X = np.array(X, dtype=np.float32)
    with pytest.raises(ValueError, match=sentence):
        _native.encode(X, np.arange(2), np.arange(2), [[]], False, 1, n_levels)
    with pytest.raises(ValueError, match="no edges"):
        _native.encode(np.zeros((2, 1), np.float32), np.arange(2), np.arange(2), [[0.5]], False, 1, [3])


def test_only_trees_of_one_gradient_take_categories():
    binned = binned_levels(np.array([[0.0], [1.0]], dtype=np.float32), [2])
    assert binned.has_categories
    task = all_rows_task([[1.0, -1.0]]) | {"hessian": np.ones((1, 2)), "sample": np.arange(2, dtype=np.uint32)}
    del task["monotone"]
    with pytest.raises(ValueError, match="only trees of one gradient split categories"):
        _native.grow_class_tree(binned, **task, **LIMITS, n_threads=1, workspace=WORKSPACE)
    with pytest.raises(ValueError, match="only trees of one gradient split categories"):
        _native.grow_hamming_tree(binned, np.ones((2, 1)), False, 2, 1, WORKSPACE)


def shop(n_queries=40, **changes):
    """Return documents whose relevance depends on one of 60 brands, some of which are missing."""
    rng = np.random.default_rng(5)
    n = n_queries * 20
    brand = rng.integers(0, 60, n).astype(np.float32)
    numbers = rng.normal(size=(n, 2))
    merit = rng.normal(size=60)[brand.astype(int)] + numbers[:, 0] + 0.3 * rng.normal(size=n)
    brand[rng.random(n) < 0.05] = np.nan
    parts = {
        "X": np.column_stack([numbers, brand]).astype(np.float32),
        "y": np.digitize(merit, [0.5, 1.5]),
        "qid": np.repeat(np.arange(n_queries), 20),
        "feature_names": ["a", "b", "brand"],
        "categories": [Category("brand", tuple(map(str, range(60))), one_hot=False)],
    }
    return rw.RankingData(**(parts | changes))


@pytest.mark.parametrize(
    "options", [{}, {"query_features": ["rank"]}, {"coarse": True}, {"split_by": "squared_error"}]
)
def test_the_loops_in_the_core_and_in_python_fit_the_same_trees(options, monkeypatch):
    data, validation = shop(), None if options else shop(10)
    ranker = rw.LambdaMART(rounds=8, max_leaves=6, **options)
    expected = ranker.fit(data, validation=validation).model_
    trees = expected.inner if "query_features" in options else expected
    assert trees.has_sets
    assert set(trees.feature[trees.set_size > 0].tolist()) == {2}
    assert (
        ranker.fit(data, validation=validation).model_.predict(data).tobytes() == expected.predict(data).tobytes()
    )
    monkeypatch.setattr(TreeLearner, "in_core", lambda *_: None)
    again = rw.LambdaMART(rounds=8, max_leaves=6, **options).fit(data, validation=validation).model_
    assert again.predict(data).tobytes() == expected.predict(data).tobytes()


def test_sets_rank_better_than_thresholds_and_mart_takes_them_too():
    train, test = shop(60), shop(60)
    for ranker in (rw.LambdaMART, rw.MART):
        sets, thresholds = (
            NDCG(k=10)(test.y, ranker(rounds=30, category_splits=own).fit(train).predict(test), test.qid)
            for own in ("sets", "thresholds")
        )
        assert sets > thresholds


def test_other_rankers_keep_thresholds():
    assert not rw.McRank(rounds=3).fit(shop()).model_.classes.trees.has_sets
    assert not rw.LambdaMART(rounds=3, category_splits="thresholds").fit(shop()).model_.has_sets


def test_a_category_has_no_direction_and_no_other_levels():
    with pytest.raises(InputError, match="monotone names 'brand', a category"):
        rw.LambdaMART(rounds=2, monotone={"brand": 1}).fit(shop())
    rw.LambdaMART(rounds=2, monotone={"brand": 1}, category_splits="thresholds").fit(shop())
    few = [Category("brand", ("x", "y"), one_hot=False)]
    with pytest.raises(InputError, match=r"'brand' has the levels 0 to 1; row .* has"):
        rw.LambdaMART(rounds=2).fit(shop(categories=few))
