from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from properties import examples
from rankwright import _native
from rankwright.data.dataset import RankingData
from rankwright.data.groups import QueryGroups
from rankwright.models import ClassTrees, TreeEnsemble
from rankwright.training.binned_features import BinnedFeatures
from rankwright.training.learners.class_trees import ClassTreeLearner, TreePerClass
from rankwright.training.learners.signal import Gradients
from rankwright.training.learners.tree import TreeLearner, TreeLimits, TreeSampling
from reference.binning import encode
from reference.class_growth import ClassGrower
from training.learners.test_tree import DRAWN_LIMITS, GRADIENTS, LIMITS, VALUES, WEIGHTS, binned_all, leaves_of

WORKSPACE = _native.GrowthWorkspace()  # one for all: nothing of one tree may show in the next


@st.composite
def tasks(draw):
    """Features, and what a tree for several classes is to be grown from."""
    n_rows, n_features, n_classes = draw(st.integers(1, 20)), draw(st.integers(1, 4)), draw(st.integers(1, 7))
    X = draw(arrays.arrays(np.float32, (n_rows, n_features), elements=VALUES))
    if draw(st.booleans()):
        X[:, 0] = 3  # a column that says nothing
    shape = (n_classes, n_rows)
    gradient = draw(arrays.arrays(np.float64, shape, elements=GRADIENTS))
    hessian = draw(arrays.arrays(np.float64, shape, elements=WEIGHTS))
    drawn = draw(st.just(np.ones(n_rows, dtype=bool)) | arrays.arrays(np.bool_, n_rows))
    weights = draw(st.just(np.zeros(0)) | arrays.arrays(np.float64, int(drawn.sum()), elements=st.floats(0.5, 4)))
    features = draw(st.just(range(n_features)) | st.sets(st.integers(0, n_features - 1)))
    task = {
        "gradient": gradient,
        "hessian": hessian,
        "sample": np.flatnonzero(drawn).astype(np.uint32),
        "sample_weights": weights,
        "features": np.array(sorted(features), dtype=np.uint32),
    }
    return X, draw(st.sampled_from([2, 4, 255])), task


def grown(binned, **arguments):
    return _native.grow_class_tree(binned, **arguments, workspace=WORKSPACE)


def grow(binned, task, limits, n_threads=1):
    arrays_of_tree, outputs = grown(binned, **task, **limits, n_threads=n_threads)
    return arrays_of_tree, outputs


def classes_of(tree, outputs, n_features):
    tree = dict(tree)
    values = tree.pop("leaf_value").reshape(-1, len(outputs))
    splits = np.array([0, len(tree["feature"])])
    trees = TreeEnsemble(splits, **tree, leaf_value=np.zeros(len(values)), n_features=n_features)
    return ClassTrees(trees, values, len(outputs))


def all_rows_task(gradient, n_features=1):
    gradient = np.asarray(gradient, dtype=float)
    hessian = np.ones_like(gradient)
    return {
        "gradient": gradient,
        "hessian": hessian,
        "sample": np.arange(gradient.shape[1], dtype=np.uint32),
        "sample_weights": np.zeros(0),
        "features": np.arange(n_features, dtype=np.uint32),
    }


# Against the slow twin


@examples(200)
@given(tasks(), DRAWN_LIMITS, st.booleans())
def test_grows_as_the_slow_twin(task, limits, coarse):
    X, max_bins, task = task
    binned = binned_all(X, max_bins, coarse=coarse)
    tree, outputs = grow(binned, task, limits)
    slow, slow_outputs = ClassGrower(encode(X, binned.edges), binned.edges, **task, monotone=(), **limits).grow()
    for name, wanted in asdict(slow).items():
        if name == "leaf_value":  # sums in another order
            np.testing.assert_allclose(tree[name], wanted, rtol=1e-12, atol=1e-12)
        else:
            np.testing.assert_array_equal(tree[name], wanted)
    np.testing.assert_allclose(outputs, slow_outputs, rtol=1e-12, atol=1e-12)


@given(tasks(), DRAWN_LIMITS)
def test_outputs_are_the_trees_own_scores_bit_for_bit(task, limits):
    X, max_bins, task = task
    tree, outputs = grow(binned_all(X, max_bins), task, limits)
    data = RankingData(X, np.zeros(len(X)), np.zeros(len(X), dtype=int))
    assert classes_of(tree, outputs, X.shape[1]).outputs(data).tobytes() == outputs.tobytes()


@given(tasks(), DRAWN_LIMITS)
def test_one_class_grows_as_a_plain_tree_does(task, limits):
    X, max_bins, task = task
    one = {name: value[:1] if value.ndim == 2 else value for name, value in task.items()}
    one["hessian"] = np.ones((1, len(X)))  # where all weigh alike, both say the same
    one["sample_weights"] = np.zeros(0)
    plain = {name: value[0] if value.ndim == 2 else value for name, value in one.items()}
    binned = binned_all(X, max_bins)
    tree, outputs = grow(binned, one, limits)
    expected, expected_outputs = _native.grow_tree(
        binned,
        **plain,
        monotone=np.zeros(0, np.int8),
        **limits,
        n_threads=1,
        workspace=_native.GrowthWorkspace(),
    )
    for name in tree:
        assert tree[name].tobytes() == expected[name].tobytes(), name
    assert outputs[0].tobytes() == expected_outputs.tobytes()


