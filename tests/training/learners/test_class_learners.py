import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from properties import examples
from rankwright import _native
from rankwright.models import ClassTrees, TreeEnsemble
from rankwright.training.learners.class_learners import ClassLearner, ClassWeights, DecisionProduct, HammingTree
from rankwright.training.training_set import BinnedFeatures
from reference import classes as reference

# Few values make many ties.
VALUES = st.sampled_from([-1.5, 0.0, 1.0, 2.0, np.nan]) | st.floats(-9, 9, width=32)
UNIT = 64.0  # signed weights are whole numbers of 1 / UNIT, which the kernel keeps exactly
WORKSPACE = _native.GrowthWorkspace()  # one for all: nothing of one fit may show in the next


@st.composite
def tasks(draw):
    n_rows, n_features, n_classes = draw(st.integers(1, 14)), draw(st.integers(1, 3)), draw(st.integers(1, 7))
    X = draw(arrays.arrays(np.float32, (n_rows, n_features), elements=VALUES))
    if draw(st.booleans()):
        X[:, 0] = 3  # a column that says nothing
    signed = draw(arrays.arrays(np.int64, (n_rows, n_classes), elements=st.integers(-20, 20)))
    max_bins, coarse = draw(st.sampled_from([2, 4, 255])), draw(st.booleans())
    binned = BinnedFeatures.of(X, np.arange(n_rows), max_bins=max_bins, coarse=coarse).matrix
    return X, binned, signed, draw(st.booleans())


def twins_view(binned, signed):
    return binned.codes().tolist(), [len(edges) + 1 for edges in binned.edges], signed.tolist()


def as_ensembles(binned, tree, votes):
    splits = np.array([0, len(tree["feature"])])
    trees = TreeEnsemble(splits, **tree, leaf_value=np.zeros(len(votes)), n_features=binned.n_features)
    return ClassTrees(trees, votes, votes.shape[1])


def scored(binned, tree, votes, X):
    one = as_ensembles(binned, tree, votes)
    return np.stack([own.predict(X) for own in one.by_class], axis=1)


@examples(200)
@given(tasks(), st.sampled_from([1, 2, 3, 5, 40]), st.sampled_from([1, 2]))
def test_a_tree_is_the_twins(task, max_leaves, n_threads):
    X, binned, signed, opposite = task
    tree, votes, outputs = _native.grow_hamming_tree(
        binned, signed / UNIT, opposite, max_leaves, n_threads, WORKSPACE
    )
    stumps, expected, cover = reference.grow_tree(*twins_view(binned, signed), opposite, max_leaves)
    assert outputs.tolist() == expected
    assert tree["feature"].tolist() == [stump.feature for stump, _ in stumps]
    thresholds = [np.float32(binned.edges[stump.feature][stump.code]) for stump, _ in stumps]
    assert tree["threshold"].tolist() == thresholds
    assert tree["missing_left"].tolist() == [stump.missing_left for stump, _ in stumps]
    assert tree["gain"].tolist() == [gain / UNIT for _, gain in stumps]
    assert tree["cover"].tolist() == cover
    assert scored(binned, tree, votes, X).tolist() == expected


@examples(200)
@given(tasks(), st.sampled_from([1, 2, 3, 5]), st.sampled_from([1, 2]))
def test_a_product_is_the_twins(task, max_terms, n_threads):
    X, binned, signed, opposite = task
    tree, votes, outputs = _native.fit_product(binned, signed / UNIT, opposite, max_terms, n_threads, WORKSPACE)
    _, expected, edge = reference.fit_product(*twins_view(binned, signed), opposite, max_terms)
    assert outputs.tolist() == expected
    assert (signed * outputs).sum() == edge
    assert scored(binned, tree, votes, X).tolist() == expected
    assert tree["cover"].sum() == len(X)


