import numpy as np
import pytest

from models.examples import X_EXAMPLE, tree_ensemble
from rankwright.errors import InputError
from rankwright.models import Combination, Correction, load, save

TREES = tree_ensemble(1, [3, 4, 2])
START = [5.0, -1.0, 0.0, 2.0]
NEEDS = "This model corrects the scores of another, which it does not hold: give predict those scores"


def test_it_adds_to_the_scores_given():
    model = Correction(TREES)
    np.testing.assert_array_equal(model.predict(X_EXAMPLE, start=START), START + TREES.predict(X_EXAMPLE))
    expected = Combination([TREES], [1.0]).predict(X_EXAMPLE) + START
    assert model.rank(X_EXAMPLE, start=START).tolist() == (1 + np.argsort(np.argsort(-expected))).tolist()


@pytest.mark.parametrize("use", ["predict", "rank"])
def test_without_them_it_says_what_it_needs(use):
    with pytest.raises(InputError, match=NEEDS):
        getattr(Correction(TREES), use)(X_EXAMPLE)
    with pytest.raises(InputError, match=NEEDS):
        getattr(Combination([Correction(TREES), TREES], [1.0, 1.0]), use)(X_EXAMPLE)


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        ([1.0, 2.0], r"start has shape \(2,\), expected shape \(4,\)"),
        ([1.0, np.nan, 0.0, 0.0], r"start\[1\] is nan; it must be finite"),
        (["a"] * 4, "start must be numbers"),
    ],
)
def test_scores_that_do_not_fit_are_refused(start, sentence):
    with pytest.raises(InputError, match=sentence):
        Correction(TREES).predict(X_EXAMPLE, start=start)


def test_comes_back_from_a_file_and_can_be_cut(tmp_path):
    save(Correction(TREES), tmp_path / "model.rw")
    model = load(tmp_path / "model.rw")
    assert (model.kind, model.n_rounds, model.depth) == ("correction", 3, 2)
    scores = model.first(1).predict(X_EXAMPLE, start=START)
    np.testing.assert_array_equal(scores, START + TREES.first(1).predict(X_EXAMPLE))
    assert model.used_features.tolist() == TREES.used_features.tolist()


def test_a_correction_of_a_correction_is_refused():
    with pytest.raises(InputError, match="must be a scorer that scores alone"):
        Correction(Correction(TREES))
