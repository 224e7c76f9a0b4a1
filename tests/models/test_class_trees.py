"""Contributions to functions of class scores: equal to their definition, and summing to the score."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from artefacts.make import calibrations
from models.examples import N_FEATURES, features, tree_ensemble
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.models import (
    Calibrated,
    ClassLink,
    ClassTrees,
    ExpectedRelevance,
    LinearScorer,
    SigmoidCalibration,
    StandardCalibration,
    load,
    save,
)
from rankwright.models.class_trees import class_contributions
from rankwright.models.serialisation import State

X = np.random.default_rng(1).normal(size=(40, N_FEATURES)).astype(np.float32)
DATA = RankingData(X, np.zeros(40), np.arange(40) // 8)
TREES = tree_ensemble(3, [4, 1, 6, 3, 2, 5])


# Made for each test: trees that have scored hold native memory, which a module would keep past the end.


def shared():
    return ClassTrees(TREES, np.random.default_rng(2).normal(size=(len(TREES.leaf_value), 3)), 3)


def each():
    return ClassTrees(TREES, np.random.default_rng(3).normal(size=(len(TREES.leaf_value), 1)), 3)


@pytest.fixture(params=[shared, each], ids=["shared", "each"])
def classes(request):
    return request.param()


def leaf_of(ensemble, tree, row):
    """The leaf, among those of all trees, that a document falls into; by hand."""
    first, child = int(ensemble.splits[tree]), 0
    if ensemble.splits[tree + 1] == first:
        return first + tree
    while child >= 0:
        split = first + child
        value = row[ensemble.feature[split]]
        left = ensemble.missing_left[split] if np.isnan(value) else value <= ensemble.threshold[split]
        child = int((ensemble.left if left else ensemble.right)[split])
    return first + tree - 1 - child


def test_each_class_adds_up_its_own_columns(classes):
    expected = np.zeros((3, len(X)))
    n_columns = classes.values.shape[1]
    for place, row in enumerate(X):
        for tree in range(6):
            for column, value in enumerate(classes.values[leaf_of(classes.trees, tree, row)]):
                expected[(tree * n_columns + column) % 3, place] += value
    np.testing.assert_allclose(classes.outputs(DATA), expected, rtol=1e-12)


def test_rounds_are_trees_or_a_tree_for_each_class():
    many, one = shared(), each()
    assert (many.n_rounds, many.trees_per_round, one.n_rounds, one.trees_per_round) == (6, 1, 2, 3)
    assert many.first(2).trees.n_trees == 2
    assert one.first(1).trees.n_trees == 3
    rest = ClassTrees(one.trees.take(range(3, 6)), one.values[len(one.first(1).values) :], 3)
    whole = ClassTrees.concatenate([one.first(1), rest], [1.0, 1.0])
    assert whole.outputs(DATA).tobytes() == one.outputs(DATA).tobytes()
    doubled = ClassTrees.concatenate([one.first(1), rest], [2.0, 2.0])
    np.testing.assert_allclose(doubled.outputs(DATA), 2 * one.outputs(DATA))


@pytest.mark.parametrize(
    ("values", "n_classes", "sentence"),
    [
        (np.zeros((21, 2)), 3, r"values has shape \(21, 2\), expected shape \(21, 3\)"),
        (np.zeros((20, 3)), 3, r"values has shape \(20, 3\), expected shape \(21, 3\)"),
        (np.full((21, 3), np.nan), 3, "must be finite"),
        (np.zeros((21, 1)), 4, "6 trees cannot be one for each of 4 classes"),
        (np.zeros((21, 1)), 0, "n_classes must be between 1 and 256, not 0"),
        (np.zeros((21, 1)), 2.0, "n_classes must be an integer"),
    ],
)
def test_values_that_do_not_fit_are_refused(values, n_classes, sentence):
    with pytest.raises(InputError, match=sentence):
        ClassTrees(TREES, values, n_classes)


# From classes to relevance


def test_multiclass_is_the_expectation_of_the_softmax():
    scores = np.log([[0.5], [0.3], [0.2]]) + 7.0
    np.testing.assert_allclose(ClassLink.MULTICLASS.probabilities(scores)[:, 0], [0.5, 0.3, 0.2])
    assert ClassLink.MULTICLASS.relevance(scores, np.array([0.0, 1.0, 5.0])) == pytest.approx([1.3])


def test_ordinal_is_the_expectation_of_the_steps():
    scores = np.log([[0.8 / 0.2], [0.25 / 0.75]])
    np.testing.assert_allclose(ClassLink.ORDINAL.probabilities(scores)[:, 0], [0.8, 0.25])
    # P(1) = .8 - .25, P(5) = .25
    assert ClassLink.ORDINAL.relevance(scores, np.array([0.0, 1.0, 5.0])) == pytest.approx([0.55 + 1.25])


@given(npst.arrays(np.float64, (3, 4), elements=st.floats(-1e300, 1e300)), st.sampled_from(ClassLink))
def test_shares_of_any_scores_are_shares(scores, link):
    shares = link.probabilities(scores)
    assert ((shares >= 0) & (shares <= 1)).all()
    if link is ClassLink.MULTICLASS:
        np.testing.assert_allclose(shares.sum(axis=0), 1.0)


@pytest.mark.parametrize("n_documents", [0, 1, 255, 257, 20_000])
@pytest.mark.parametrize("spread", [1.0, 900.0])
def test_shares_are_those_of_the_formulas(n_documents, spread):
    scores = np.random.default_rng(n_documents).normal(0.0, spread, (5, n_documents))
    powers = np.exp(scores - scores.max(axis=0))
    falling = np.exp(-np.abs(scores))
    expected = {
        ClassLink.MULTICLASS: powers / powers.sum(axis=0),
        ClassLink.ORDINAL: np.where(scores < 0, falling, 1.0) / (1.0 + falling),
    }
    for link in ClassLink:
        shares = link.probabilities(scores)
        np.testing.assert_allclose(shares, expected[link], rtol=1e-14, atol=1e-300)
        alone = [link.probabilities(scores[:, [document]]) for document in range(min(n_documents, 300))]
        for document, share in enumerate(alone):
            assert share.tobytes() == np.ascontiguousarray(shares[:, [document]]).tobytes()


@pytest.mark.parametrize(
    ("link", "levels"), [(ClassLink.MULTICLASS, [0, 1, 4]), (ClassLink.ORDINAL, [-1, 0, 1, 4])]
)
def test_scores_are_the_expectation_of_the_probabilities(classes, link, levels):
    model = ExpectedRelevance(classes, levels, link)
    assert model.predict(X).tobytes() == link.relevance(classes.outputs(DATA), model.levels).tobytes()
    probabilities = model.probabilities(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert probabilities.min() >= 0
    with pytest.raises(InputError, match="n_jobs must be None, -1 or a positive integer, not 0"):
        model.probabilities(X, n_jobs=0)
    if link is ClassLink.MULTICLASS:
        np.testing.assert_allclose(probabilities @ model.levels, model.predict(X))


@given(features)
def test_a_document_scores_the_same_alone(some):
    model = ExpectedRelevance(shared(), [0, 1, 4], ClassLink.MULTICLASS)
    together = model.predict(some)
    alone = [model.predict(some[row : row + 1])[0] for row in range(len(some))]
    assert together.tolist() == alone


def test_comes_back_from_a_file_and_can_be_cut(classes, tmp_path):
    model = ExpectedRelevance(classes, [0, 1, 4], ClassLink.MULTICLASS)
    save(model, tmp_path / "model.rw")
    again = load(tmp_path / "model.rw")
    assert repr(again) == repr(model)
    assert again.predict(X).tobytes() == model.predict(X).tobytes()
    assert again.n_rounds == classes.n_rounds
    cut = ExpectedRelevance(classes.first(1), [0, 1, 4], ClassLink.MULTICLASS)
    assert again.first(1).predict(X).tobytes() == cut.predict(X).tobytes()
    assert again.used_features.tolist() == TREES.used_features.tolist()
    assert again.contributions(X).tobytes() == model.contributions(X).tobytes()


@pytest.mark.parametrize(
    ("levels", "link", "sentence"),
    [
        ([0, 1], ClassLink.MULTICLASS, "2 levels cannot have 3 classes"),
        ([0, 1, 2], ClassLink.ORDINAL, "3 levels cannot have 3 classes"),
        ([0, 2, 1], ClassLink.MULTICLASS, "levels must be at least two numbers in ascending order"),
        ([0, np.inf, 1], ClassLink.MULTICLASS, r"levels\[1\] is inf"),
        ([1], ClassLink.ORDINAL, "levels must be at least two"),
    ],
)
def test_levels_that_do_not_fit_are_refused(levels, link, sentence):
    with pytest.raises(InputError, match=sentence):
        ExpectedRelevance(shared(), levels, link)


RIGHT = ExpectedRelevance(shared(), [0.0, 1.0, 4.0], ClassLink.MULTICLASS).state()


@pytest.mark.parametrize(
    ("part", "changed", "sentence"),
    [
        ("fields", {"link": "probit"}, "link must be one of multiclass, ordinal, not 'probit'"),
        ("fields", {"link": ["ordinal"]}, "link must be one of"),
        ("fields", {"n_classes": 10**30}, "n_classes must be between 1"),
        ("fields", {"n_classes": 2}, "values has shape"),
        ("arrays", {"values": np.zeros(21)}, "values is float64 of 1 dimension"),
        ("arrays", {"values": np.zeros((21, 3), np.float32)}, "values is float32"),
        ("arrays", {"levels": np.zeros((1, 3))}, "levels is float64 of 2 dimension"),
        ("children", {"trees": LinearScorer([1.0], [0.0])}, "must be of kind 'trees', not 'linear'"),
    ],
)
def test_a_hostile_state_is_refused_in_a_sentence(part, changed, sentence):
    parts = {name: dict(getattr(RIGHT, name)) for name in ("fields", "arrays", "children")}
    parts[part] |= changed
    with pytest.raises(InputError, match=sentence):
        ExpectedRelevance.from_state(State(**parts))


GAINS = [0.0, 0.25, 1.0]
LEAVES = [4, 1, 6, 3, 2, 5]


def random_classes(seed, n_classes=3, *, each=False):
    """Trees for all classes, or one for each class in turn."""
    trees = tree_ensemble(seed, LEAVES)
    values = np.random.default_rng(seed).normal(size=(sum(LEAVES), 1 if each else n_classes))
    return ClassTrees(trees, values, n_classes)


def documents(seed, n=20):
    rng = np.random.default_rng([seed, 1])
    X = rng.normal(size=(n, N_FEATURES)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def scorers(seed):
    yield ExpectedRelevance(random_classes(seed), np.array([0.0, 1.0, 3.0]), ClassLink.MULTICLASS)
    yield ExpectedRelevance(random_classes(seed, each=True), np.arange(4.0), ClassLink.ORDINAL)
    yield Calibrated(random_classes(seed), calibrations())
    yield Calibrated(random_classes(seed), StandardCalibration(GAINS, 9.0))
    yield Calibrated(random_classes(seed, each=True), SigmoidCalibration(GAINS, 2.0, 0.1))


def slow(parts, scores, score_of):
    """The mean over all orders in which the classes get their own scores, document by document."""
    n_classes, n_rows, width = parts.shape
    values = np.zeros((n_rows, width))
    orders = list(permutations(range(n_classes)))
    for row in range(n_rows):
        base = parts[:, row, -1]
        values[row, -1] = score_of(base[:, None])[0]
        for order in orders:
            mixed = base.copy()
            for one in order:
                before = score_of(mixed[:, None])[0]
                mixed[one] = scores[one, row]
                added = score_of(mixed[:, None])[0] - before
                features = parts[one, row, :-1]
                if features.any():
                    values[row, :-1] += added * features / features.sum() / len(orders)
    return values


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.sampled_from(["softmax", "product", "logistic"]))
def test_equal_to_the_mean_over_all_orders(seed, n_classes, name):
    rng = np.random.default_rng(seed)
    parts = rng.normal(size=(n_classes, 5, 3))
    parts[0, 1, :-1] = 0.0  # no feature contributes to this class
    scores = parts.sum(axis=2)
    levels = np.arange(n_classes) ** 2.0
    functions = {
        "softmax": lambda mixed: levels @ (np.exp(mixed) / np.exp(mixed).sum(axis=0)),
        "product": lambda mixed: mixed.prod(axis=0),
        "logistic": lambda mixed: (1 / (1 + np.exp(-mixed))).sum(axis=0),
    }
    found = class_contributions(parts, scores, functions[name])
    np.testing.assert_allclose(found, slow(parts, scores, functions[name]), rtol=1e-9, atol=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_they_sum_to_the_scores(seed):
    X = documents(seed)
    for scorer in scorers(seed):
        found = scorer.contributions(X)
        assert found.shape == (len(X), N_FEATURES + 1)
        np.testing.assert_allclose(found.sum(axis=1), scorer.predict(X), rtol=0, atol=1e-10)
        assert len(set(found[:, -1].tolist())) == 1
        unused = np.setdiff1d(np.arange(N_FEATURES), scorer.used_features)
        assert not found[:, unused].any()


def test_a_linear_function_has_the_contributions_of_its_classes():
    parts = np.random.default_rng(1).normal(size=(3, 7, 4))
    weights = np.array([2.0, -1.0, 0.5])
    found = class_contributions(parts, parts.sum(axis=2), lambda mixed: weights @ mixed)
    np.testing.assert_allclose(found, np.tensordot(weights, parts, 1), rtol=1e-10)


def test_neither_threads_nor_neighbours_matter():
    X = documents(3)
    for scorer in scorers(3):
        found = scorer.contributions(X, n_jobs=1)
        assert scorer.contributions(X, n_jobs=3).tobytes() == found.tobytes()
        assert scorer.contributions(X[4:6]).tobytes() == found[4:6].tobytes()


def test_rounding_of_contributions_that_cancel_is_not_magnified():
    """The score of the class differs from its base by rounding only, so the function's slope is unknown."""
    parts = np.array([[[0.5, -0.5 + 1e-16, 1.0]]])
    found = class_contributions(parts, np.array([[1.0 + 2.3e-16]]), lambda mixed: 1000 * mixed[0])
    assert np.abs(found[0, :2]).max() < 1e-9


def test_too_many_classes_are_refused():
    scorer = Calibrated(random_classes(1, 11), StandardCalibration(np.arange(11.0), 9.0))
    with pytest.raises(InputError, match="at most 10 classes, not 11"):
        scorer.contributions(documents(1))
