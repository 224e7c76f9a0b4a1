import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.calibration import calibration_curve

import rankwright as rw
from rankwright.analyses.reliability import reliability, reliability_chart
from rankwright.base.errors import InputError
from reports.charts.pictures import texts


def drawn(n=20_000, seed=1):
    """Probabilities, and what happened with just these probabilities."""
    rng = np.random.default_rng(seed)
    said = rng.beta(0.5, 1.5, n)
    return said, rng.random(n) < said


def test_probabilities_that_are_what_they_say_lie_on_the_diagonal():
    found = reliability(*drawn())
    np.testing.assert_allclose(found.observed, found.predicted, atol=0.03)
    assert found.error < 0.01
    assert found.counts.tolist() == [2000] * 10


def test_probabilities_that_are_too_sure_are_found_out():
    said, was = drawn()
    found = reliability(np.where(said > 0.5, 0.5 + said / 2, said / 2), was)
    assert found.predicted[-1] > found.observed[-1] + 0.05
    assert found.error > 0.05


def test_it_agrees_with_scikit_learn():
    said, was = drawn()
    observed, predicted = calibration_curve(was, said, n_bins=10, strategy="quantile")
    found = reliability(said, was)
    np.testing.assert_allclose(found.predicted, predicted, atol=1e-3)
    np.testing.assert_allclose(found.observed, observed, atol=1e-3)


def test_the_error_by_hand():
    found = reliability([0.1, 0.1, 0.6, 0.6, 0.6], [0, 0, 1, 1, 0])
    assert found.points == [(0.1, 0.0), (pytest.approx(0.6), pytest.approx(2 / 3))]
    assert found.error == pytest.approx((2 * 0.1 + 3 * (2 / 3 - 0.6)) / 5)


@given(
    arrays(np.float64, st.integers(1, 40), elements=st.sampled_from([0.0, 0.2, 0.2000001, 0.5, 1.0])),
    st.integers(1, 12),
    st.randoms(use_true_random=False),
)
def test_bins_are_even_keep_equals_together_and_owe_nothing_to_the_order(said, n_bins, random):
    was = np.array([random.random() < 0.5 for _ in said])
    found = reliability(said, was, n_bins=n_bins)
    assert found.counts.sum() == len(said)
    assert (found.counts > 0).all()
    assert len(found.counts) <= n_bins
    assert (np.diff(found.predicted) > 0).all()
    assert np.average(found.predicted, weights=found.counts) == pytest.approx(said.mean())
    assert np.average(found.observed, weights=found.counts) == pytest.approx(was.mean())
    order = np.array(random.sample(range(len(said)), len(said)))
    again = reliability(said[order], was[order], n_bins=n_bins)
    assert again.counts.tolist() == found.counts.tolist()
    np.testing.assert_allclose(again.observed, found.observed)
    if n_bins >= len(said):
        assert len(found.counts) == len(np.unique(said))


def test_a_table_of_classes_is_taken_as_it_is():
    said, was = drawn(100)
    table = reliability(said.reshape(25, 4), was.reshape(25, 4))
    assert table.points == reliability(said, was).points


def test_the_diagram_is_a_picture():
    one = reliability(*drawn(200))
    assert "calibrated" in texts(one.chart())
    assert f"a < b (error {one.error:.4f})" in texts(reliability_chart({"a < b": one, "c": one}))
    assert rw.reliability is reliability


@pytest.mark.parametrize(
    ("said", "was", "bins", "sentence"),
    [
        ([0.5], [1, 0], 10, r"must have the same shape and not be empty, not \(1,\) and \(2,\)"),
        ([], [], 10, "must have the same shape and not be empty"),
        ([1.5], [1], 10, "probabilities must be between 0 and 1"),
        ([np.nan], [1], 10, "probabilities must be between 0 and 1"),
        ([0.5], [2], 10, "outcomes must be True or False, or 1 or 0"),
        ([0.5], [1], 0, "n_bins must be a positive integer, not 0"),
        ([0.5], [1], True, "n_bins must be a positive integer, not True"),
    ],
)
def test_wrong_input_is_told_in_a_sentence(said, was, bins, sentence):
    with pytest.raises(InputError, match=sentence):
        reliability(said, was, n_bins=bins)
