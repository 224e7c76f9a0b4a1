import numpy as np
import pytest

from models.examples import X_EXAMPLE, tree_ensemble
from rankwright.base.errors import InputError
from rankwright.data.query_features import QueryFeature
from rankwright.models import (
    Calibrated,
    ClassTrees,
    Combination,
    QueryFeatureScorer,
    Rescaled,
    ResidualModel,
    StandardisedScorer,
    load,
    save,
)

TREES = tree_ensemble(1, [3, 4, 2])
START = [5.0, -1.0, 0.0, 2.0]
NEEDS = "give those scores as init_score, one per document"


def test_it_adds_to_the_scores_given():
    model = ResidualModel(TREES)
    np.testing.assert_array_equal(model.predict(X_EXAMPLE, init_score=START), START + TREES.predict(X_EXAMPLE))
    expected = Combination([TREES], [1.0]).predict(X_EXAMPLE) + START
    ranks = model.rank(X_EXAMPLE, 7, init_score=START).tolist()
    assert ranks == (1 + np.argsort(np.argsort(-expected))).tolist()


@pytest.mark.parametrize("use", ["predict", "rank"])
def test_without_them_it_says_what_it_needs(use):
    with pytest.raises(InputError, match=NEEDS):
        getattr(ResidualModel(TREES), use)(X_EXAMPLE, 7)


@pytest.mark.parametrize(
    ("init_score", "sentence"),
    [
        ([1.0, 2.0], r"init_score has shape \(2,\), expected shape \(4,\)"),
        ([1.0, np.nan, 0.0, 0.0], r"init_score\[1\] is nan; it must be finite"),
        (["a"] * 4, "init_score must be numbers"),
    ],
)
def test_scores_that_do_not_fit_are_refused(init_score, sentence):
    with pytest.raises(InputError, match=sentence):
        ResidualModel(TREES).predict(X_EXAMPLE, init_score=init_score)


@pytest.mark.parametrize("use", ["predict", "rank"])
def test_a_sum_that_is_not_finite_is_refused(use):
    huge = ResidualModel(TREES.scaled(1e308 / np.abs(TREES.leaf_value).max()))
    signs = np.sign(huge.inner.predict(X_EXAMPLE))
    assert signs.any()
    with pytest.raises(InputError, match=r"The score of row \d is not finite"):
        getattr(huge, use)(X_EXAMPLE, 7, init_score=1.7e308 * signs)


def test_comes_back_from_a_file_and_can_be_cut(tmp_path):
    save(ResidualModel(TREES), tmp_path / "model.rw")
    model = load(tmp_path / "model.rw")
    assert (model.kind, model.n_rounds, model.depth) == ("correction", 3, 2)
    scores = model.first(1).predict(X_EXAMPLE, init_score=START)
    np.testing.assert_array_equal(scores, START + TREES.first(1).predict(X_EXAMPLE))
    assert model.used_features.tolist() == TREES.used_features.tolist()


@pytest.mark.parametrize(
    "contain",
    [
        ResidualModel,
        StandardisedScorer,
        lambda one: Combination([TREES, one], [1.0, 1.0]),
        lambda one: QueryFeatureScorer(one, (QueryFeature.RANK,), raw=False),
        lambda one: Rescaled(one, np.zeros(3), np.ones(3), 0.0, 1.0),
        lambda one: Calibrated(ClassTrees.of_each([TREES] * 3), one),
    ],
)
def test_no_other_scorer_can_contain_it(contain):
    with pytest.raises(InputError, match="A residual model cannot be part of another scorer"):
        contain(ResidualModel(TREES))
