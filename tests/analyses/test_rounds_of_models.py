"""Analyses of boosted models round by round: overfitting, speed, steps, bounds."""

import numpy as np
import pytest

import rankwright as rw
from rankers.test_lambdamart import judged
from rankwright.analyses.truncated_models import rounds_of
from rankwright.base.errors import InputError
from rankwright.models import Combination

TRAIN, TEST = judged(), judged(seed=2)
TREES = rw.LambdaMART(rounds=6, n_jobs=1).fit(TRAIN)
CLASSES = rw.McRank(rounds=4, n_jobs=1, trees="per_class").fit(TRAIN)
LINEAR = rw.AdaRank("map", n_jobs=1, directions="both").fit(TRAIN)


class TestOverfitting:
    def test_each_point_is_the_value_of_a_cut(self):
        found = rw.analyses.overfitting(
            {"a": TREES, "b": CLASSES.model_}, TRAIN, TEST, metric="map", rounds=[2, 5, 99]
        )
        assert found.curves["a"].rounds == (2, 5, 6)
        assert found.curves["b"].rounds == (2, 4)
        expected = rw.evaluate({"a": TREES.model_.first(5)}, TEST, metrics="map").mean("a", "map")
        assert found.curves["a"].value(5) == expected
        assert found.curves["a"].train[-1] == rw.evaluate(TREES, TRAIN, metrics="map").mean("LambdaMART", "map")
        curve = found.curves["a"]
        assert curve.value(curve.peak) == max(curve.test)
        assert curve.lost.value == pytest.approx(max(curve.test) - curve.test[-1])
        assert found.to_dict()["systems"]["b"]["rounds"] == [2, 4]
        assert [row[0] for row in found.tables[0].rows] == ["a", "b"]
        assert "a, training" in str(found.chart().spec)

    def test_by_default_about_twenty_rounds_are_measured(self):
        assert rounds_of(TREES.model_, None) == (1, 2, 3, 4, 5, 6)
        many = rounds_of(rw.LambdaMART(rounds=50, max_leaves=2, n_jobs=1).fit(TRAIN).model_, None)
        assert (many[0], many[-1], len(many)) == (1, 50, 20)

    @pytest.mark.parametrize(
        ("systems", "rounds", "sentence"),
        [
            ({"a": LINEAR}, None, "a is no boosted model, so it cannot be cut"),
            ({"a": np.zeros(3)}, None, "a is neither a model of rankwright nor a fitted ranker"),
            (TREES, [0], "rounds must be one or more positive integers"),
        ],
    )
    def test_what_has_no_rounds_is_refused(self, systems, rounds, sentence):
        with pytest.raises(InputError, match=sentence):
            rw.analyses.overfitting(systems, TRAIN, TEST, rounds=rounds)


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


class TestSteps:
    def test_weights_are_those_of_the_history(self):
        found = rw.analyses.steps({"a": LINEAR, "b": TREES})
        assert found.measure == "weight"
        assert found.by_system["a"].tolist() == [one.weight for one in LINEAR.history_]
        assert found.to_dict()["systems"]["b"] == found.by_system["b"].tolist()
        assert "step (weight of the round)" in str(found.chart().spec)

    def test_the_spread_is_that_of_what_a_round_adds_to_training_scores(self):
        found = rw.analyses.steps({"a": TREES.model_})
        before, expected = np.zeros(len(TRAIN)), []
        for rounds in range(1, 7):
            scores = TREES.model_.first(rounds).predict(TRAIN)
            expected.append((scores - before).std())
            before = scores
        np.testing.assert_allclose(found.by_system["a"], expected, rtol=1e-6)

    def test_a_round_of_classes_counts_all_its_trees(self):
        assert len(rw.analyses.steps(CLASSES.model_).by_system["McRank"]) == 4

    def test_the_table_has_fifths_of_the_rounds(self):
        rows = rw.analyses.steps(TREES).tables[0].rows
        assert [row[1] for row in rows] == ["1", "2", "3 to 4", "5", "6"]

    @pytest.mark.parametrize(
        ("systems", "measure", "sentence"),
        [
            ({"a": TREES.model_}, "weight", "a is no ranker fitted in rounds"),
            ({"a": LINEAR}, "spread", "a is no boosted model of trees"),
            ({"a": np.zeros(3)}, None, "a is no boosted model of trees"),
            ({"a": TREES}, "size", "measure must be 'weight' or 'spread', not 'size'."),
        ],
    )
    def test_what_has_no_steps_is_refused(self, systems, measure, sentence):
        with pytest.raises(InputError, match=sentence):
            rw.analyses.steps(systems, measure=measure)


class TestBound:
    def test_the_metric_is_above_its_bound(self):
        found = rw.analyses.bound_curve(LINEAR)
        assert (found.ranker, found.measure, found.side) == ("AdaRank", "map", "lower")
        assert found.values.tolist() == [one.train for one in LINEAR.history_]
        assert (found.bounds <= found.values + 1e-12).all()
        assert "lower bound" in str(found.chart().spec)

    def test_misordered_pairs_are_below_their_bound(self):
        found = rw.analyses.bound_curve(rw.RankBoost(rounds=12, n_jobs=1).fit(TRAIN))
        assert found.side == "upper"
        assert (found.values <= found.bounds + 1e-12).all()
        assert len(found.tables[0].rows) == 10
        assert "the bound improves in 12 of 12 rounds" in str(found)
        assert len(found.to_dict()["bounds"]) == 12

    @pytest.mark.parametrize(
        ("ranker", "sentence"),
        [
            (TREES, "LambdaMART records no bound; AdaRank, RankBoost and MPBoost do."),
            (LINEAR.model_, "The bound is recorded during training: give a ranker after fit"),
        ],
    )
    def test_what_has_no_bound_is_refused(self, ranker, sentence):
        with pytest.raises(InputError, match=sentence):
            rw.analyses.bound_curve(ranker)
