"""Contributions to functions of class scores: equal to their definition, and summing to the score."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artefacts.make import calibrations
from models.examples import N_FEATURES, tree_ensemble
from rankwright.base.errors import InputError
from rankwright.models import (
    Calibrated,
    ClassLink,
    ClassTrees,
    ExpectedRelevance,
    SigmoidCalibration,
    StandardCalibration,
)
from rankwright.models.class_trees import class_contributions

GAINS = [0.0, 0.25, 1.0]
LEAVES = [4, 1, 6, 3, 2, 5]


def classes(seed, n_classes=3, *, each=False):
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
    yield ExpectedRelevance(classes(seed), np.array([0.0, 1.0, 3.0]), ClassLink.MULTICLASS)
    yield ExpectedRelevance(classes(seed, each=True), np.arange(4.0), ClassLink.ORDINAL)
    yield Calibrated(classes(seed), calibrations())
    yield Calibrated(classes(seed), StandardCalibration(GAINS, 9.0))
    yield Calibrated(classes(seed, each=True), SigmoidCalibration(GAINS, 2.0, 0.1))


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
    scorer = Calibrated(classes(1, 11), StandardCalibration(np.arange(11.0), 9.0))
    with pytest.raises(InputError, match="at most 10 classes, not 11"):
        scorer.contributions(documents(1))
