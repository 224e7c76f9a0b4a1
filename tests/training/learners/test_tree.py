from dataclasses import asdict
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from properties import examples
from rankwright import _native
from rankwright.data.groups import QueryGroups
from rankwright.models import TreeEnsemble
from rankwright.training.binned_features import BinnedFeatures
from rankwright.training.learners.signal import Gradients
from rankwright.training.learners.tree import (
    FINE_LEVELS,
    LEVELS,
    TreeLearner,
    TreeLimits,
    TreeSampling,
    all_rows,
    draw_by_size,
    draw_documents,
    draw_queries,
    first_fraction,
    levels_for,
)
from reference.binning import encode
from reference.symmetric_growth import SymmetricGrower
from reference.trees_growth import ExactGrower, Grower

# Few values make many ties.
VALUES = st.sampled_from([-1.5, -0.0, 0.0, 1.0, 2.0, np.nan]) | st.floats(-9, 9, width=32)
GRADIENTS = st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0]) | st.floats(-5, 5, width=32)
WEIGHTS = st.sampled_from([0.0, 1.0, 1.0, 0.5]) | st.floats(0, 2, width=32)

LIMITS = {"max_leaves": 5, "min_documents": 1, "min_hessian": 0.0, "l2": 0.0, "min_gain": 0.0, "levels": 127}
DRAWN_LIMITS = st.fixed_dictionaries(
    {
        "max_leaves": st.sampled_from([1, 2, 3, 5, 100]),
        "min_documents": st.sampled_from([1, 2, 3, 2**62]),
        "min_hessian": st.sampled_from([0.0, 0.7, 3.0]),
        "l2": st.sampled_from([0.0, 1.0, 3.5]),
        "min_gain": st.sampled_from([0.0, 0.5]),
        "levels": st.sampled_from([0, 1, 5, 127]),
    }
)


@st.composite
def tasks(draw, monotone=False, most=(25, 4)):
    """Features, and what a tree is to be grown from."""
    n_rows, n_features = (draw(st.integers(1, n)) for n in most)
    X = draw(arrays.arrays(np.float32, (n_rows, n_features), elements=VALUES))
    if draw(st.booleans()):
        X[:, 0] = 3  # a column that says nothing
    rows = st.just(n_rows)
    gradient = draw(arrays.arrays(np.float64, rows, elements=GRADIENTS))
    hessian = draw(arrays.arrays(np.float64, rows, elements=WEIGHTS))
    drawn = draw(st.just(np.ones(n_rows, dtype=bool)) | arrays.arrays(np.bool_, rows))
    weights = draw(st.just(np.zeros(0)) | arrays.arrays(np.float64, int(drawn.sum()), elements=st.floats(0.5, 4)))
    features = draw(st.just(range(n_features)) | st.sets(st.integers(0, n_features - 1)))
    directions = st.lists(st.sampled_from([-1, 0, 1]), min_size=n_features, max_size=n_features)
    return (
        X,
        draw(st.sampled_from([2, 4, 255])),
        {
            "gradient": gradient,
            "hessian": hessian,
            "sample": np.flatnonzero(drawn).astype(np.uint32),
            "sample_weights": weights,
            "features": np.array(sorted(features), dtype=np.uint32),
            "monotone": np.array(draw(directions) if monotone else [], dtype=np.int8),
        },
    )


def binned_all(X, max_bins=255, *, coarse=False):
    return BinnedFeatures.of(X, np.arange(len(X)), max_bins=max_bins, coarse=coarse).matrix


WORKSPACE = _native.GrowthWorkspace()  # one for all: nothing of one tree may show in the next


def grown(binned, **arguments):
    return _native.grow_tree(binned, **arguments, workspace=WORKSPACE)


def grow(binned, task, limits, n_threads=1):
    tree, outputs = grown(binned, **task, **limits, n_threads=n_threads)
    splits = np.array([0, len(tree["feature"])])
    return TreeEnsemble(splits, **tree, n_features=binned.n_features), outputs


def grow_slowly(X, binned, task, limits):
    coarse = binned.levels() if binned.coarse else None
    return Grower(encode(X, binned.edges), binned.edges, **task, **limits, coarse=coarse).grow()


def all_rows_task(gradient, hessian=None, n_features=1, monotone=()):
    gradient = np.asarray(gradient, dtype=float)
    hessian = np.ones(len(gradient)) if hessian is None else np.asarray(hessian, dtype=float)
    return {
        "gradient": gradient,
        "hessian": hessian,
        "sample": np.arange(len(gradient), dtype=np.uint32),
        "sample_weights": np.zeros(0),
        "features": np.arange(n_features, dtype=np.uint32),
        "monotone": np.array(monotone, dtype=np.int8),
    }


def column(*values):
    return np.array(values, dtype=np.float32)[:, None]


def assert_grown_alike(X, max_bins, task, limits, *, coarse=False):
    binned = binned_all(X, max_bins, coarse=coarse)
    tree, outputs = grow(binned, task, limits)
    slow, slow_outputs = grow_slowly(X, binned, task, limits)
    close = {"leaf_value"}  # sums in another order
    for name, wanted in asdict(slow).items():
        compare = np.testing.assert_allclose if name in close else np.testing.assert_array_equal
        compare(getattr(tree, name), wanted, **({"rtol": 1e-12, "atol": 1e-12} if name in close else {}))
    np.testing.assert_allclose(outputs, slow_outputs, rtol=1e-12, atol=1e-12)
    return tree, outputs


# Against the slow twin