def test_a_split_counts_for_what_all_classes_gain():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.float32)
    by_first, by_second = np.array([-3.0, -3.0, 3.0, 3.0]), np.array([-2.0, 2.0, -2.0, 2.0])
    limits = LIMITS | {"max_leaves": 2}
    for classes, feature in (([by_first, by_second], 0), ([by_first, by_second, by_second, by_second], 1)):
        tree, _ = grow(binned_all(X), all_rows_task(classes, 2), limits)
        assert tree["feature"].tolist() == [feature]
    np.testing.assert_allclose(tree["leaf_value"].reshape(2, 4), [[0, -2, -2, -2], [0, 2, 2, 2]])


@pytest.mark.parametrize("n_classes", [2, 5, 9])
def test_any_number_of_threads_grows_the_same_tree(n_classes):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 8)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    task = all_rows_task(np.sin(X[:, 0] * np.arange(1, n_classes + 1)[:, None]) + X[:, 1] > 0.5, 8)
    task["gradient"] = np.nan_to_num(task["gradient"]) - 0.5
    limits = LIMITS | {"max_leaves": 12, "min_documents": 20}
    found = {
        tuple(part.tobytes() for part in (*tree.values(), outputs))
        for tree, outputs in (grow(binned_all(X), task, limits, n) for n in (1, 2, 3))
    }
    assert len(found) == 1
    assert len(grow(binned_all(X), task, limits)[0]["cover"]) == 12


@pytest.mark.parametrize(
    "bad",
    [
        {"gradient": np.zeros((0, 3))},
        {"gradient": np.zeros((257, 3))},
        {"gradient": np.zeros((1, 3))},
        {"gradient": np.zeros((2, 2))},
        {"gradient": np.full((2, 3), np.nan)},
        {"hessian": np.zeros((3, 3))},
        {"hessian": np.full((2, 3), np.inf)},
        {"hessian": np.full((2, 3), -1e-9)},
        {"sample_weights": np.ones(2)},
        {"sample_weights": np.full(3, -1e-9)},
        {"sample": np.array([0, 1, 3], dtype=np.uint32)},
        {"sample": np.array([2, 1], dtype=np.uint32)},
        {"features": np.array([0, 2], dtype=np.uint32)},
        {"features": np.array([1, 0], dtype=np.uint32)},
        {"max_leaves": 0},
        {"min_documents": 0},
        {"levels": -1},
        {"levels": 128},
        {"min_hessian": -1.0},
        {"l2": np.nan},
        {"min_gain": -1.0},
    ],
    ids=str,
)
def test_binding_refuses_what_would_leave_the_arrays(bad):
    binned = binned_all(np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32))
    arguments = all_rows_task([[1, 2, 3], [3, 2, 1]], n_features=2) | LIMITS | {"n_threads": 1}
    with pytest.raises(ValueError, match="must"):
        grown(binned, **(arguments | bad))


# The learners


def learner_of(kind, X, *, documents=1.0, by="documents", features=1.0, seed=0, **limits):
    every = {"max_leaves": 4, "min_documents": 1, "min_hessian": 0.0, "l2": 0.0} | limits
    return kind(
        BinnedFeatures.of(X, np.arange(len(X))),
        QueryGroups.of(np.arange(len(X)) // 10),
        limits=TreeLimits(**every),
        sampling=TreeSampling(documents, by, features),
        monotone=np.zeros(0, dtype=np.int8),
        random=np.random.default_rng(seed),
        n_threads=1,
    )


def signal_of(X, n_classes=3):
    rng = np.random.default_rng(3)
    gradient = np.sin(X[:, :n_classes].T) + 0.1 * rng.normal(size=(n_classes, len(X)))
    return Gradients(gradient, rng.random((n_classes, len(X))))


X = np.random.default_rng(1).normal(size=(300, 5)).astype(np.float32)
DATA = RankingData(X, np.zeros(300), np.arange(300) // 10)


@pytest.mark.parametrize("by", ["documents", "queries", "gradient"])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_the_shared_tree_has_newton_leaves_of_all_documents(by, share):
    signal = signal_of(X)
    weak = learner_of(ClassTreeLearner, X, documents=share, by=by, features=0.6, l2=0.5).fit(signal)
    assert weak.model.outputs(DATA).tobytes() == weak.outputs.tobytes()
    leaf = leaves_of(weak.model.trees, X)
    for k in range(3):
        sums = [np.bincount(leaf, values[k]) for values in (signal.gradient, signal.hessian)]
        np.testing.assert_allclose(weak.model.values[:, k], sums[0] / (sums[1] + 0.5), rtol=1e-10)


def test_a_tree_per_class_is_the_plain_learner_for_each():
    signal = signal_of(X)
    weak = learner_of(TreePerClass, X, documents=0.5, features=0.6).fit(signal)
    plain = learner_of(TreeLearner, X, documents=0.5, features=0.6)
    each = [plain.fit(Gradients(*pair)) for pair in zip(signal.gradient, signal.hessian, strict=True)]
    np.testing.assert_array_equal(weak.outputs, [one.outputs for one in each])
    assert weak.model.outputs(DATA).tobytes() == weak.outputs.tobytes()
    assert weak.model.trees.n_trees == weak.model.trees_per_round == 3
