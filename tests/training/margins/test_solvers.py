from itertools import islice

import numpy as np
import pytest
from scipy.optimize import minimize

from rankwright.base.errors import InputError
from rankwright.training.margins.solvers import Plane, RiskCurve, _Planes, cutting_planes, newton_steps


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
