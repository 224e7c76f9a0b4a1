import numpy as np
import pytest

from rankwright.base.errors import InputError
from rankwright.ensembling.metric_curve import MetricCurve, alphas_within
from reports.charts.pictures import texts

CURVE = MetricCurve(np.array([0.0, 1.0, 2.0, 5.0, np.inf]), np.array([0.2, 0.7, 0.7, 0.3]))


@pytest.mark.parametrize(
    ("alpha", "value"), [(0.0, 0.2), (0.5, 0.2), (1.0, 0.7), (4.9, 0.7), (5.0, 0.3), (1e9, 0.3), (np.inf, 0.3)]
)
def test_a_curve_is_a_function(alpha, value):
    assert CURVE(alpha) == value


@pytest.mark.parametrize("alpha", [-0.1, np.nan])
def test_a_curve_ends(alpha):
    with pytest.raises(InputError, match="alpha must be between 0 and inf"):
        CURVE(alpha)


def test_the_best_is_the_widest_of_equals():
    assert CURVE.best() == (2.0, 5.0, 0.7)
    assert not CURVE.constant


def test_equal_but_for_rounding_is_equal():
    edges = np.array([0.0, 1.0, 3.0, 4.0])
    assert MetricCurve(edges, np.array([0.7, 0.7 - 1e-13, 0.3])).best()[:2] == (1.0, 3.0)
    assert MetricCurve(edges, 0.7 + np.array([0.0, 1e-13, -1e-13])).constant


def test_an_interval_between_crossings_that_only_rounding_separates_is_skipped():
    edges = np.array([0.0, 1.0, 1.0 + 1e-15, 2.0])
    assert MetricCurve(edges, np.array([0.5, 0.9, 0.4])).best() == (0.0, 1.0, 0.5)


@pytest.mark.parametrize(
    ("low", "high", "first"), [(1.0, 2.0, 1.5), (3.0, np.inf, 6.0), (-np.inf, -3.0, -6.0), (-np.inf, np.inf, 0.0)]
)
def test_alphas_within(low, high, first):
    places = list(alphas_within(low, high))
    assert places[0] == first
    assert all(low < place < high for place in places)
    assert len(set(places)) == len(places)


def test_the_convex_form_has_the_same_values():
    convex = CURVE.convex()
    np.testing.assert_allclose(convex.edges, [0, 1 / 2, 2 / 3, 5 / 6, 1])
    assert convex.values is CURVE.values


@pytest.mark.parametrize(
    "curve",
    [
        CURVE,
        CURVE.convex(),
        MetricCurve(np.array([-np.inf, np.inf]), np.array([0.5])),
        MetricCurve(np.array([-np.inf, -2.0, 1.0]), np.array([0.5, 0.6])),
        MetricCurve(np.linspace(0, 1, 100_001), np.random.default_rng(0).random(100_000)),
    ],
    ids=repr,
)
def test_a_chart_shows_the_curve_and_the_best(curve):
    alpha = next(alphas_within(*curve.best()[:2]))
    chart = curve.chart(metric="ndcg@10")
    assert {"alpha", "ndcg@10"} <= set(texts(chart))
    (chosen,) = chart.spec["datasets"]["marked"]
    assert (chosen["x"], chosen["y"]) == (alpha, curve(alpha))
    across = [one["x"] for one in chart.spec["datasets"]["curves"]]
    assert len(across) <= 3000
    assert across == sorted(across)


def test_a_chart_has_the_extremes_of_every_pixel():
    values = np.zeros(100_000)
    values[[31_234, 77_777]] = 1.0, -1.0
    chart = MetricCurve(np.linspace(0, 1, 100_001), values).chart(0.3, "m")
    assert {one["y"] for one in chart.spec["datasets"]["curves"]} == {0.0, 1.0, -1.0}
