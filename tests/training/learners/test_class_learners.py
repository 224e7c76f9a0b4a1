import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from properties import examples
from rankwright import _native
from rankwright.models import ClassTrees, TreeEnsemble
from rankwright.training.binned_features import BinnedFeatures
from rankwright.training.learners.class_learners import ClassLearner, ClassWeights, DecisionProduct, HammingTree
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


def by_class(signed):
    return np.ascontiguousarray(signed.T) / UNIT


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
        binned, by_class(signed), opposite, max_leaves, n_threads, WORKSPACE
    )
    stumps, expected, cover = reference.grow_tree(*twins_view(binned, signed), opposite, max_leaves)
    assert outputs.T.tolist() == expected
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
    tree, votes, outputs = _native.fit_product(binned, by_class(signed), opposite, max_terms, n_threads, WORKSPACE)
    _, expected, edge = reference.fit_product(*twins_view(binned, signed), opposite, max_terms)
    assert outputs.T.tolist() == expected
    assert (signed * outputs.T).sum() == edge
    assert _native.edge_of_votes(by_class(signed), outputs) == edge / UNIT
    assert scored(binned, tree, votes, X).tolist() == expected
    assert tree["cover"].sum() == len(X)


@examples(50)
@given(tasks())
def test_more_leaves_and_terms_never_lower_the_edge(task):
    _, binned, signed, opposite = task
    for fit in (_native.grow_hamming_tree, _native.fit_product):
        outputs = [fit(binned, by_class(signed), opposite, size, 1, WORKSPACE)[2] for size in (2, 4, 8)]
        edges = [(signed * own.T).sum() for own in outputs]
        assert edges[0] >= 0
        if fit is _native.grow_hamming_tree:
            assert edges == sorted(edges)


@pytest.mark.parametrize("opposite", [False, True])
def test_a_coarse_matrix_gives_the_same_trees_and_products_with_any_number_of_leaves(opposite):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 40)).astype(np.float32)
    signed = rng.normal(size=(3, 300))
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
        ({"signed_weights": np.zeros((2, 3))}, "one row of weights per class"),
        ({"signed_weights": np.zeros((0, 4))}, "one row of weights per class"),
        ({"signed_weights": np.full((2, 4), np.nan)}, "weights must be finite"),
        ({"signed_weights": np.full((2, 4), 1e308)}, "so must their sum"),
        ({"size": 0}, "must be"),
        ({"size": -1}, "must be"),
    ],
)
def test_the_kernels_refuse_what_is_wrong(changes, sentence):
    binned = BinnedFeatures.of(np.zeros((4, 1), dtype=np.float32), np.arange(4)).matrix
    right = {"signed_weights": np.ones((2, 4)), "size": 2} | changes
    for fit in (_native.grow_hamming_tree, _native.fit_product):
        with pytest.raises(ValueError, match=sentence):
            fit(binned, right["signed_weights"], True, right["size"], 1, WORKSPACE)


def test_a_product_has_at_most_16_terms():
    binned = BinnedFeatures.of(np.zeros((4, 1), dtype=np.float32), np.arange(4)).matrix
    with pytest.raises(ValueError, match="from 1 to 16"):
        _native.fit_product(binned, np.ones((2, 4)), True, 17, 1, WORKSPACE)


@examples(100)
@given(st.data(), st.integers(1, 5), st.integers(1, 40))
def test_weights_of_classes_are_the_twins(data, n_classes, n_documents):
    shape = (n_classes, n_documents)
    targets = data.draw(arrays.arrays(np.float64, shape, elements=st.sampled_from([-1.0, 1.0])))
    weights = data.draw(arrays.arrays(np.float64, shape, elements=st.sampled_from([0.0, 1e-9]) | st.floats(0, 1)))
    scores = data.draw(arrays.arrays(np.float64, shape, elements=st.floats(-2000, 2000)))
    found = _native.VoteRule(targets, weights, 1.0).signed_weights(scores)
    powers = -targets * scores
    raised = weights * np.exp(
        powers - powers[weights > 0].max(initial=-np.inf), where=weights > 0, out=0.0 * powers
    )
    total = raised.sum()
    np.testing.assert_allclose(found, targets * raised / (total or 1.0), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("exponent", [-300, -200, 200, 300])
def test_weights_of_any_size_are_rounded_alike(exponent):
    rng = np.random.default_rng(0)
    binned = BinnedFeatures.of(rng.normal(size=(50, 3)).astype(np.float32), np.arange(50)).matrix
    signed = rng.normal(size=(3, 50))
    wanted = _native.grow_hamming_tree(binned, signed, True, 8, 1, WORKSPACE)[2]
    scaled = _native.grow_hamming_tree(binned, signed * 2.0**exponent, True, 8, 1, WORKSPACE)[2]
    assert scaled.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"targets": np.zeros((2, 3))}, "targets must be 1 or -1"),
        ({"targets": np.ones((0, 3)), "weights": np.ones((0, 3))}, "there must be classes and documents"),
        ({"weights": np.ones((3, 2))}, "one weight per target"),
        ({"weights": np.full((2, 3), -1.0)}, "weights must be from 0 to 1"),
        ({"weights": np.full((2, 3), np.nan)}, "weights must be from 0 to 1"),
        ({"learning_rate": 0.0}, "learning rate must be finite and above 0"),
        ({"learning_rate": np.inf}, "learning rate must be finite and above 0"),
    ],
)
def test_a_rule_in_native_code_refuses_what_is_wrong(changes, sentence):
    right = {"targets": np.ones((2, 3)), "weights": np.ones((2, 3)), "learning_rate": 0.1}
    rule = _native.VoteRule(**right)
    for scores in (np.zeros((3, 2)), np.full((2, 3), np.inf)):
        with pytest.raises(ValueError, match="one finite score per class and document"):
            rule.signed_weights(scores)
    with pytest.raises(ValueError, match="one vote per weight"):
        _native.edge_of_votes(np.ones((2, 3)), np.ones((3, 2)))
    with pytest.raises(ValueError, match=sentence):
        _native.VoteRule(**(right | changes))


def test_rounds_in_native_code_are_of_the_rules_documents():
    binned = BinnedFeatures.of(np.zeros((4, 1), dtype=np.float32), np.arange(4)).matrix
    rule, nothing = _native.VoteRule(np.ones((2, 3)), np.ones((2, 3)), 0.1), np.zeros((0, 1), np.float32)
    for boost in (_native.boost_hamming_trees, _native.boost_products):
        with pytest.raises(ValueError, match="must have the same rows"):
            boost(binned, rule, np.zeros((2, 3)), 1, True, 2, nothing, np.zeros(1, np.int64), 1, WORKSPACE)