@examples(200)
@given(tasks(), DRAWN_LIMITS)
def test_grows_as_the_slow_twin(task, limits):
    assert_grown_alike(*task, limits)


@examples(200)
@given(tasks(monotone=True), DRAWN_LIMITS)
def test_grows_as_the_slow_twin_under_monotone_constraints(task, limits):
    assert_grown_alike(*task, limits)


@examples(200)
@given(tasks(monotone=True, most=(60, 12)), DRAWN_LIMITS)
def test_grows_as_the_slow_twin_on_coarse_levels(task, limits):
    assert_grown_alike(*task, limits, coarse=True)


@pytest.mark.slow
def test_coarse_levels_leave_the_best_four_features_to_look_at():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 9)).astype(np.float32)
    task = all_rows_task(X @ rng.normal(size=9), n_features=9)
    tree, _ = assert_grown_alike(X, 255, task, LIMITS | {"max_leaves": 8}, coarse=True)
    exact, _ = assert_grown_alike(X, 255, task, LIMITS | {"max_leaves": 8})
    assert tree.threshold[0] == exact.threshold[0]
    assert len(tree.feature) == 7


@pytest.mark.slow
@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("zeros", [0.0, 0.8, 1.0])
@pytest.mark.parametrize("n_rows", [255, 256, 257, 513, 2000])  # histograms are filled by blocks of 256 rows
def test_rows_that_are_zero_change_no_tree(n_rows, zeros, coarse):
    rng = np.random.default_rng(n_rows)
    X = rng.integers(4, size=(n_rows, 2)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    counted = rng.random(n_rows) >= zeros
    gradient = counted * (np.nan_to_num(X[:, 0]) + rng.normal(size=n_rows))
    task = all_rows_task(gradient, counted * rng.random(n_rows), n_features=2)
    tree, _ = assert_grown_alike(X, 255, task, LIMITS | {"max_leaves": 3}, coarse=coarse)
    assert len(tree.leaf_value) == (1 if zeros == 1 else 3)


def test_on_coarse_levels_a_side_without_drawn_rows_keeps_its_value_under_constraints():
    task = all_rows_task([5.0, 5, 7, 7]) | {
        "sample": np.array([2, 3], dtype=np.uint32),
        "monotone": np.ones(1, dtype=np.int8),
    }
    _, outputs = assert_grown_alike(column(1, 2, 3, 4), 255, task, LIMITS, coarse=True)
    assert outputs.tolist() == [5, 5, 7, 7]


def test_on_coarse_levels_all_rows_decide_where_a_sample_splits():
    X = column(*range(100))
    drawn = np.arange(100) % 3 == 0
    gradient = np.where(np.arange(100) < 60, -1.0, 1.0)
    gradient[drawn] = np.where(np.arange(100)[drawn] < 30, -1.0, 1.0)
    task = all_rows_task(gradient) | {"sample": np.flatnonzero(drawn).astype(np.uint32)}
    for coarse, threshold in ((False, 27.5), (True, 59.5)):
        tree, _ = assert_grown_alike(X, 255, task, LIMITS | {"max_leaves": 2}, coarse=coarse)
        assert tree.threshold.tolist() == [threshold]


@given(tasks(monotone=True), DRAWN_LIMITS)
def test_outputs_are_the_trees_own_scores_bit_for_bit(task, limits):
    X, max_bins, task = task
    tree, outputs = grow(binned_all(X, max_bins), task, limits)
    assert tree.predict(X).tobytes() == outputs.tobytes()


@given(tasks(monotone=True), DRAWN_LIMITS)
def test_scores_are_monotone_where_they_must(task, limits):
    X, max_bins, task = task
    tree, _ = grow(binned_all(X, max_bins), task, limits)
    values = np.unique(X[~np.isnan(X)])
    for feature, direction in enumerate(task["monotone"]):
        changed = np.repeat(X, len(values), axis=0)
        changed[:, feature] = np.tile(values, len(X))
        scores = tree.predict(changed).reshape(len(X), len(values))
        assert (direction * np.diff(scores, axis=1) >= 0).all()


@given(tasks(), DRAWN_LIMITS)
def test_every_leaf_holds_what_it_must(task, limits):
    X, max_bins, task = task
    tree, _ = grow(binned_all(X, max_bins), task, limits)
    assert len(tree.leaf_value) <= limits["max_leaves"]
    assert tree.cover.sum() == len(X)
    assert (tree.gain > limits["min_gain"]).all()
    if len(tree.feature):
        leaf = leaves_of(tree, X)
        documents = np.bincount(leaf[task["sample"]], minlength=len(tree.cover))
        assert documents.min() >= limits["min_documents"]
        np.testing.assert_array_equal(np.bincount(leaf, minlength=len(tree.cover)), tree.cover)


def leaves_of(tree, X):
    """The leaf that each document falls into: the score of a tree whose leaves are worth their numbers."""
    return (
        tree.__class__(
            **{
                name: getattr(tree, name)
                for name in ("splits", "feature", "threshold", "missing_left", "left", "right", "gain", "cover")
            },
            leaf_value=np.arange(len(tree.leaf_value)),
            n_features=tree.n_features,
        )
        .predict(X)
        .astype(int)
    )


# By hand


def test_a_split_by_hand():
    task = all_rows_task([-1, -1, 2, 2])
    tree, outputs = grow(binned_all(column(1, 2, 3, 4)), task, LIMITS | {"max_leaves": 2, "l2": 2.0})
    assert (tree.feature.tolist(), tree.threshold.tolist()) == ([0], [2.5])
    assert tree.leaf_value.tolist() == [-0.5, 1.0]
    assert tree.cover.tolist() == [2, 2]
    assert tree.gain[0] == pytest.approx(4 / 4 + 16 / 4 - 4 / 6, rel=0.02)  # rounded gradients
    assert outputs.tolist() == [-0.5, -0.5, 1, 1]


def test_the_best_leaf_is_split_first():
    X, task = column(1, 2, 3, 4), all_rows_task([0, 1, 10, 90])
    tree, _ = grow(binned_all(X), task, LIMITS | {"max_leaves": 3})
    assert tree.threshold.tolist() == [3.5, 2.5]
    assert (tree.left.tolist(), tree.right.tolist()) == ([1, -1], [-2, -3])
    assert tree.leaf_value.tolist() == [0.5, 90, 10]


def test_the_first_of_equal_features_and_the_lowest_of_equal_thresholds_win():
    X = np.repeat(column(1, 2, 3), 3, axis=1)
    tree, _ = grow(binned_all(X), all_rows_task([-1, 0, 1], n_features=3), LIMITS | {"max_leaves": 2})
    assert (tree.feature.tolist(), tree.threshold.tolist()) == ([0], [1.5])


@pytest.mark.parametrize(("gradient", "left"), [(5.0, False), (-5.0, True)])
def test_missing_values_go_to_the_better_side(gradient, left):
    X, task = column(1, 2, np.nan), all_rows_task([-5, 5, gradient])
    tree, outputs = grow(binned_all(X), task, LIMITS | {"max_leaves": 2})
    assert tree.missing_left.tolist() == [left]
    assert outputs[2] == gradient


@pytest.mark.parametrize(("gradients", "left"), [([-1, -1, 2], True), ([-2, 1, 1], False)])
def test_what_was_never_missing_goes_with_the_heavier_side(gradients, left):
    tree, _ = grow(binned_all(column(1, 2, 3)), all_rows_task(gradients), LIMITS | {"max_leaves": 2})
    assert tree.missing_left.tolist() == [left]


def test_missing_documents_that_weigh_nothing_count_all_the_same():
    X = column(1, 2, 3, np.nan, np.nan)
    task = all_rows_task([-4, -4, 4, 0, 0], [1, 1, 1, 0, 0])
    tree, _ = assert_grown_alike(X, 255, task, LIMITS | {"min_documents": 2})
    assert (tree.threshold.tolist(), tree.missing_left.tolist()) == ([2.5], [False])
    assert tree.cover.tolist() == [2, 3]


def test_leaf_values_come_from_all_rows_and_splits_from_the_sample():
    task = all_rows_task([-1, 1, 8, 3]) | {"sample": np.array([0, 1], dtype=np.uint32)}
    tree, outputs = grow(binned_all(column(1, 4, 0, 3)), task, LIMITS)
    assert tree.threshold.tolist() == [2]
    assert outputs.tolist() == [3.5, 2, 3.5, 2]


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-200, 1e150])
def test_gradients_of_any_size_make_no_nonsense(scale):
    task = all_rows_task(np.array([-2, -2, 1, 3]) * scale)
    tree, outputs = grow(binned_all(column(1, 2, 3, 4)), task, LIMITS | {"max_leaves": 2})
    assert tree.threshold.tolist() in ([], [2.5])
    assert np.isfinite(outputs).all()
    np.testing.assert_allclose(outputs.sum(), 0, atol=2.0**-1060)  # the smallest unit of leaf sums is 2^-1062


