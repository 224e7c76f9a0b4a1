"""Tests of claims: times of a single trial, and equality within a point."""

import numpy as np
import pytest

from rankwright.papers.framework.claims import alike, faster, no_significant_difference, not_worse
from rankwright.papers.framework.measurements import Measurements
from rankwright.papers.framework.rows import NOT_SHOWN, OPPOSITE, REACHED


@pytest.mark.parametrize(("seconds", "state"), [(3.0, REACHED), (1.2, NOT_SHOWN), (0.3, NOT_SHOWN)])
def test_a_single_time_needs_a_clear_factor(seconds, state):
    arrays = {("a", "fit seconds", "1"): np.array([1.0]), ("b", "fit seconds", "1"): np.array([seconds])}
    finding = faster("a", ("b",))(Measurements(("1",), arrays))
    assert (finding.state, finding.p_value, finding.interval) == (state, None, None)
    assert finding.value == pytest.approx(seconds)


def compared(difference, noise):
    random = np.random.default_rng(0)
    base, by_chance = random.random(100), random.normal(0, 1, 100)
    other = base + difference + noise * (by_chance - by_chance.mean())
    return Measurements(("1",), {("a", "map", "1"): other, ("b", "map", "1"): base})


@pytest.mark.parametrize(
    ("difference", "noise", "states"),
    [
        (0.0, 0.01, (REACHED, REACHED, REACHED)),
        (0.005, 0.01, (REACHED, REACHED, OPPOSITE)),  # significant, but less than a point
        (-0.005, 0.01, (REACHED, REACHED, OPPOSITE)),
        (-0.02, 0.01, (OPPOSITE, OPPOSITE, OPPOSITE)),
        (0.02, 0.01, (OPPOSITE, REACHED, OPPOSITE)),
        (0.0, 0.1, (NOT_SHOWN, NOT_SHOWN, REACHED)),  # too few queries to exclude a point
    ],
)
def test_equality_is_within_a_point(difference, noise, states):
    results = compared(difference, noise)
    tests = alike(("a", "b"), "map"), not_worse("a", ("b",), "map"), no_significant_difference(("a", "b"), "map")
    assert tuple(test(results).state for test in tests) == states


def test_fewer_queries_make_a_difference_insignificant():
    results = compared(0.02, 0.1)
    p_values = [no_significant_difference(("a", "b"), "map", n)(results).p_value for n in (100, 20)]
    assert p_values[0] < p_values[1]
