"""Tests of claims about ranks, rounds, errors, times and bounds."""

import numpy as np
import pytest

from rankwright.metrics.bounds import SurrogateBounds, simulate
from rankwright.papers.direct_2008.bounds import QUARTER, LinearModels, OverAngles, Simulated, _lowest
from rankwright.papers.direct_2008.claims import converges, same_ranks, varies, working_sets
from rankwright.papers.framework.claims import (
    always_better,
    better_with_few_pairs,
    faster,
    fewer_errors,
    never_below,
)
from rankwright.papers.framework.measurements import Measurements
from rankwright.papers.framework.rows import NOT_SHOWN, OPPOSITE, REACHED


def results(**measured):
    """One trial: by model, arrays by name of the measure."""
    arrays = {
        (model, name, "t"): np.array(v, dtype=float)
        for model, kept in measured.items()
        for name, v in kept.items()
    }
    return Measurements(("t",), arrays)


def many(mean, *, seed=0, n=60):
    return mean + np.random.default_rng(seed).normal(scale=0.01, size=n)


class TestRanks:
    def test_equal_ranks_are_reached(self):
        found = results(a={"map": many(0.5)}, b={"map": many(0.4)}, c={"map": many(0.3)})
        assert same_ranks({"a": 0.9, "b": 0.8, "c": 0.1}, "map")(found).state == REACHED

    def test_a_significant_difference_the_other_way_is_opposite(self):
        found = results(a={"map": many(0.3)}, b={"map": many(0.4, seed=1)})
        told = same_ranks({"a": 0.9, "b": 0.8}, "map")(found)
        assert told.state == OPPOSITE
        assert "a 1 and 2, b 2 and 1" in told.measured

    def test_other_ranks_of_equal_methods_are_not_shown(self):
        found = results(a={"map": many(0.4)}, b={"map": many(0.4) + np.tile([0.1, -0.099], 30)})
        assert same_ranks({"a": 0.9, "b": 0.8}, "map")(found).state == NOT_SHOWN


class TestRounds:
    @pytest.mark.parametrize(
        ("curve", "state"),
        [
            ([*np.linspace(0.4, 0.5, 60), *[0.5] * 40], REACHED),
            ([*np.linspace(0.4, 0.5, 10), *[0.5] * 90], NOT_SHOWN),  # sooner than the paper says
            ([0.4, 0.5] * 50, NOT_SHOWN),  # oscillates
        ],
    )
    def test_convergence(self, curve, state):
        assert converges("m")(results(m={"round train": curve})).state == state

    def test_working_sets(self):
        sizes = {"round perfect": [1, 50], "round imperfect": [1, 60]}
        assert working_sets("m")(results(m=sizes)).state == REACHED
        assert working_sets("m")(results(m=sizes | {"round perfect": [1, 20]})).state == NOT_SHOWN

    def test_the_bound(self):
        curve = {"round train": [0.4, 0.5], "round bound": [0.1, -3.0]}
        assert never_below(["m"], "round train", "round bound")(results(m=curve)).value == pytest.approx(0.3)
        assert (
            never_below(["m"], "round train", "round bound")(results(m=curve | {"round bound": [0.1, 0.6]})).state
            == OPPOSITE
        )


