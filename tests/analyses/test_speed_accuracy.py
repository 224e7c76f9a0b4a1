"""Speed against accuracy: cuts of models, their costs and the frontier."""

import numpy as np
import pytest

import rankwright as rw
from analyses.fitted_models import CLASSES, LINEAR, TEST, TRAIN, TREES
from rankwright.base.errors import InputError
from rankwright.models import Combination


class TestSpeed:
    def test_a_model_without_rounds_is_one_point(self):
        found = rw.analyses.speed_accuracy({"trees": TREES, "linear": LINEAR}, TEST, rounds=[3], metric="map")
        assert [(one.system, one.rounds, one.trees) for one in found.points] == [
            ("trees", 3, 3),
            ("trees", 6, 6),
            ("linear", 0, 0),
        ]
        assert all(one.microseconds > 0 for one in found.points)
        assert found.points[-1].value.value == rw.evaluate(LINEAR, TEST, metrics="map").mean("AdaRank", "map")
        assert found.to_dict()["points"][0]["trees"] == 3
        assert "µs/document" in [column.title for column in found.tables[0].columns]
        assert "microseconds per document" in str(found.chart().spec)

    def test_fewer_rounds_never_take_longer(self):
        ranker = rw.MART(rounds=60, max_leaves=2).fit(TRAIN)
        times = [
            point.microseconds
            for point in rw.analyses.speed_accuracy({"a": ranker}, TEST, rounds=list(range(1, 61))).points
        ]
        assert times == sorted(times)

    def test_trees_are_counted_not_rounds(self):
        found = rw.analyses.speed_accuracy({"a": TREES, "b": CLASSES}, TEST, cost="trees", rounds=[2])
        per_round = CLASSES.model_.n_trees // 4
        assert per_round > 1
        assert [one.trees for one in found.points] == [2, 6, 2 * per_round, 4 * per_round]
        assert "µs/document" not in [column.title for column in found.tables[0].columns]
        both = Combination([TREES.model_, CLASSES.model_], [1.0, 1.0])
        assert both.n_trees == 6 + 4 * per_round

    def test_models_are_cut_to_numbers_of_trees(self):
        per_round = CLASSES.model_.n_trees // 4
        asked = [per_round - 1, per_round, 2 * per_round + 1, 10_000]
        found = rw.analyses.speed_accuracy({"a": TREES, "b": CLASSES}, TEST, cost="trees", trees=asked)
        cut = {name: [one.trees for one in found.points if one.system == name] for name in "ab"}
        assert cut["a"] == sorted({*(one for one in asked if one < 6), 6})
        assert cut["b"] == [per_round, 2 * per_round, 4 * per_round]
        point = next(one for one in found.points if one.trees == 2 * per_round and one.system == "b")
        expected = rw.evaluate({"b": CLASSES.model_.first(2)}, TEST, metrics="ndcg@10")
        assert (point.rounds, point.value.value) == (2, expected.mean("b", "ndcg@10"))

    def test_the_cost_of_a_value(self):
        found = rw.analyses.speed_accuracy({"a": TREES, "b": CLASSES}, TEST, cost="trees")
        for system in "ab":
            points = [one for one in found.points if one.system == system]
            best = max(points, key=lambda one: (one.value.value, -one.trees))
            assert found.cost_to_reach(system, best.value.value) == best.trees
            assert found.cost_to_reach(system, 0.0) == points[0].trees
            assert found.cost_to_reach(system, 1.1) == float("inf")
        with pytest.raises(InputError, match="There is no system 'c'"):
            found.cost_to_reach("c", 0.5)

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"trees": [3], "rounds": [3]}, "Give the rounds or the trees that models are cut to, not both."),
            ({"trees": [0]}, "trees must be one or more positive integers, not "),
        ],
    )
    def test_numbers_of_trees_that_make_no_sense(self, options, sentence):
        with pytest.raises(InputError, match=sentence):
            rw.analyses.speed_accuracy(TREES, TEST, **options)
        with pytest.raises(InputError, match="linear has no trees to count"):
            rw.analyses.speed_accuracy({"linear": LINEAR}, TEST, trees=[3])

    def test_the_frontier_is_better_than_everything_cheaper(self):
        found = rw.analyses.speed_accuracy({"a": TREES, "b": CLASSES}, TEST, cost="trees")
        for point in found.points:
            cheaper = [one for one in found.points if one.trees < point.trees]
            beaten = all(one.value.value < point.value.value for one in cheaper)
            same = [one for one in found.points if one.trees == point.trees]
            best = point.value.value == max(one.value.value for one in same)
            assert (point in found.frontier) == (beaten and best)

    def test_any_model_can_be_timed(self):
        from sklearn.linear_model import Ridge

        found = rw.analyses.speed_accuracy({"theirs": Ridge().fit(TRAIN.X, TRAIN.y)}, TEST)
        assert found.points[0].microseconds > 0

    @pytest.mark.parametrize(
        ("systems", "cost", "sentence"),
        [
            ({"s": np.zeros(360)}, "microseconds", "s is a list of scores, which cannot be timed; give a model."),
            ({"s": LINEAR}, "trees", "s has no trees to count; compare by cost='microseconds'."),
            ({"s": TREES}, "money", "cost must be 'microseconds' or 'trees', not 'money'."),
        ],
    )
    def test_what_has_no_cost_is_refused(self, systems, cost, sentence):
        with pytest.raises(InputError, match=sentence):
            rw.analyses.speed_accuracy(systems, TEST, cost=cost)
