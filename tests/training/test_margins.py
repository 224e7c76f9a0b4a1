from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.training.margins import MarginPairs, Plane, RiskCurve, _Planes, cutting_planes, newton_steps
from reference import margin as slow


def solved(solutions, tolerance, most=2000):
    for found in islice(solutions, most):
        if found.gap <= tolerance:
            return found
    raise AssertionError(f"a gap of {found.gap} after {most} steps")


def drawn_planes(seed, n=15, n_features=4, scale=1.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n_features)) * scale, rng.normal(size=n)


def highest(slopes, offsets):
    """max(0, the highest plane), as cutting planes ask for it."""

    def risk(w):
        values = np.append(slopes @ w + offsets, 0.0)
        best = int(values.argmax())
        return Plane(np.zeros_like(w), 0.0) if best == len(offsets) else Plane(slopes[best], float(offsets[best]))

    return risk


def by_slsqp(slopes, offsets, C):
    """The minimum of half |w|^2 + C max(0, planes), with the maximum as a variable of its own."""
    n_features = slopes.shape[1]
    start = np.append(np.zeros(n_features), max(0.0, offsets.max()))
    result = minimize(
        lambda z: 0.5 * z[:-1] @ z[:-1] + C * z[-1],
        start,
        jac=lambda z: np.append(z[:-1], C),
        constraints=[
            {"type": "ineq", "fun": lambda z: z[-1] - slopes @ z[:-1] - offsets},
            {"type": "ineq", "fun": lambda z: z[-1]},
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return result.fun, result.x[:-1]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_cutting_planes_find_the_minimum(seed, C):
    slopes, offsets = drawn_planes(seed)
    found = solved(cutting_planes(highest(slopes, offsets), np.zeros(4), C), 1e-9)
    value, w = by_slsqp(slopes, offsets, C)
    assert found.objective == pytest.approx(value, rel=1e-6, abs=1e-9)
    np.testing.assert_allclose(found.weights, w, atol=1e-3)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
def test_the_small_problem_is_solved_on_every_scale(scale, C):
    slopes, offsets = drawn_planes(3, scale=scale)
    planes = _Planes(4, C)
    for slope, offset in zip(slopes, offsets, strict=True):
        planes.add(Plane(slope, float(offset)))
    weights, bound = planes.lowest()
    reached = 0.5 * weights @ weights + C * max(0.0, (slopes @ weights + offsets).max())
    assert bound <= reached * (1.0 + 1e-12)  # the bound is proved, however well the problem was solved
    rounding = np.finfo(float).eps * (C * np.abs(slopes).max()) ** 2  # of C x slope x w, w being about C x slope
    assert bound == pytest.approx(reached, rel=1e-6, abs=rounding)


def test_the_gap_is_honest():
    slopes, offsets = drawn_planes(5, n=40)
    solutions = list(islice(cutting_planes(highest(slopes, offsets), np.zeros(4), 5.0), 60))
    optimum = solutions[-1].objective
    assert solutions[-1].gap < 1e-9
    for found in solutions:
        assert found.objective * (1.0 - found.gap) <= optimum * (1.0 + 1e-9)
    assert (np.diff([found.objective for found in solutions]) <= 0).all()


def test_a_risk_of_nothing_ends_at_once():
    nothing = cutting_planes(lambda _: Plane(np.zeros(2), 0.0), np.zeros(2), 1.0)
    found = next(nothing)
    assert found.gap == 0.0
    assert not found.weights.any()


def softly(A, b):
    """A smooth convex risk: the sum of squares of what is below 0."""

    def risk(w):
        short = np.minimum(0.0, A @ w - b)
        active = A[short < 0]
        return RiskCurve(float(short @ short), 2 * short @ A, lambda d: 2 * active.T @ (active @ d))

    return risk


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_newton_finds_the_minimum(seed, C):
    rng = np.random.default_rng(seed)
    risk = softly(rng.normal(size=(30, 5)), rng.normal(size=30))
    found = solved(newton_steps(risk, np.zeros(5), C), 1e-9)
    by_gradient = minimize(
        lambda w: 0.5 * w @ w + C * risk(w).value,
        rng.normal(size=5),
        jac=lambda w: w + C * risk(w).slope,
        options={"gtol": 1e-9, "maxiter": 10_000},
    )
    assert found.objective == pytest.approx(by_gradient.fun, rel=1e-7)
    assert found.objective * (1.0 - found.gap) <= by_gradient.fun * (1.0 + 1e-12)


def test_newton_ends_where_rounding_does():
    rng = np.random.default_rng(1)
    risk = softly(rng.normal(size=(30, 5)), rng.normal(size=30))
    solutions = list(islice(newton_steps(risk, np.zeros(5), 10.0), 200))
    assert len(solutions) < 200
    assert solutions[-1].gap < 1e-9


@pytest.mark.parametrize("C", [5e-324, 1.7e308])
def test_cutting_planes_refuse_numbers_that_are_too_large_or_too_small(C):
    with pytest.raises(InputError, match="no longer finite; use a less extreme C, or features of a smaller scale"):
        solved(cutting_planes(highest(*drawn_planes(1)), np.zeros(4), C), 1e-9)


@pytest.mark.parametrize("C", [1e200, 1.7e308])
def test_newton_refuses_numbers_that_are_too_large(C):
    rng = np.random.default_rng(1)
    risk = softly(rng.normal(size=(30, 5)), rng.normal(size=30))
    with pytest.raises(InputError, match="no longer finite; use a less extreme C, or features of a smaller scale"):
        solved(newton_steps(risk, np.zeros(5), C), 1e-9)


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