class TestComparisons:
    def test_always_better_counts_all_comparisons(self):
        found = results(a={"map": [0.5], "ndcg": [0.5]}, b={"map": [0.4], "ndcg": [0.6]})
        told = always_better(["a"], ["b"], ["map", "ndcg"])(found)
        assert told.state == NOT_SHOWN  # one query shows nothing
        assert (
            told.measured
            == "higher in 1 of 2 comparisons, significantly lower in 0; not a to b in 1 of 2 measures"
        )
        many_queries = results(a={"map": many(0.5), "ndcg": many(0.5)}, b={"map": many(0.4), "ndcg": many(0.6)})
        assert always_better(["a"], ["b"], ["map", "ndcg"])(many_queries).state == OPPOSITE
        assert always_better(["a"], ["b"], ["map"])(found).state == REACHED
        told = always_better(["b"], ["a", "b"], ["map", "ndcg"])(found)
        assert told.measured == (
            "higher in 1 of 4 comparisons, significantly lower in 0; not b to a in 1 of 2 measures; b to b in "
            "2 of 2 measures"
        )

    def test_faster(self):
        times = {"a": [1.0, 1.1, 0.9], "b": [3.0, 3.1, 2.9], "c": [0.5, 0.5, 0.6], "d": [0.5, 2.0, 1.5]}
        found = results(**{name: {"fit seconds": seconds} for name, seconds in times.items()})
        told = faster("a", ["b"])(found)
        assert (told.state, told.value) == (REACHED, pytest.approx(3.0, rel=0.05))
        assert told.interval[0] < told.value < told.interval[1]
        assert faster("a", ["b", "c"])(found).state == OPPOSITE
        assert faster("a", ["b", "d"])(found).state == NOT_SHOWN

    def test_fewer_errors_are_counted_over_all_pairs(self):
        pairs = {"pairs 2 > 0": [10] * 20 + [0]}
        found = results(a=pairs | {"wrong 2 > 0": [1] * 20 + [0]}, b=pairs | {"wrong 2 > 0": [3] * 20 + [0]})
        told = fewer_errors("a", "b", "2 > 0")(found)
        assert told.state == REACHED
        assert told.value == pytest.approx(0.2)
        assert fewer_errors("b", "a", "2 > 0")(found).state == OPPOSITE
        large = {"pairs 2 > 0": [1] * 20 + [1000]}  # one query has nearly all pairs
        wrong = {"a": [0] * 20 + [510], "b": [1] * 20 + [500]}
        found = results(**{name: large | {"wrong 2 > 0": counts} for name, counts in wrong.items()})
        told = fewer_errors("a", "b", "2 > 0")(found)
        assert told.value == pytest.approx((520 - 510) / 1020)

    def test_better_with_few_pairs_looks_at_those_queries_alone(self):
        pairs = {"pairs": [10] * 30 + [1000] * 30}
        found = results(a=pairs | {"map": [0.5] * 30 + [0.1] * 30}, b=pairs | {"map": [0.4] * 30 + [0.9] * 30})
        told = better_with_few_pairs("a", "b", "map", 100, (0, 100))(found)
        assert told.state == REACHED
        assert told.value == pytest.approx(0.1)
        assert "0-100 +0.1000, 100+ -0.8000; mean of these -0.3500" in told.measured

    @pytest.mark.parametrize(
        ("pairs", "state"), [([10, 20, 1500, 2500], REACHED), ([10, 20, 30, 2500], NOT_SHOWN)]
    )
    def test_numbers_of_pairs_vary_if_no_group_has_most_queries(self, pairs, state):
        assert varies("a", (0, 1000, 2000))(results(a={"pairs": pairs})).state == state


class TestBounds:
    def test_losses_by_angle_are_those_of_the_bounds(self):
        trial = Simulated("x", False, 2).trial("draw 2")
        models = LinearModels("mixed", 1.0, 8)
        found = OverAngles()(models(trial, 1), trial, 1)
        losses = SurrogateBounds(simulate(2), pairs="mixed")
        assert found["angle"][1] == pytest.approx(QUARTER)
        w = [np.cos(QUARTER), np.sin(QUARTER)]
        assert found["type_two"][1] == pytest.approx(losses.type_two(w))
        assert found["type_one"][1] == pytest.approx(losses.type_one(w))

    def test_of_equally_low_angles_the_one_next_to_a_quarter_counts(self):
        angles = np.arange(8) * QUARTER
        assert _lowest(angles, np.array([0, 0, 0, 1, 1, 1, 1, 1.0])) == pytest.approx(QUARTER)
        assert _lowest(angles, np.array([1, 1, 1, 1, 1, 1, 1, 0.0])) == pytest.approx(-QUARTER)