@pytest.mark.parametrize(
    ("X", "limits"),
    [
        (np.full((4, 1), 7), {}),
        (np.full((4, 1), np.nan), {}),
        (column(1, 2, 3, 4), {"max_leaves": 1}),
        (column(1, 2, 3, 4), {"min_documents": 3}),
        (column(1, 2, 3, 4), {"min_hessian": 2.1}),
        (column(1, 2, 3, 4), {"min_gain": 1e6}),
        (column(1, 2, 3, 4), {"l2": np.inf}),
        (np.zeros((4, 0)), {}),
    ],
    ids=["constant", "missing", "one leaf", "documents", "weight", "gain", "l2", "no feature"],
)
def test_no_split_leaves_one_leaf(X, limits):
    X = X.astype(np.float32)
    task = all_rows_task([-1, 1, 2, 6], n_features=X.shape[1])
    binned = _native.encode(
        X, np.arange(4), np.arange(4), _native.find_all_edges(X, np.arange(4), 255, 1), False, 1
    )
    tree, outputs = grown(binned, **task, **(LIMITS | limits), n_threads=1)
    assert len(tree["feature"]) == 0
    assert outputs.tolist() == [0 if "l2" in limits else 2] * 4
    assert tree["cover"].tolist() == [4]


def test_more_leaves_than_documents_gives_each_its_own():
    rng = np.random.default_rng(1)
    X, gradient = rng.permutation(40).astype(np.float32)[:, None], rng.permutation(40) - 19.5
    tree, outputs = grow(binned_all(X), all_rows_task(gradient), LIMITS | {"max_leaves": 1000})
    assert len(tree.leaf_value) == 40
    np.testing.assert_array_equal(outputs, gradient)


# Threads


