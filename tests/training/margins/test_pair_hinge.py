import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from rankwright import _native
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.training.margins.pair_hinge import MarginPairs
from reference import margin as slow

# On a grid of quarters, so that scores tie, and differ by exactly the margin.
SCORE = st.integers(-12, 12).map(lambda one: one / 4)


@st.composite
def ranked_rows(draw):
    n = draw(st.integers(1, 12))

    def column(values):
        return np.array(draw(st.lists(values, min_size=n, max_size=n)), dtype=np.float64)

    labels = column(st.sampled_from([0.0, 1.0, 2.0, 2.5]))
    qid = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return column(SCORE), labels, qid, column(st.integers(0, 3)), column(SCORE)


@given(ranked_rows())
def test_sums_within_the_margin_equal_those_over_all_pairs(rows):
    scores, labels, qid, weights, values = rows
    ranking = Ranking.of(scores, QueryGroups.of(qid))
    found = _native.margin_sums(ranking.native, labels, weights, values, 1)
    for one, expected in zip(found, slow.margin_sums(*rows), strict=True):
        np.testing.assert_array_equal(one, expected)  # quarters add up exactly


def test_the_number_of_threads_changes_nothing():
    rng = np.random.default_rng(1)
    n = 5000
    scores, labels = rng.normal(size=n), rng.integers(0, 5, n).astype(float)
    ranking = Ranking.of(scores, QueryGroups.of(rng.integers(0, 200, n)))
    sums = [_native.margin_sums(ranking.native, labels, rng.random(n) * 0 + 0.3, scores, t) for t in (1, 2)]
    for one, two in zip(*sums, strict=True):
        assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("place", [1, 2, 3])
def test_the_binding_refuses_what_does_not_fit(place):
    scores = np.zeros(3)
    ranking = Ranking.of(scores, QueryGroups.of([1, 1, 2])).native
    for wrong in (np.zeros(2), np.array([0.0, np.nan, 0.0]), np.array([0.0, np.inf, 0.0])):
        arguments = [ranking, scores, scores, scores, 1]
        arguments[place] = wrong
        with pytest.raises(ValueError, match="finite number for every score"):
            _native.margin_sums(*arguments)
    endless = Ranking.of([0.0, np.inf, 1.0], QueryGroups.of([1, 1, 2])).native
    with pytest.raises(ValueError, match="scores must be finite"):
        _native.margin_sums(endless, scores, scores, scores, 1)


def some_pairs(seed, n=14, n_features=3):
    rng = np.random.default_rng(seed)
    qid = rng.integers(0, 3, n)
    X, y = rng.normal(size=(n, n_features)), rng.integers(0, 3, n).astype(float)
    weights, factors = rng.random(n) + 0.1, np.array([0.2, 0.5, 1.0])[qid]
    return MarginPairs(X, y, QueryGroups.of(qid), weights, factors, 1), qid


@pytest.mark.parametrize("seed", range(20))
def test_losses_and_slopes_equal_those_of_all_pairs(seed):
    pairs, qid = some_pairs(seed)
    w = np.random.default_rng(seed + 100).normal(size=3)

    def loss(w, power):
        return slow.pair_loss(w, pairs.X, pairs.labels, qid, pairs.weights * np.sqrt(pairs.factors), power)

    plane, curve = pairs.hinge(w), pairs.squared_hinge(w)
    assert plane.slope @ w + plane.offset == pytest.approx(loss(w, 1), rel=1e-9)
    assert curve.value == pytest.approx(loss(w, 2), rel=1e-9)
    np.testing.assert_allclose(plane.slope, approx_fprime(w, lambda w: loss(w, 1)), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(curve.slope, approx_fprime(w, lambda w: loss(w, 2)), rtol=1e-4, atol=1e-5)
    for direction in np.eye(3):
        change = approx_fprime(w, lambda w: pairs.squared_hinge(w).slope @ direction)  # noqa: B023
        np.testing.assert_allclose(curve.times_hessian(direction), change, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_a_plane_lies_below_the_hinge_everywhere(seed):
    pairs, _ = some_pairs(seed)
    points = np.random.default_rng(seed).normal(size=(30, 3))
    planes = [pairs.hinge(w) for w in points]
    for w, own in zip(points, planes, strict=True):
        here = own.slope @ w + own.offset
        assert all(other.slope @ w + other.offset <= here + 1e-12 for other in planes)