@examples(50)
@given(tasks())
def test_more_leaves_and_terms_never_lower_the_edge(task):
    _, binned, signed, opposite = task
    for fit in (_native.grow_hamming_tree, _native.fit_product):
        outputs = [fit(binned, signed / UNIT, opposite, size, 1, WORKSPACE)[2] for size in (2, 4, 8)]
        edges = [(signed * own).sum() for own in outputs]
        assert edges[0] >= 0
        if fit is _native.grow_hamming_tree:
            assert edges == sorted(edges)


@pytest.mark.parametrize("opposite", [False, True])
def test_a_coarse_matrix_gives_the_same_trees_and_products_with_any_number_of_leaves(opposite):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 40)).astype(np.float32)
    signed = rng.normal(size=(300, 3))
    plain, coarse = (BinnedFeatures.of(X, np.arange(300), coarse=one).matrix for one in (False, True))
    assert coarse.n_bytes < plain.n_bytes
    for fit, size in ((_native.grow_hamming_tree, 2**31 - 1), (_native.fit_product, 4)):
        trees = [fit(binned, signed, opposite, size, 1, WORKSPACE) for binned in (plain, coarse)]
        np.testing.assert_array_equal(trees[0][2], trees[1][2])
        for name, wanted in trees[0][0].items():
            np.testing.assert_array_equal(trees[1][0][name], wanted)


def exclusive_or(n=64):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (n, 3)).astype(np.float32)
    own = X[:, 0] * X[:, 1] > 0
    weights = np.full((2, n), 1 / (2 * n))
    return X, ClassWeights(np.where(np.stack([own, ~own]), weights, -weights))


def test_a_product_of_two_learns_an_exclusive_or_that_a_stump_cannot():
    X, signal = exclusive_or()
    binned = BinnedFeatures.of(X, np.arange(len(X)))
    edges = {}
    for terms in (1, 3):
        learner = ClassLearner(binned, shape=DecisionProduct(terms), opposite=True, n_threads=1)
        edges[terms] = signal.edge(learner.fit(signal).outputs)
    assert edges[3] > 2 * edges[1]


def test_the_weak_model_says_of_the_training_documents_what_its_outputs_are():
    X, signal = exclusive_or()
    from rankwright.data.dataset import RankingData

    data = RankingData(X, np.zeros(len(X)), np.zeros(len(X), dtype=int))
    binned = BinnedFeatures.of(X, np.arange(len(X)))
    for shape in (HammingTree(5), DecisionProduct(4)):
        weak = ClassLearner(binned, shape=shape, opposite=False, n_threads=1).fit(signal)
        assert weak.model.outputs(data).tolist() == weak.outputs.tolist()
        assert set(np.unique(weak.outputs)) <= {-1.0, 1.0}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"signed_weights": np.zeros((3, 2))}, "one row of weights per document"),
        ({"signed_weights": np.zeros((4, 0))}, "one row of weights per document"),
        ({"signed_weights": np.full((4, 2), np.nan)}, "weights must be finite"),
        ({"signed_weights": np.full((4, 2), 1e308)}, "so must their sum"),
        ({"size": 0}, "must be"),
        ({"size": -1}, "must be"),
    ],
)
def test_the_kernels_refuse_what_is_wrong(changes, sentence):
    binned = BinnedFeatures.of(np.zeros((4, 1), dtype=np.float32), np.arange(4)).matrix
    right = {"signed_weights": np.ones((4, 2)), "size": 2} | changes
    for fit in (_native.grow_hamming_tree, _native.fit_product):
        with pytest.raises(ValueError, match=sentence):
            fit(binned, right["signed_weights"], True, right["size"], 1, WORKSPACE)


def test_a_product_has_at_most_16_terms():
    binned = BinnedFeatures.of(np.zeros((4, 1), dtype=np.float32), np.arange(4)).matrix
    with pytest.raises(ValueError, match="from 1 to 16"):
        _native.fit_product(binned, np.ones((4, 2)), True, 17, 1, WORKSPACE)