def large(n_rows, n_features, seed=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    gradient = np.nan_to_num(X[:, 0]) + rng.normal(size=n_rows)
    drawn = rng.random(n_rows) < 0.8
    task = all_rows_task(gradient, rng.random(n_rows), n_features)
    return X, task | {"sample": np.flatnonzero(drawn).astype(np.uint32)}


@pytest.mark.slow
@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("n_features", [1, 9, 24])
def test_any_number_of_threads_grows_the_same_tree(n_features, coarse):
    X, task = large(120_000, n_features)  # enough rows and additions for threads to be worth waking
    every_other = {"features": np.arange(0, n_features, 2, dtype=np.uint32)}
    rising = {"monotone": np.ones(n_features, dtype=np.int8)}
    binned = binned_all(X, coarse=coarse)
    for one in (task | every_other, task | rising, task):
        limits = LIMITS | {"max_leaves": 12, "min_documents": 20}
        found = {
            tuple(part.tobytes() for part in (*tree.values(), outputs))
            for tree, outputs in (grown(binned, **one, **limits, n_threads=n) for n in (1, 2, 3, -1))
        }
        assert len(found) == 1
    tree, outputs = grow(binned, task, limits)
    assert len(tree.leaf_value) == 12
    assert tree.predict(X).tobytes() == outputs.tobytes()
    _, leaf = np.unique(outputs, return_inverse=True)
    sums = [np.bincount(leaf, task[name]) for name in ("gradient", "hessian")]
    np.testing.assert_allclose(np.unique(outputs), sums[0] / sums[1], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_rows", "n_features", "coarse"),
    [(130_000, 100, False), (800_000, 1, True)],
    ids=["histograms", "codes of one feature"],
)
def test_so_many_rows_that_threads_take_several_parts_grow_the_same_tree(n_rows, n_features, coarse):
    X, task = large(n_rows, n_features)
    binned = binned_all(X, coarse=coarse)
    trees = {
        tuple(part.tobytes() for part in (*tree.values(), outputs))
        for tree, outputs in (grown(binned, **task, **LIMITS, n_threads=n) for n in (1, 2))
    }
    assert len(trees) == 1


def test_the_gain_of_many_rows_is_exact():
    n_rows = 300_000
    X = np.repeat(np.arange(3, dtype=np.float32), n_rows // 3)[:, None]
    task = all_rows_task(np.where(X[:, 0] < 1, -1e5, 1e5), np.full(n_rows, 1e5))
    tree, _ = grow(binned_all(X), task, LIMITS | {"max_leaves": 2})
    assert tree.threshold.tolist() == [0.5]
    assert tree.gain[0] == pytest.approx(n_rows * 1e5 * (1 - 1 / 9), rel=1e-9)


# Weights over several orders of magnitude


def log_uniform(rng, n_rows):
    return 10.0 ** rng.uniform(0, 6, n_rows)


def few_heavy(rng, n_rows):
    return np.where(np.arange(n_rows) < 5, 1e6, rng.uniform(1, 2, n_rows))


@pytest.mark.slow
@pytest.mark.parametrize("weights_of", [log_uniform, few_heavy])
@pytest.mark.parametrize("coarse", [False, True])
def test_with_weights_over_six_orders_of_magnitude_trees_fit_as_in_full_precision(weights_of, coarse):
    rng = np.random.default_rng(7)
    n_rows = 150
    X = rng.normal(size=(n_rows, 3)).astype(np.float32)
    weights = weights_of(rng, n_rows)
    X[:, 0] = np.log10(weights)  # light documents can be told from heavy ones
    target = np.where(X[:, 1] > 0, 1.0, -1.0) + 0.1 * rng.normal(size=n_rows)
    task = all_rows_task(weights * target, weights, n_features=3)
    limits = LIMITS | {"max_leaves": 8, "levels": levels_for(weights)}
    binned = binned_all(X, coarse=coarse)
    _, outputs = grow(binned, task, limits)
    levels = binned.levels() if coarse else None
    _, exact = ExactGrower(encode(X, binned.edges), binned.edges, **task, **limits, coarse=levels).grow()
    for importance in (weights, np.ones(n_rows)):
        error, wanted = (np.sum(importance * (target - found) ** 2) for found in (outputs, np.array(exact)))
        assert error <= 1.05 * wanted


@pytest.mark.parametrize(
    ("weights", "levels"),
    [
        (None, LEVELS),
        (np.ones(9), LEVELS),
        (np.array([1.0, 2.0, 16.0, 0.0, 0.0, 0.0, 1.0]), LEVELS),
        (np.array([1.0, 1.0, 17.0, 0.0]), FINE_LEVELS),
        (10.0 ** np.linspace(0, 6, 50), FINE_LEVELS),
    ],
)
def test_steps_are_fine_where_the_largest_weight_dwarfs_the_median(weights, levels):
    assert levels_for(weights) == levels


def test_fine_steps_leave_sums_room_in_32_bits():
    n_rows = 4000
    X = np.arange(n_rows, dtype=np.float32)[:, None] // 40
    weights = np.where(np.arange(n_rows) == 0, 1e6, 1.0)
    task = all_rows_task(np.where(X[:, 0] < 50, -1, 1) * weights, weights)
    tree, outputs = grow(
        binned_all(X), task, LIMITS | {"max_leaves": 2, "l2": 1e-3, "levels": levels_for(weights)}
    )
    assert tree.threshold.tolist() == [49.5]
    np.testing.assert_allclose(outputs, np.where(X[:, 0] < 50, -1, 1), rtol=1e-3)


# What the binding refuses


def as_kind(values, kind):
    return np.array(values, dtype=kind)


@pytest.mark.parametrize(
    "bad",
    [
        {"gradient": [1.0]},
        {"gradient": [1.0, 2.0, 3.0, 4.0]},
        {"gradient": [1.0, np.nan, 1.0]},
        {"hessian": [1.0, np.inf, 1.0]},
        {"hessian": [1.0]},
        {"hessian": [1.0, -1e-9, 1.0]},
        {"sample_weights": [1.0, np.inf, 1.0]},
        {"sample_weights": [1.0, 1.0]},
        {"sample_weights": [1.0, -1e-9, 1.0]},
        {"sample": as_kind([1, 0, 2], np.uint32)},
        {"sample": as_kind([0, 1, 1], np.uint32)},
        {"sample": as_kind([0, 1, 3], np.uint32)},
        {"sample": as_kind([0, 1, 2**32 - 1], np.uint32)},
        {"sample": as_kind([0, 1, 2, 3], np.uint32)},
        {"features": as_kind([0, 2], np.uint32)},
        {"features": as_kind([1, 0], np.uint32)},
        {"features": as_kind([1, 1], np.uint32)},
        {"monotone": as_kind([1], np.int8)},
        {"monotone": as_kind([1, 0, 1], np.int8)},
        {"monotone": as_kind([2, 0], np.int8)},
        {"monotone": as_kind([0, -2], np.int8)},
        {"max_leaves": 0},
        {"max_leaves": -1},
        {"min_documents": 0},
        {"levels": -1},
        {"levels": 128},
        {"min_hessian": -1.0},
        {"min_hessian": np.nan},
        {"l2": -0.5},
        {"l2": np.nan},
        {"min_gain": -1.0},
        {"min_gain": np.nan},
    ],
    ids=str,
)
def test_binding_refuses_what_would_leave_the_arrays(bad):
    binned = binned_all(np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32))
    arguments = all_rows_task([1, 2, 3], n_features=2) | LIMITS | {"n_threads": 1}
    bad = {name: as_kind(value, float) if isinstance(value, list) else value for name, value in bad.items()}
    with pytest.raises(ValueError, match="must"):
        grown(binned, **(arguments | bad))


# Symmetric trees


@given(tasks(), DRAWN_LIMITS, st.sampled_from([1, 2, 4]))
@examples(150)
def test_symmetric_trees_grow_as_the_slow_ones(drawn, limits, n_threads):
    (X, max_bins, task), limits = drawn, limits | {"min_documents": 1}
    binned = binned_all(X, max_bins)
    tree, outputs = grow(binned, task, limits | {"symmetric": True}, n_threads)
    slow, slow_outputs = SymmetricGrower(encode(X, binned.edges), binned.edges, **task, **limits).grow()
    for name, wanted in asdict(slow).items():
        if name == "leaf_value":
            np.testing.assert_allclose(tree.leaf_value, wanted, rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(getattr(tree, name), np.array(wanted, getattr(tree, name).dtype), name)
    np.testing.assert_allclose(outputs, slow_outputs, rtol=1e-9, atol=1e-12)


def test_a_level_shares_its_split():
    X = np.random.default_rng(0).normal(size=(400, 5)).astype(np.float32)
    y = np.sign(X[:, 0]) * np.sign(X[:, 1]) * (1 + (X[:, 2] > 0))
    tree, _ = grow(binned_all(X), all_rows_task(y, n_features=5), LIMITS | {"max_leaves": 15, "symmetric": True})
    assert len(tree.leaf_value) == 8  # the largest power of 2
    assert tree.feature[0] != tree.feature[1]
    for level in ((1, 2), (3, 4, 5, 6)):
        assert len({(tree.feature[node], tree.threshold[node]) for node in level}) == 1


@pytest.mark.parametrize(
    "bad", [{"min_documents": 2}, {"monotone": as_kind([1, 0], np.int8)}, {"coarse": True}], ids=str
)
def test_symmetric_trees_refuse_what_they_do_not_do(bad):
    X = np.random.default_rng(0).normal(size=(30, 2)).astype(np.float32)
    arguments = all_rows_task(X[:, 0], n_features=2) | LIMITS | {"n_threads": 1, "symmetric": True}
    binned = binned_all(X, coarse=bad.pop("coarse", False))
    with pytest.raises(ValueError, match="must"):
        grown(binned, **(arguments | bad))


# The learner


def learner_of(X, *, documents=1.0, by="documents", features=1.0, n_threads=1, seed=0, **limits):
    every = {"max_leaves": 4, "min_documents": 1, "min_hessian": 0.0, "l2": 0.0} | limits
    return TreeLearner(
        BinnedFeatures.of(X, np.arange(len(X))),
        QueryGroups.of(np.arange(len(X)) // 10),
        limits=TreeLimits(**every),
        sampling=TreeSampling(documents, by, features),
        monotone=np.zeros(0, dtype=np.int8),
        random=np.random.default_rng(seed),
        n_threads=n_threads,
    )


def signal_of(X, seed=3):
    rng = np.random.default_rng(seed)
    return Gradients(np.sin(X[:, 0]) + 0.1 * rng.normal(size=len(X)), rng.random(len(X)))


@pytest.mark.parametrize("by", ["documents", "queries", "gradient"])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_the_learner_gives_newton_leaves_of_all_documents(by, share):
    X = np.random.default_rng(1).normal(size=(300, 5)).astype(np.float32)
    signal = signal_of(X)
    weak = learner_of(X, documents=share, by=by, features=0.6, l2=0.5).fit(signal)
    assert weak.model.predict(X).tobytes() == weak.outputs.tobytes()
    leaf = leaves_of(weak.model, X)
    sums = [np.bincount(leaf, values) for values in (signal.gradient, signal.hessian)]
    np.testing.assert_allclose(weak.model.leaf_value, sums[0] / (sums[1] + 0.5), rtol=1e-10)


def test_the_learner_draws_anew_each_round_and_alike_for_a_seed():
    X = np.random.default_rng(1).normal(size=(300, 8)).astype(np.float32)
    signal = signal_of(X)
    twice = [learner_of(X, documents=0.5, features=0.25, seed=4) for _ in range(2)]
    rounds = [[one.fit(signal).outputs.tobytes() for _ in range(5)] for one in twice]
    assert rounds[0] == rounds[1]
    assert len(set(rounds[0])) > 1


def test_a_share_of_features_is_at_least_one_and_never_another():
    X = np.random.default_rng(1).normal(size=(100, 10)).astype(np.float32)
    learner = learner_of(X, features=0.01)
    for _ in range(5):
        assert len(set(learner.fit(signal_of(X)).model.feature.tolist())) == 1


@pytest.mark.parametrize("draws", [{"features": 0.1}, {"documents": 1e-9}, {"documents": 1e-9, "by": "gradient"}])
def test_a_draw_without_a_split_is_no_end(draws):
    X = np.zeros((60, 20), dtype=np.float32)
    X[:, 7] = np.arange(60) % 7  # the only feature that says anything
    learner, signal = learner_of(X, **draws), signal_of(X[:, 7:])
    for _ in range(5):
        assert set(learner.fit(signal).model.feature.tolist()) == {7}


# All SIMD paths


@pytest.mark.parametrize("path", range(_native.widest_path() + 1))
@given(
    arrays.arrays(np.int32, st.tuples(st.integers(0, 40), st.just(2)), elements=st.integers(-9, 9)),
    st.floats(0, 3),
    st.floats(0, 9),
)
def test_gains_of_all_splits_at_once_are_those_of_each(path, sums, l2, min_hessian):
    gradient, weight = sums[:, 0].astype(np.int64), np.abs(sums[:, 1]).astype(np.int64)
    all_gradient, all_weight, steps = 5, 12, (0.37, 1.3)
    found = _native.split_gains(
        (gradient << 32) + weight, (all_gradient << 32) + all_weight, *steps, l2, min_hessian, 0.7, path
    )
    for gain, *left in zip(found, gradient, weight, strict=True):
        sides = [(g * steps[0], w * steps[1]) for g, w in (left, (all_gradient - left[0], all_weight - left[1]))]
        if all(w > 0 and w >= min_hessian for _, w in sides):
            assert gain == sum(g * g / (w + l2) for g, w in sides) - 0.7
        else:
            assert gain == -np.inf


@pytest.mark.parametrize("path", range(_native.widest_path() + 1))
@given(
    st.lists(st.tuples(st.integers(-(2**24), 2**24), st.integers(0, 2**24)), min_size=1, max_size=40),
    st.integers(0, 2**24),
    st.integers(1, 2**20),
    st.one_of(st.just(0.0), st.floats(1e-3, 1e17)),
)
def test_the_highest_sides_are_nearly_those_of_the_best_split(path, sums, more, least, l2):
    packed = np.array([(gradient << 32) + hessian for gradient, hessian in sums], dtype=np.int64)
    lefts = np.cumsum(sums, axis=0).tolist()
    all_gradient, all_hessian = 12_345_678, lefts[-1][1] + more
    sides = [((g, h), (all_gradient - g, all_hessian - h)) for g, h in lefts[1:]]
    allowed = [pair for pair in sides if min(h for _, h in pair) >= least]
    exact = max((sum(g * g / (h + l2) for g, h in pair) for pair in allowed), default=0.0)
    before, rest = int(packed[0]), packed[1:]
    found = _native.highest_sides(rest, before, all_gradient, all_hessian, least, l2, path)
    assert found == pytest.approx(exact, rel=1e-6)  # a tenth of the error that the search allows for


@pytest.mark.parametrize("path", range(_native.widest_path() + 1))
@given(
    arrays.arrays(
        np.int32, st.tuples(st.integers(1, 6), st.integers(0, 20), st.just(2)), elements=st.integers(-9, 9)
    ),
    st.floats(0, 3),
    st.floats(0, 9),
)
def test_gains_summed_over_classes_are_those_of_each(path, sums, l2, min_hessian):
    n_classes = len(sums)
    gradient, hessian = sums[..., 0].astype(np.int64), np.abs(sums[..., 1]).astype(np.int64)
    steps = np.linspace(0.3, 1.1, n_classes), np.linspace(1.3, 0.2, n_classes)
    found = _native.class_gains(
        (gradient << 32) + hessian, np.full(n_classes, (5 << 32) + 12), *steps, l2, min_hessian, 0.7, path
    )
    for split, gain in enumerate(found):
        gains, hessians = [0.0, 0.0], [0.0, 0.0]
        for k in range(n_classes):
            left = int(gradient[k, split]), int(hessian[k, split])
            for side, (g, h) in enumerate((left, (5 - left[0], 12 - left[1]))):
                g, h = float(g * steps[0][k]), float(h * steps[1][k])  # which may overflow without a warning
                gains[side] += g * g / (h + l2) if h + l2 > 0 else 0.0
                hessians[side] += h
        allowed = min(hessians) > 0 and min(hessians) >= min_hessian
        assert gain == (gains[0] + gains[1] - 0.7 if allowed else -np.inf)


@pytest.mark.parametrize("path", range(_native.widest_path() + 1))
@pytest.mark.parametrize("n_values", [1, 4, 5, 8, 9])
@pytest.mark.parametrize("n_columns", [1, 16, 21])
def test_sums_of_several_integers_are_those_of_each(path, n_values, n_columns):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 256, size=(700, n_columns), dtype=np.uint8)
    codes[rng.random(codes.shape) < 0.5] = 0
    values = rng.integers(-(2**40), 2**40, size=(700, n_values))
    rows = np.flatnonzero(rng.random(700) < 0.8).astype(np.uint32)
    found = _native.wide_sums(codes, values, rows, path)
    expected = np.zeros_like(found)
    for column in range(n_columns):
        np.add.at(expected[column, :, :n_values], codes[rows, column], values[rows])
    np.testing.assert_array_equal(found, expected)


def test_sums_of_rows_that_exceed_64_bits_are_refused():
    codes, rows = np.zeros((2, 1), dtype=np.uint8), np.arange(2, dtype=np.uint32)
    with pytest.raises(ValueError, match="sums of values must fit in 64 bits"):
        _native.wide_sums(codes, np.full((2, 1), 2**62), rows, 0)


def test_sums_whose_right_side_exceeds_64_bits_are_refused():
    left = np.array([-(2**63), 5])
    with pytest.raises(ValueError, match="a right side exceeds 64 bits"):
        _native.split_gains(left, 2**62, 1.0, 1.0, 1.0, 0.0, 0.0, 0)
    with pytest.raises(ValueError, match="a left side exceeds 31 bits"):
        _native.highest_sides(left, 0, 1, 1, 1, 0.0, 0)
    with pytest.raises(ValueError, match="sums must fit 31 bits"):
        _native.highest_sides(left[:0], 0, 1, 1, 0, 0.0, 0)
    with pytest.raises(ValueError, match="a right side exceeds 64 bits"):
        _native.class_gains(left[None], np.array([2**62]), np.ones(1), np.ones(1), 1.0, 0.0, 0.0, 0)


COLUMNS_OF_GRADIENTS = arrays.arrays(
    np.float64,
    st.integers(1, 40),
    elements=st.sampled_from([-1.0, 0.0, 1.0, 1e-20, 1e-300, 5e-324]) | st.floats(-1e3, 1e3),
)
SHARES = st.sampled_from([1e-12, 0.1, 0.25, 0.5, 0.75, 1 - 1e-12]) | st.floats(0.01, 0.99)


def generator(seed=7):
    return np.random.default_rng(seed)


def assert_some_of(sample, n_rows):
    assert sample.rows.dtype == np.uint32
    assert (np.diff(sample.rows.astype(int)) > 0).all()
    assert len(sample.rows) > 0, "a round must look at something"
    assert sample.rows[-1] < n_rows


def test_all_rows_are_all_rows():
    sample = all_rows(5)
    assert_some_of(sample, 5)
    assert sample.rows.tolist() == [0, 1, 2, 3, 4]
    assert len(sample.weights) == 0


@given(COLUMNS_OF_GRADIENTS, SHARES, st.integers(0, 100))
def test_every_draw_takes_some_rows(gradient, share, seed):
    n_rows, groups = len(gradient), QueryGroups.of(np.arange(len(gradient)) % 5)
    assert_some_of(draw_documents(n_rows, share, generator(seed)), n_rows)
    assert_some_of(draw_queries(groups, share, generator(seed)), n_rows)
    by_gradient = draw_by_size([gradient], share, generator(seed))
    assert_some_of(by_gradient, n_rows)
    if len(by_gradient.weights):
        assert by_gradient.weights.shape == by_gradient.rows.shape
        assert (np.isfinite(by_gradient.weights) & (by_gradient.weights >= 1)).all()
        assert (gradient[by_gradient.rows] != 0).all()


def test_the_same_generator_draws_the_same():
    gradient = generator().normal(size=100)
    for draw in (
        lambda random: draw_documents(100, 0.4, random),
        lambda random: draw_queries(QueryGroups.of(np.arange(100) // 5), 0.4, random),
        lambda random: draw_by_size([gradient], 0.4, random),
    ):
        assert draw(generator(3)).rows.tolist() == draw(generator(3)).rows.tolist()
        assert draw(generator(3)).rows.tolist() != draw(generator(4)).rows.tolist()


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_a_draw_has_the_expected_size(share):
    gradient = generator().normal(size=40_000) ** 3
    groups = QueryGroups.of(np.arange(40_000) // 4)
    for sample in (
        draw_documents(40_000, share, generator()),
        draw_queries(groups, share, generator()),
        draw_by_size([gradient], share, generator()),
    ):
        assert len(sample.rows) / 40_000 == pytest.approx(share, abs=0.02)


def test_queries_are_drawn_whole():
    qid = generator().integers(300, size=5000)
    sample = draw_queries(QueryGroups.of(qid), 0.5, generator())
    assert not set(qid[sample.rows]) & set(np.delete(qid, sample.rows))


@given(COLUMNS_OF_GRADIENTS, SHARES)
def test_chances_sum_to_the_share_or_to_all_that_can_be_drawn(gradient, share):
    size = np.where(np.abs(gradient) < 1e-100, 0.0, np.abs(gradient))
    mu = _native.size_threshold([size], share)
    expected = (size / np.maximum(size, mu)).sum()
    assert expected == pytest.approx(min(share * len(size), np.count_nonzero(size)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("values", "fraction", "said"),
    [
        ([], 0.5, "values must have"),
        ([np.ones(3), np.ones(2)], 0.5, "finite"),
        ([np.array([1.0, np.inf])], 0.5, "finite"),
        ([np.ones(3)], 0.0, "fraction must be above 0"),
        ([np.ones(3)], np.nan, "fraction must be above 0"),
    ],
)
def test_the_threshold_of_sizes_refuses(values, fraction, said):
    with pytest.raises(ValueError, match=said):
        _native.size_threshold(values, fraction)


def uniform(seed, n_rows):
    """SplitMix64, in numbers of any length."""
    drawn = []
    for row in range(n_rows):
        bits = (seed + (row + 1) * 0x9E3779B97F4A7C15) % 2**64
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB % 2**64
        drawn.append(((bits ^ bits >> 31) // 2**12 + 0.5) / 2**52)
    return np.array(drawn)


@given(COLUMNS_OF_GRADIENTS, st.floats(1e-3, 1e3), st.integers(0, 2**63 - 1))
@example(generator().normal(size=10_000), 2.0, 5)
def test_draws_as_the_slow_twin(gradient, mu, seed):
    rows, weights = _native.draw_by_size([gradient, 0.5 * gradient], mu, seed, 1)
    size = np.sqrt(1.25) * np.abs(np.where(np.abs(gradient) < 1e-150, 0.0, gradient))
    least = uniform(seed, len(gradient)) * mu
    clear = ~np.isclose(least, size, rtol=1e-12, atol=0)  # of rounding
    assert set(np.flatnonzero(clear & (least < size))) <= set(rows)
    assert not set(np.flatnonzero(clear & (least > size))) & set(rows)
    np.testing.assert_allclose(weights, np.maximum(1.0, mu / size[rows]), rtol=1e-12)


@pytest.mark.parametrize(
    ("values", "mu", "said"),
    [
        ([], 1.0, "values must have"),
        ([np.ones(3), np.ones(2)], 1.0, "finite"),
        ([np.array([1.0, np.nan])], 1.0, "finite"),
        ([np.ones(3)], 0.0, "mu must be above 0"),
        ([np.ones(3)], np.nan, "mu must be above 0"),
    ],
)
def test_the_binding_refuses(values, mu, said):
    with pytest.raises(ValueError, match=said):
        _native.draw_by_size(values, mu, 1, 1)


def test_any_number_of_threads_draws_the_same():
    gradient = generator().normal(size=50_000) ** 3
    draws = [_native.draw_by_size([gradient], 3.0, 5, n) for n in (1, 2, 3, -1)]
    assert len({tuple(part.tobytes() for part in one) for one in draws}) == 1
    assert 1_000 < len(draws[0][0]) < 49_000


def test_large_gradients_are_drawn_for_certain_and_small_ones_in_proportion():
    gradient = np.array([100.0, -50, 1, 2, -1, 0])
    chances = np.minimum(1.0, np.abs(gradient) / _native.size_threshold([gradient], 0.5))
    np.testing.assert_allclose(chances, [1, 1, 0.25, 0.5, 0.25, 0])


def test_negligible_gradients_do_not_spoil_the_rest():
    gradient = np.array([1e-20, 1, 1, 1])  # three of four are wanted: the sum of all is that of three
    sample = draw_by_size([gradient], 0.75, generator())
    assert sample.rows.tolist() == [1, 2, 3]
    assert sample.weights.tolist() == [1, 1, 1]


def test_weighted_sums_keep_their_expectation():
    random = generator()
    gradient = random.normal(size=200) ** 3
    value = random.random(200)
    draws = [draw_by_size([gradient], 0.3, random) for _ in range(4000)]
    for wanted in (gradient, value, np.ones(200)):
        sums = [(wanted[one.rows] * one.weights).sum() for one in draws]
        error = np.std(sums) / np.sqrt(len(sums))
        assert np.mean(sums) == pytest.approx(wanted.sum(), abs=4 * error)
    # The sum of absolute gradients hardly varies: that is what they are drawn by.
    sums = [(np.abs(gradient[one.rows]) * one.weights).sum() for one in draws]
    plain = [np.abs(gradient[draw_documents(200, 0.3, random).rows]).sum() / 0.3 for _ in range(1000)]
    assert np.std(sums) < np.std(plain) / 2


@pytest.mark.parametrize("share", [1e-9, 0.5, 1 - 1e-9])
def test_gradients_of_zero_draw_all(share):
    sample = draw_by_size([np.zeros(6)], share, generator())
    assert len(sample.rows) == 6
    assert len(sample.weights) == 0


def test_a_share_near_0_draws_all_or_a_few_and_near_1_nearly_all():
    gradient = generator().normal(size=1000)
    nothing = draw_by_size([gradient], 1e-12, generator())
    assert len(nothing.rows) == 1000
    assert len(nothing.weights) == 0
    assert len(draw_documents(1000, 1e-12, generator()).rows) == 1000
    nearly = draw_by_size([gradient], 1 - 1e-9, generator())
    assert len(nearly.rows) >= 999
    np.testing.assert_allclose(nearly.weights, 1, atol=0.01)


@pytest.mark.parametrize(
    ("n_rows", "coarse", "wanted", "drawn"),
    [
        (700_000, True, 0.1, 0.1),
        (400_000, True, 0.1, 0.125),  # at least 50,000
        (150_000, True, 0.1, 1.0),  # 50,000 would save no time
        (150_000, True, 0.5, 0.5),
        (150_000, False, 0.1, 0.1),
    ],
)
def test_a_sample_that_would_save_no_time_is_not_drawn(n_rows, coarse, wanted, drawn):
    binned = SimpleNamespace(n_rows=n_rows, matrix=SimpleNamespace(coarse=coarse))
    assert first_fraction(wanted, binned) == drawn


def test_a_guard_of_no_fraction_is_refused():
    for fraction in (0.0, 1.5, np.nan):
        with pytest.raises(ValueError, match="fraction must be above 0 and at most 1"):
            _native.sample_guard(fraction)
